package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// Mirror is a repository of which the git source keeps the newest files. It is opened by its
// address, and nothing is fetched for it.
type Mirror struct {
	Address string // "https://git.example.com/team/app.git", "ssh://git@git.example.com/team/app"
	Folder  string // git.MirrorOptions.Folder
	// Audience is whom it is for where none of its own settings files says otherwise.
	Audience knowledge.Audience
	// Include and Exclude are the source's patterns, see files.Options. What they leave out is not
	// read here either, but for the manifests that no pattern excludes.
	Include, Exclude []string
	// Web gives the beginning of the addresses of its files at a commit.
	Web func(commit string) string
}

// listMirrors gives the mirrors; none where there is no list of them.
func (o *Opener) listMirrors() ([]Mirror, error) {
	if o.options.Mirrors == nil {
		return nil, nil
	}
	mirrors, err := o.options.Mirrors()
	if err != nil {
		return nil, fmt.Errorf("list the mirrors: %w", err)
	}
	return mirrors, nil
}

// isShown tells whether the viewers may read the mirror's root. One that holds nothing yet is shown
// to those whom the source is for.
func (m Mirror) isShown(ctx context.Context) (shown bool, err error) {
	if !knowledge.ViewersFrom(ctx).MaySee(m.Audience.OrPublic()) {
		return false, nil
	}
	if _, err := os.Stat(git.FilesFolder(m.Folder)); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	audiences, err := m.openAudiences()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, audiences.Close()) }()
	return audiences.shows(ctx, "."), nil
}

func (m Mirror) openAudiences() (*audiences, error) {
	opened, err := files.OpenAudiences(git.FilesFolder(m.Folder), m.Audience)
	if err != nil {
		return nil, fmt.Errorf("read the settings of the mirror of %s: %w", m.Address, err)
	}
	return &audiences{opened, "."}, nil
}

// isRead tells whether a file of the mirror is looked at.
func (m Mirror) isRead(file File) bool {
	return !files.Excludes(m.Exclude, file.Path) && (files.Includes(m.Include, file.Path) || manifest.Is(path.Base(file.Path)))
}

// findMirror finds the mirror of an address that the viewers may read.
func (o *Opener) findMirror(ctx context.Context, address string) (_ Mirror, ok bool, err error) {
	mirrors, err := o.listMirrors()
	if err != nil {
		return Mirror{}, false, err
	}
	for _, mirror := range mirrors {
		if mirror.Address != address {
			continue
		}
		if shown, err := mirror.isShown(ctx); err != nil || shown {
			return mirror, shown, err
		}
	}
	return Mirror{}, false, nil
}

// openMirror opens what a mirror holds.
func (o *Opener) openMirror(ctx context.Context, mirror Mirror) (_ *Checkout, err error) {
	held, err := git.FindCheckout(mirror.Folder, mirror.Address)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the source was not read yet, or is being read: `cairn sources` tells: %w", err)
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the address
	}
	audiences, err := mirror.openAudiences()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, audiences.Close()) }()
	root, err := os.OpenRoot(held.Folder)
	if err != nil {
		return nil, fmt.Errorf("open the mirror of %s: %w", mirror.Address, err)
	}
	host, name := splitRemote(mirror.Address)
	c := &Checkout{
		Name: host + "/" + name, Commit: held.Commit, Web: mirror.Web(held.Commit),
		limits: o.options.Limits, root: root, remove: func() error { return nil },
	}
	if err := c.walkFolder(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the mirror of %s: %w", mirror.Address, err), root.Close())
	}
	c.Files = slices.DeleteFunc(c.Files, func(file File) bool { return !mirror.isRead(file) })
	c.hide(ctx, audiences)
	return c, nil
}
