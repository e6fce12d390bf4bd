package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watch tells of changes in the folder and all folders below it that a Sync looks into.
func (c *Connector) Watch(ctx context.Context, changed func()) (err error) {
	place, err := c.openFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.root.Close()) }()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch folder %s: %w", place.path, err)
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	if err := place.watchFolder(watcher, "."); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-watcher.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch folder %s: %w", place.path, err)
			}
			changed()
		case event := <-watcher.Events:
			if event.Op == fsnotify.Chmod {
				continue
			}
			if event.Has(fsnotify.Create) {
				if err := place.watchNew(watcher, event.Name); err != nil {
					return err
				}
			}
			changed()
		}
	}
}

// watchNew watches what was just made, if it is a folder.
func (p *openedFolder) watchNew(watcher *fsnotify.Watcher, name string) error {
	below, err := filepath.Rel(p.path, name)
	if err != nil {
		return nil //nolint:nilerr // it is not below the folder
	}
	below = filepath.ToSlash(below)
	info, err := p.root.Lstat(below)
	if err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is gone again, or a file
	}
	return p.watchFolder(watcher, below)
}

// watchFolder watches a folder and those below it. One that is gone by then is no error.
func (p *openedFolder) watchFolder(watcher *fsnotify.Watcher, folder string) error {
	if err := watcher.Add(filepath.Join(p.path, filepath.FromSlash(folder))); err != nil {
		if folder != "." && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("watch folder %s: %w; read it by a schedule instead: set every", filepath.Join(p.path, folder), err)
	}
	children, err := p.readFolder(folder)
	if err != nil {
		return nil //nolint:nilerr // a Sync says why it can't be read
	}
	for _, child := range children {
		name := path.Join(folder, child.Name())
		if child.IsDir() && p.skipReason(name, child) == "" {
			if err := p.watchFolder(watcher, name); err != nil {
				return err
			}
		}
	}
	return nil
}
