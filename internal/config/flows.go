package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Flows is what people in chats may have read beside the index.
type Flows struct {
	Folders      []string // absolute: with all that is below them
	Repositories []string // addresses that repositories' own may begin with: "github.com/acme"
}

// repositoryPlace is a host, or a part of what it holds.
var repositoryPlace = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$`)

var flowSettings = []setting[Config]{
	{
		key: "flows.folders", env: "CAIRN_FLOWS_FOLDERS", list: true,
		set: func(c *Config, text string, from base) error {
			path, err := from.absolute(text)
			if err != nil {
				return err
			}
			info, err := os.Stat(path)
			switch {
			case errors.Is(err, os.ErrNotExist):
				return fmt.Errorf("%q: there is no such folder", text)
			case err != nil:
				return fmt.Errorf("%q: %w", text, err)
			case !info.IsDir():
				return fmt.Errorf("%q: want a folder, this is a file", text)
			}
			c.Flows.Folders = append(c.Flows.Folders, path)
			return nil
		},
		get:   func(c Config) []string { return c.Flows.Folders },
		clear: func(c *Config) { c.Flows.Folders = nil },
	},
	{
		key: "flows.repositories", env: "CAIRN_FLOWS_REPOSITORIES", list: true,
		set: func(c *Config, text string, _ base) error {
			host, path, _ := strings.Cut(strings.Trim(text, "/"), "/")
			place := strings.TrimSuffix(strings.ToLower(host)+"/"+path, "/")
			if !repositoryPlace.MatchString(place) || slices.Contains(strings.Split(path, "/"), "..") {
				return fmt.Errorf("%q: want a host, or a part of what it holds, such as github.com/acme, without https://", text)
			}
			c.Flows.Repositories = append(c.Flows.Repositories, place)
			return nil
		},
		get:   func(c Config) []string { return c.Flows.Repositories },
		clear: func(c *Config) { c.Flows.Repositories = nil },
	},
}
