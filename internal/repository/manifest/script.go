package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
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
		Version      string            `json:"version"`
		Private      bool              `json:"private"`
		Engines      json.RawMessage   `json:"engines"`    // versions by the names of programs
		Workspaces   json.RawMessage   `json:"workspaces"` // a list, or an object with one
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
	lines := jsonPositions(content)
	m.Name, m.Version, m.Description, m.Private = file.Name, file.Version, file.Description, file.Private
	var engines map[string]string
	if json.Unmarshal(file.Engines, &engines) == nil {
		m.require("Node", engines["node"])
	}
	m.Workspace = workspaceMembers(file.Workspaces)
	main := Program{Name: file.Name, Library: true, Paths: []string{"index.js"}, Line: lines.lineOf("main")}
	if file.Main != "" {
		main.Paths = []string{file.Main, file.Main + ".js", path.Join(file.Main, "index.js")}
	}
	m.addProgram(main)
	var single string
	var byName map[string]string
	if json.Unmarshal(file.Bin, &single) == nil {
		m.addProgram(Program{Name: path.Base(file.Name), Paths: []string{single}, Line: lines.lineOf("bin")})
	} else if json.Unmarshal(file.Bin, &byName) == nil {
		for name, at := range byName {
			m.addProgram(Program{Name: name, Paths: []string{at}, Line: lines.lineOf("bin", name)})
		}
	}
	for _, part := range []struct {
		key   string
		scope Scope
		named map[string]string
	}{{"dependencies", "", file.Dependencies}, {"devDependencies", Development, file.Development}, {"optionalDependencies", Optional, file.Optional}, {"peerDependencies", Optional, file.Peer}} {
		for name, version := range part.named {
			if strings.Contains(version, "://") {
				version = "from an address" // which may have a password in it
			}
			m.addDependency(Dependency{Name: name, Version: version, Scope: part.scope, Line: lines.lineOf(part.key, name)})
		}
	}
	return nil
}

// workspaceMembers returns the folders that a workspace has, as they are written.
func workspaceMembers(raw json.RawMessage) []string {
	var members []string
	if json.Unmarshal(raw, &members) == nil {
		return members
	}
	var object struct{ Packages []string }
	if json.Unmarshal(raw, &object) == nil {
		return object.Packages
	}
	return nil
}

// readPnpmWorkspace reads the folders of a workspace of pnpm.
func readPnpmWorkspace(m *Manifest, content []byte) error {
	root, err := parseYAML(content)
	if err != nil {
		return err
	}
	for _, member := range root.childOf("packages").listItems() {
		m.Workspace = append(m.Workspace, member.scalarText())
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
		member, name, found := strings.Cut(folder, "node_modules/")
		if !found || strings.Contains(name, "node_modules/") {
			continue // of a dependency
		}
		member = strings.TrimSuffix(member, "/")
		m.addResolution(Resolution{Member: member, Name: name, Version: one.Version})
		if member == "" {
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
// line that ends with a colon, with each of the requirements that it is for, its version on an
// indented line below.
func readYarnLock(m *Manifest, content []byte) error {
	name, entry := "", ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if found := yarnEntry.FindStringSubmatch(line); found != nil {
			name, entry = found[1], strings.TrimSuffix(line, ":")
		} else if found := yarnVersion.FindStringSubmatch(line); found != nil && name != "" {
			m.addDependency(Dependency{Name: name, Version: found[1]})
			for required := range strings.SplitSeq(strings.ReplaceAll(entry, `"`, ""), ",") {
				if constraint, ok := strings.CutPrefix(strings.TrimSpace(required), name+"@"); ok {
					m.addResolution(Resolution{Name: name, Requirement: strings.TrimPrefix(constraint, "npm:"), Version: found[1]})
				}
			}
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
	m.addImporter(".", root) // of a lock file for one manifest
	for _, importer := range root.childOf("importers").mappingPairs() {
		m.addImporter(importer.key, importer.value)
	}
	return nil
}

// addImporter adds the versions that a lock file of pnpm gives to the manifest of a folder:
// "name: 1.2.0(peer@3)", or a mapping with that as its version. What is linked has none.
func (m *Manifest) addImporter(folder string, importer tree) {
	for _, part := range []string{"dependencies", "devDependencies", "optionalDependencies"} {
		for _, pair := range importer.childOf(part).mappingPairs() {
			version := cmp.Or(pair.value.childOf("version").scalarText(), pair.value.scalarText())
			version, _, _ = strings.Cut(version, "(")
			if strings.Contains(version, ":") {
				version = "" // a folder or an address
			} else if found := pnpmPackage.FindStringSubmatch(version); found != nil {
				version = found[2] // "/name/1.2.0", or the package behind an alias
			}
			version, _, _ = strings.Cut(version, "_")
			m.addResolution(Resolution{Member: folder, Name: pair.key, Version: version})
		}
	}
}

func readComposer(m *Manifest, content []byte) error {
	var file struct {
		Name        string            `json:"name"`
		Version     string            `json:"version"`
		Description string            `json:"description"`
		Require     map[string]string `json:"require"`
		Development map[string]string `json:"require-dev"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	lines := jsonPositions(content)
	m.Name, m.Version, m.Description = file.Name, file.Version, file.Description
	m.require("PHP", file.Require["php"])
	for name, version := range file.Require {
		m.addDependency(Dependency{Name: name, Version: version, Line: lines.lineOf("require", name)})
	}
	for name, version := range file.Development {
		m.addDependency(Dependency{Name: name, Version: version, Scope: Development, Line: lines.lineOf("require-dev", name)})
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
