package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// Bounds of what List looks through.
const (
	maxRepositories = 500
	maxListDepth    = 3 // folders below one that may be read
)

// List names the repositories that the viewers of the context may have opened, each as Open
// takes it: the checkouts of git in the folders that may be read, folders of those with a
// manifest where none is above them, the addresses that name one repository alone, and those of
// mirrors.
func (o *Opener) List(ctx context.Context) ([]string, error) {
	var found []string
	for _, allowed := range o.options.Roots {
		root, err := filepath.Abs(allowed)
		if err != nil {
			return nil, fmt.Errorf("list repositories: folder %s, which may be read: %w", allowed, err)
		}
		below, err := listBelow(ctx, root)
		if err != nil {
			return nil, fmt.Errorf("list repositories: %w", err)
		}
		for _, folder := range below {
			if len(found) == maxRepositories {
				return found, nil
			}
			if shown, err := isShown(ctx, root, folder); err != nil {
				return nil, fmt.Errorf("list repositories: %w", err)
			} else if shown {
				found = append(found, folder)
			}
		}
	}
	addresses, err := o.listAddresses(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	found = append(found, addresses...)
	return found[:min(len(found), maxRepositories)], nil
}

// listAddresses names the repositories that are opened by their addresses.
func (o *Opener) listAddresses(ctx context.Context) ([]string, error) {
	var found []string
	if o.options.Fetcher != nil {
		for _, allowed := range o.options.Fetcher.Hosts() {
			if strings.Count(strings.Trim(allowed, "/"), "/") >= 2 {
				found = append(found, "https://"+allowed)
			}
		}
	}
	mirrors, err := o.listMirrors()
	if err != nil {
		return nil, err
	}
	for _, mirror := range mirrors {
		shown, err := mirror.isShown(ctx)
		if err != nil {
			return nil, err
		}
		if shown && !slices.Contains(found, mirror.Address) {
			found = append(found, mirror.Address)
		}
	}
	return found, nil
}

// listBelow returns the repositories in a folder, in the order of their paths.
func listBelow(ctx context.Context, root string) ([]string, error) {
	var checkouts, described []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir() && path != root && leftOut[entry.Name()]:
			return fs.SkipDir
		case !entry.IsDir():
			folder := filepath.Dir(path)
			if manifest.Is(entry.Name()) && !slices.Contains(described, folder) {
				described = append(described, folder)
			}
			return nil
		}
		if info, err := os.Lstat(filepath.Join(path, ".git")); err == nil && info.IsDir() {
			checkouts = append(checkouts, path)
			return fs.SkipDir
		}
		if below, err := filepath.Rel(root, path); err == nil && strings.Count(below, string(filepath.Separator))+1 > maxListDepth {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the folder
	}
	slices.Sort(described)
	for _, folder := range described {
		isBelow := func(outer string) bool {
			return folder != outer && strings.HasPrefix(folder, outer+string(filepath.Separator))
		}
		if !slices.ContainsFunc(described, isBelow) && !slices.ContainsFunc(checkouts, func(inner string) bool {
			return strings.HasPrefix(inner, folder+string(filepath.Separator))
		}) {
			checkouts = append(checkouts, folder)
		}
	}
	slices.Sort(checkouts)
	return checkouts, nil
}

// isShown tells whether the viewers may read a repository's root.
func isShown(ctx context.Context, allowed, folder string) (shown bool, err error) {
	audiences, err := openAudiences(allowed, folder)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, audiences.Close()) }()
	return audiences.shows(ctx, "."), nil
}
