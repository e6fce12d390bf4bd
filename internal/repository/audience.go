package repository

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
)

// audiences tells which folders of a repository the viewers of a context may read, by the
// settings files in it and above it.
type audiences struct {
	*files.Audiences
	repository string // slash-separated, below the folder that may be read
}

// openAudiences looks at a repository below a folder that may be read. Links are followed
// first: what they lead to is for whom the folders there say.
func openAudiences(allowed, repository string) (*audiences, error) {
	realAllowed, err := filepath.EvalSymlinks(allowed)
	if err != nil {
		return nil, fmt.Errorf("find the folder that may be read: %w", err)
	}
	realPath, err := filepath.EvalSymlinks(repository)
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	below, err := filepath.Rel(realAllowed, realPath)
	if err != nil || !filepath.IsLocal(below) {
		return nil, errors.New("it leads out of what may be read")
	}
	opened, err := files.OpenAudiences(realAllowed, knowledge.PublicAudience)
	if err != nil {
		return nil, fmt.Errorf("read the settings of its folders: %w", err)
	}
	return &audiences{opened, filepath.ToSlash(below)}, nil
}

// shows tells whether the viewers may read a folder of the repository.
func (a *audiences) shows(ctx context.Context, folder string) bool {
	return knowledge.ViewersFrom(ctx).MaySee(a.Of(path.Join(a.repository, folder)))
}

// hide leaves out what the viewers may not read.
func (c *Checkout) hide(ctx context.Context, audiences *audiences) {
	hidden := func(name string) bool { return !audiences.shows(ctx, path.Dir(name)) }
	listed := len(c.Files)
	c.Files = slices.DeleteFunc(c.Files, func(file File) bool { return hidden(file.Path) })
	c.hidden = len(c.Files) < listed
	c.Skipped = slices.DeleteFunc(c.Skipped, hidden)
	c.Submodules = slices.DeleteFunc(c.Submodules, hidden)
}
