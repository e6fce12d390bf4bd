package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// leftOut are folders that hold other people's code, or what tools keep for themselves.
var leftOut = map[string]bool{
	"node_modules": true, "bower_components": true, "vendor": true, "third_party": true, "site-packages": true,
	".git": true, ".hg": true, ".svn": true, ".venv": true, "venv": true, ".tox": true, ".idea": true, ".vs": true,
	"__pycache__": true, ".mypy_cache": true, ".pytest_cache": true, ".gradle": true, ".terraform": true, ".next": true,
	".cache": true, ".yarn": true,
}

// excludedFolder returns the folder of a path that is left out, "" if none is.
func excludedFolder(path string) string {
	for i, r := range path {
		if r == '/' && leftOut[path[strings.LastIndexByte(path[:i], '/')+1:i]] {
			return path[:i]
		}
	}
	return ""
}

// listTracked takes over the files that git tracks. One that is gone from the folder, or was
// replaced by something else than a file, is left out.
func (c *Checkout) listTracked(paths []string) error {
	skipped := make(map[string]bool)
	for _, path := range paths {
		if folder := excludedFolder(path); folder != "" {
			skipped[folder] = true
			continue
		}
		info, err := c.root.Lstat(filepath.FromSlash(path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("list its files: %w", err)
		}
		if err := c.addFile(path, info); err != nil {
			return err
		}
	}
	for folder := range skipped {
		c.Skipped = append(c.Skipped, folder)
	}
	c.sortFiles()
	return nil
}

// walkFolder lists the files of a folder that git does not know.
func (c *Checkout) walkFolder(ctx context.Context) error {
	err := fs.WalkDir(c.root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir() && leftOut[entry.Name()]:
			c.Skipped = append(c.Skipped, path)
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			c.Links++
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err //nolint:wrapcheck // it names the file
		}
		return c.addFile(path, info)
	})
	if err != nil {
		return fmt.Errorf("list its files: %w", err)
	}
	c.sortFiles()
	return nil
}

func (c *Checkout) addFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return nil
	}
	if len(c.Files) == c.limits.Files {
		return newRefusal("The repository has more than %d files, too many to read: name one of its folders.", c.limits.Files)
	}
	c.Files = append(c.Files, File{Path: path, Size: info.Size()})
	return nil
}

func (c *Checkout) sortFiles() {
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(c.Skipped)
}
