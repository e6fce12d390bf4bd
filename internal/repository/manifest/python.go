package manifest

import (
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// requirement is a dependency as Python writes one: "name[extra] >=1, <2 ; marker".
var requirement = regexp.MustCompile(`^([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(?:\(([^)]*)\)|@\s*(\S+)|((?:===|[<>=!~]=|[<>])[^;#]*))?\s*(?:[;#].*)?$`)

func (m *Manifest) addRequirement(written string, scope Scope, line int) {
	found := requirement.FindStringSubmatch(strings.TrimSpace(written))
	if found == nil {
		return
	}
	version := found[2] + found[4]
	if found[3] != "" {
		version = "from an address" // which may have a password in it
	}
	m.addDependency(Dependency{Name: found[1], Version: strings.TrimSpace(exact.ReplaceAllString(version, "")), Scope: scope, Line: line})
}

// exact are the signs before the one version that is required.
var exact = regexp.MustCompile(`^={2,3}`)

func readRequirements(m *Manifest, content []byte) error {
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), `\`), " --hash")
		m.addRequirement(line, "", number)
	}
	return nil
}

// table is a table of TOML whose values are strings or tables with a version in them.
type table map[string]toml.Primitive

// readVersions reads a table of dependencies.
func readVersions(meta toml.MetaData, dependencies table, add func(name, version string, optional bool)) {
	for name, raw := range dependencies {
		var version string
		if meta.PrimitiveDecode(raw, &version) == nil {
			add(name, version, false)
			continue
		}
		var detail struct {
			Version  string
			Git      string
			Path     string
			Package  string
			Optional bool
		}
		if meta.PrimitiveDecode(raw, &detail) != nil {
			add(name, "", false)
			continue
		}
		switch {
		case detail.Version != "":
			version = detail.Version
		case detail.Git != "":
			version = "from git"
		case detail.Path != "":
			version = "from ./" + strings.TrimPrefix(detail.Path, "./")
		}
		if detail.Package != "" {
			name = detail.Package
		}
		add(name, version, detail.Optional)
	}
}

func (m *Manifest) addVersions(meta toml.MetaData, dependencies table, scope Scope) {
	readVersions(meta, dependencies, func(name, version string, optional bool) {
		given := scope
		if optional && given == "" {
			given = Optional
		}
		m.addDependency(Dependency{Name: name, Version: version, Scope: given})
	})
}

func readPyproject(m *Manifest, content []byte) error {
	var file struct {
		Project struct {
			Name         string
			Description  string
			Dependencies []string
			Optional     map[string][]string `toml:"optional-dependencies"`
			Scripts      map[string]string
		}
		Groups map[string][]toml.Primitive `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				Name         string
				Description  string
				Dependencies table
				Dev          table `toml:"dev-dependencies"`
				Group        map[string]struct{ Dependencies table }
			}
		}
	}
	meta, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	poetry := file.Tool.Poetry
	m.Name, m.Description = file.Project.Name+poetry.Name, file.Project.Description+poetry.Description
	if file.Project.Name != "" {
		m.Name, m.Description = file.Project.Name, file.Project.Description
	}
	for _, written := range file.Project.Dependencies {
		m.addRequirement(written, "", 0)
	}
	for _, group := range file.Project.Optional {
		for _, written := range group {
			m.addRequirement(written, Optional, 0)
		}
	}
	for _, group := range file.Groups {
		for _, raw := range group {
			var written string
			if meta.PrimitiveDecode(raw, &written) == nil {
				m.addRequirement(written, Development, 0)
			}
		}
	}
	delete(poetry.Dependencies, "python")
	m.addVersions(meta, poetry.Dependencies, "")
	m.addVersions(meta, poetry.Dev, Development)
	for _, group := range poetry.Group {
		m.addVersions(meta, group.Dependencies, Development)
	}
	return nil
}

func readPipfile(m *Manifest, content []byte) error {
	var file struct {
		Packages table
		Dev      table `toml:"dev-packages"`
	}
	meta, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	m.addVersions(meta, file.Packages, "")
	m.addVersions(meta, file.Dev, Development)
	return nil
}

// readSetupCfg reads install_requires of an INI file: the lines under it that are indented.
func readSetupCfg(m *Manifest, content []byte) error {
	section, inside, number := "", false, 0
	for line := range strings.Lines(string(content)) {
		number++
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		key, value, pair := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section, inside = strings.Trim(line, "[]"), false
		case inside && indented:
			m.addRequirement(line, "", number)
		case pair && !indented:
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			inside = section == "options" && key == "install_requires"
			switch {
			case inside:
				m.addRequirement(value, "", number)
			case section == "metadata" && key == "name":
				m.Name = value
			case section == "metadata" && key == "description":
				m.Description = value
			}
		}
	}
	return nil
}

// readTOMLLock reads the lock files of Python and Rust, which are alike.
func readTOMLLock(m *Manifest, content []byte) error {
	var file struct {
		Package []struct{ Name, Version string }
	}
	if _, err := decodeTOML(content, &file); err != nil {
		return err
	}
	for _, locked := range file.Package {
		m.addDependency(Dependency{Name: locked.Name, Version: locked.Version})
	}
	return nil
}

func readPipfileLock(m *Manifest, content []byte) error {
	type locked map[string]struct {
		Version string `json:"version"`
	}
	var file struct {
		Default locked `json:"default"`
		Develop locked `json:"develop"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	for scope, packages := range map[Scope]locked{"": file.Default, Development: file.Develop} {
		for name, one := range packages {
			m.addDependency(Dependency{Name: name, Version: strings.TrimPrefix(one.Version, "=="), Scope: scope})
		}
	}
	return nil
}
