package document

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
)

// folderSource is the source that a folder's documents get their ids from.
const folderSource knowledge.SourceID = "folder"

// folder reads the documents of a folder.
func (r *Reader) folder(ctx context.Context, set *gathered, name string) error {
	path, err := r.resolve(name)
	if err != nil {
		return err
	}
	limits := r.options.Limits
	audience, err := r.inheritedAudience(path)
	if err != nil {
		return fmt.Errorf("read the settings above folder %s: %w", name, err)
	}
	connector := files.New(files.Options{Root: path, Source: folderSource, MaxBytes: limits.FileBytes, Audience: audience})
	count, err := connector.Estimate(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("list folder %s: %w", name, err)
	case count == 0:
		return set.nothing()
	case count > limits.Files:
		return refused("The folder %s has %d files, more than the %d that I read at once: name one of the folders in it.", name, count, limits.Files)
	}
	left := limits.Bytes
	for change, err := range connector.Sync(ctx, nil) {
		if err != nil {
			return fmt.Errorf("read folder %s: %w", name, err)
		}
		if left -= int64(len(change.Content)); left < 0 {
			return refused("The files of %s have more than %s together: name a smaller part of it.", name, size(limits.Bytes))
		}
		if !knowledge.ViewersFrom(ctx).MaySee(change.Document.Audience) {
			continue
		}
		if err := set.change(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// inheritedAudience gives whom what lies at a resolved path is for, by the folders above it
// up to its root.
func (r *Reader) inheritedAudience(path string) (knowledge.Audience, error) {
	for _, root := range r.options.Roots {
		realRoot, err := filepath.EvalSymlinks(root)
		if err != nil || !below(realRoot, path) {
			continue
		}
		relative, err := filepath.Rel(realRoot, filepath.Dir(path))
		if err != nil {
			return "", fmt.Errorf("find the folder of %s: %w", filepath.Base(path), err)
		}
		if !filepath.IsLocal(relative) { // it is the root itself
			return knowledge.PublicAudience, nil
		}
		return files.InheritedAudience(realRoot, filepath.ToSlash(relative))
	}
	return knowledge.PublicAudience, nil
}

// change adds a file as the connector gives it.
func (g *gathered) change(ctx context.Context, change connect.Change) error {
	from := change.Document
	if change.Kind == connect.Failed {
		if tooLarge, is := errors.AsType[*connect.TooLargeError](change.Reason); is {
			g.skip(from.Path, fmt.Errorf("it has %d bytes, over the limit of %s", tooLarge.Size, size(tooLarge.Limit)))
			return nil
		}
		g.skip(from.Path, change.Reason)
		return nil
	}
	document := Document{Name: from.Path, ID: from.ID, Kind: from.Kind, Modified: from.Modified}
	return g.parse(ctx, document, change.MediaType, change.Content)
}

// resolve gives the real path of a folder, or file, that lies in one of the roots. What
// lies outside of them is refused whether it exists or not. Links are followed here, once;
// the connector then follows none that leads out of the folder. Who may write to a root
// could still swap a folder for a link in between.
func (r *Reader) resolve(name string) (string, error) {
	if len(r.options.Roots) == 0 {
		return "", refused("No folder may be read here: attach the files to the message, or name a collection (`@handbook`).")
	}
	inside := false
	for _, root := range r.options.Roots {
		root, err := filepath.Abs(root)
		if err != nil {
			return "", fmt.Errorf("root %s: %w", root, err)
		}
		path := filepath.Clean(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if !below(root, path) {
			continue
		}
		inside = true
		realRoot, err := filepath.EvalSymlinks(root)
		if err != nil {
			return "", fmt.Errorf("folder %s, which may be read: %w", root, err)
		}
		realPath, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // not there, which is said below
		}
		if !below(realRoot, realPath) {
			return "", r.outside(name)
		}
		return realPath, nil
	}
	if !inside {
		return "", r.outside(name)
	}
	return "", refused("There is no folder %s: check its name.", oneLine(name))
}

func (r *Reader) outside(name string) error {
	names := make([]string, len(r.options.Roots))
	for i, root := range r.options.Roots {
		names[i] = filepath.Base(root)
	}
	return refused("I may not read %s: it is outside of what I may read (%s). Name a folder inside, as in `./docs`.", oneLine(name), strings.Join(names, ", "))
}

func below(root, path string) bool {
	relative, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(relative)
}
