package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Spaces are the servers or workspaces that are answered, by their ids, each with the names of the
// collections that may be asked there; none: all.
type Spaces map[string][]string

// spacesSetting is a list of servers or workspaces: "ID", or "ID=COLLECTION", once for each
// collection.
func spacesSetting(key string, id *regexp.Regexp, want string, field func(*Config) *Spaces) setting[Config] {
	return setting[Config]{
		key: key, env: variable(key), list: true,
		set: func(c *Config, text string, _ base) error {
			space, collection, bounded := strings.Cut(text, "=")
			if !id.MatchString(space) || bounded && collection == "" {
				return fmt.Errorf("%q: want %s", text, want)
			}
			spaces := field(c)
			known, twice := (*spaces)[space]
			if twice && (!bounded || len(known) == 0 || slices.Contains(known, collection)) {
				return fmt.Errorf("%q: it stands there twice, or both with collections and without", text)
			}
			if *spaces == nil {
				*spaces = Spaces{}
			}
			if bounded {
				known = append(known, collection)
			}
			(*spaces)[space] = known
			return nil
		},
		get: func(c Config) []string {
			return pairs(*field(&c), func(space string, collections []string) []string {
				if len(collections) == 0 {
					return []string{space}
				}
				var shown []string
				for _, collection := range collections {
					shown = append(shown, space+"="+collection)
				}
				return shown
			})
		},
		clear: func(c *Config) { *field(c) = nil },
	}
}
