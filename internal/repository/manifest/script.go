package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// formatError says that a file is not of its format. The libraries name the line.
func formatError(err error) error { return fmt.Errorf("it is broken: %w", err) }

func decodeJSON[T any](content []byte, into *T) error {
	if err := json.Unmarshal(content, into); err != nil {
		return formatError(err)
	}
	return nil
}

func readPackageJSON(m *Manifest, content []byte) error {
	var file struct {
		Name         string            `json:"name"`
		Description  string            `json:"description"`
		Main         string            `json:"main"`
		Bin          json.RawMessage   `json:"bin"` // a path, or paths by the names of programs
		Dependencies map[string]string `json:"dependencies"`
		Development  map[string]string `json:"devDependencies"`
		Optional     map[string]string `json:"optionalDependencies"`
		Peer         map[string]string `json:"peerDependencies"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	m.Name, m.Description = file.Name, file.Description
	if file.Main != "" {
		m.Programs = append(m.Programs, file.Main)
	}
	var path string
	var paths map[string]string
	if json.Unmarshal(file.Bin, &path) == nil {
		m.Programs = append(m.Programs, path)
	} else if json.Unmarshal(file.Bin, &paths) == nil {
		for _, path := range paths {
			m.Programs = append(m.Programs, path)
		}
	}
	for _, part := range []struct {
		scope Scope
		named map[string]string
	}{{"", file.Dependencies}, {Development, file.Development}, {Optional, file.Optional}, {Optional, file.Peer}} {
		for name, version := range part.named {
			if strings.Contains(version, "://") {
				version = "from an address" // which may have a password in it
			}
			m.addDependency(Dependency{Name: name, Version: version, Scope: part.scope})
		}
	}
	return nil
}

func readPackageLock(m *Manifest, content []byte) error {
	type locked struct {
		Version string `json:"version"`
		Dev     bool   `json:"dev"`
	}
	var file struct {
		Packages     map[string]locked `json:"packages"`     // by their folders, since npm 7
		Dependencies map[string]locked `json:"dependencies"` // by their names, before
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	add := func(name string, one locked) {
		d := Dependency{Name: name, Version: one.Version}
		if one.Dev {
			d.Scope = Development
		}
		m.addDependency(d)
	}
	for folder, one := range file.Packages {
		if name, found := strings.CutPrefix(folder, "node_modules/"); found && !strings.Contains(name, "/node_modules/") {
			add(name, one)
		}
	}
	if len(file.Packages) == 0 {
		for name, one := range file.Dependencies {
			add(name, one)
		}
	}
	return nil
}

var (
	yarnEntry   = regexp.MustCompile(`^"?((?:@[^@/\s"]+/)?[^@\s"]+)@.*:$`)
	yarnVersion = regexp.MustCompile(`^\s+version:? "?([^"\s]+)"?$`)
)

// readYarnLock reads both of yarn's formats: an entry's name stands at the beginning of a
// line that ends with a colon, its version on an indented line below.
func readYarnLock(m *Manifest, content []byte) error {
	name := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if found := yarnEntry.FindStringSubmatch(line); found != nil {
			name = found[1]
		} else if found := yarnVersion.FindStringSubmatch(line); found != nil && name != "" {
			m.addDependency(Dependency{Name: name, Version: found[1]})
			name = ""
		}
	}
	return nil
}

var pnpmPackage = regexp.MustCompile(`^/?((?:@[^@/\s]+/)?[^@/\s]+)[@/]([^(\s]+)`)

func readPnpmLock(m *Manifest, content []byte) error {
	root, err := parseYAML(content)
	if err != nil {
		return err
	}
	for _, pair := range root.childOf("packages").mappingPairs() {
		if found := pnpmPackage.FindStringSubmatch(pair.key); found != nil {
			m.addDependency(Dependency{Name: found[1], Version: found[2]})
		}
	}
	return nil
}

func readComposer(m *Manifest, content []byte) error {
	var file struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Require     map[string]string `json:"require"`
		Development map[string]string `json:"require-dev"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	m.Name, m.Description = file.Name, file.Description
	for scope, named := range map[Scope]map[string]string{"": file.Require, Development: file.Development} {
		for name, version := range named {
			m.addDependency(Dependency{Name: name, Version: version, Scope: scope})
		}
	}
	return nil
}

func readComposerLock(m *Manifest, content []byte) error {
	type locked []struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var file struct {
		Packages    locked `json:"packages"`
		Development locked `json:"packages-dev"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	for scope, packages := range map[Scope]locked{"": file.Packages, Development: file.Development} {
		for _, one := range packages {
			m.addDependency(Dependency{Name: one.Name, Version: one.Version, Scope: scope})
		}
	}
	return nil
}
