package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// addedFile, in the data directory, holds the sources that cairn sources keeps.
const addedFile = "sources.yaml"

const addedHead = "# Kept by `cairn sources`: change it with that.\n"

// pausedKey lists the sources that are not read for now, wherever they are configured.
const pausedKey = "paused"

// readAdded adds the sources that cairn sources keeps, and pauses those that it paused.
func (c *Config) readAdded(host Host) []error {
	path := filepath.Join(c.DataDir, addedFile)
	found, err := isFile(path)
	if err != nil || !found {
		return single(err)
	}
	data, err := readFile(path)
	if err != nil {
		return single(err)
	}
	d := &decoder{name: path, from: base{dir: c.DataDir, home: host.Home}, host: host}
	d.document(data, func(root ast.Node) {
		d.section(root, "", []string{sourcesKey, pausedKey}, func(key string, value ast.Node) {
			if key == sourcesKey {
				d.sources(c, value, true)
				return
			}
			d.entries(value, pausedKey, "- NAME", func(_ string, entry ast.Node) {
				name, _ := scalarText(entry)
				for i := range c.Sources {
					c.Sources[i].Suspended = c.Sources[i].Suspended || c.Sources[i].Name == name
				}
			})
		})
	})
	return d.faults
}

// RereadSources reads anew what cairn sources keeps in the data directory, on the machine that the
// program runs on.
func (c *Config) RereadSources() error {
	host, err := ThisHost()
	if err != nil {
		return err
	}
	var configured []Source
	for _, source := range c.Sources {
		if !source.Added {
			source.Suspended = false
			configured = append(configured, source)
		}
	}
	c.Sources = configured
	return errors.Join(c.readAdded(host)...)
}

func single(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// SaveSources keeps the sources that cairn sources added and paused, for all processes that use
// the data directory.
func (c Config) SaveSources() error {
	added := slices.DeleteFunc(slices.Clone(c.Sources), func(s Source) bool { return !s.Added })
	var b strings.Builder
	b.WriteString(addedHead)
	writeEntries(&b, sourcesKey, sourceSettings, added, nil)
	var paused []string
	for _, source := range c.Sources {
		if source.Suspended {
			paused = append(paused, source.Name)
		}
	}
	if len(paused) > 0 {
		writeSetting(&b, "", pausedKey, true, paused)
	}
	path := filepath.Join(c.DataDir, addedFile)
	if err := replaceFile(path, b.String()); err != nil {
		return fmt.Errorf("keep the sources in %s: %w", path, err)
	}
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(path, text string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+addedFile+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
