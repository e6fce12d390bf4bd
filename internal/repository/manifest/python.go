package manifest

import (
	"path"
	"regexp"
	"strings"
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
type table map[string]any

// tableAt is a table with the path that it has in its file.
type tableAt struct {
	entries table
	path    []string
}

// addVersions adds the dependencies of a table.
func (m *Manifest) addVersions(lines positions, from tableAt, scope Scope) {
	for name, value := range from.entries {
		d := Dependency{Name: name, Scope: scope, Line: lines.lineOf(append(append([]string{}, from.path...), name)...)}
		switch value := value.(type) {
		case string:
			d.Version = value
		case map[string]any:
			switch {
			case textOf(value["version"]) != "":
				d.Version = textOf(value["version"])
			case textOf(value["git"]) != "":
				d.Version = "from git"
			case textOf(value["path"]) != "":
				d.Version = "from ./" + strings.TrimPrefix(textOf(value["path"]), "./")
			}
			if renamed := textOf(value["package"]); renamed != "" {
				d.Name = renamed
			}
			if optional, ok := value["optional"].(bool); ok && optional && scope == "" {
				d.Scope = Optional
			}
		}
		m.addDependency(d)
	}
}

// textOf returns a value that is a string, "" for any other.
func textOf(value any) string {
	text, ok := value.(string)
	if !ok {
		return ""
	}
	return text
}

// pyproject is a pyproject.toml, of which Poetry has its own tables.
type pyproject struct {
	Project struct {
		Name         string
		Version      string
		Description  string
		Requires     string `toml:"requires-python"`
		Dependencies []string
		Optional     map[string][]string `toml:"optional-dependencies"`
		Scripts      map[string]string
	}
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		UV struct {
			Workspace struct{ Members []string }
		}
		Poetry struct {
			Name         string
			Version      string
			Description  string
			Dependencies table
			Dev          table `toml:"dev-dependencies"`
			Scripts      map[string]any
			Group        map[string]struct{ Dependencies table }
		}
	}
}

func readPyproject(m *Manifest, content []byte) error {
	var file pyproject
	lines, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	project, poetry := file.Project, file.Tool.Poetry
	m.Name, m.Version, m.Description = poetry.Name, poetry.Version, poetry.Description
	if project.Name != "" {
		m.Name, m.Version, m.Description = project.Name, project.Version, project.Description
	}
	m.Workspace = file.Tool.UV.Workspace.Members
	requires := project.Requires
	if requires == "" {
		requires = textOf(poetry.Dependencies["python"])
	}
	m.require("Python", requires)
	for name, target := range project.Scripts {
		m.addScript(name, target, lines.lineOf("project", "scripts", name))
	}
	for name, target := range poetry.Scripts {
		m.addScript(name, textOf(target), lines.lineOf("tool", "poetry", "scripts", name))
	}
	for i, written := range project.Dependencies {
		m.addRequirement(written, "", lines.lineOf("project", "dependencies", elementKey(i)))
	}
	for name, group := range project.Optional {
		for i, written := range group {
			m.addRequirement(written, Optional, lines.lineOf("project", "optional-dependencies", name, elementKey(i)))
		}
	}
	for name, group := range file.Groups {
		for i, written := range group {
			m.addRequirement(textOf(written), Development, lines.lineOf("dependency-groups", name, elementKey(i)))
		}
	}
	delete(poetry.Dependencies, "python")
	m.addVersions(lines, tableAt{poetry.Dependencies, []string{"tool", "poetry", "dependencies"}}, "")
	m.addVersions(lines, tableAt{poetry.Dev, []string{"tool", "poetry", "dev-dependencies"}}, Development)
	for name, group := range poetry.Group {
		m.addVersions(lines, tableAt{group.Dependencies, []string{"tool", "poetry", "group", name, "dependencies"}}, Development)
	}
	return nil
}

// addScript adds a command that is a function of a module: "flask.cli:main".
func (m *Manifest) addScript(name, target string, line int) {
	module, _, _ := strings.Cut(target, ":")
	file := strings.ReplaceAll(strings.TrimSpace(module), ".", "/")
	if file == "" {
		return
	}
	var paths []string
	for _, root := range []string{"", "src"} {
		paths = append(paths, path.Join(root, file+".py"), path.Join(root, file, "__init__.py"))
	}
	m.addProgram(Program{Name: name, Paths: paths, Line: line})
}

func readPipfile(m *Manifest, content []byte) error {
	var file struct {
		Packages table
		Dev      table `toml:"dev-packages"`
	}
	lines, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	m.addVersions(lines, tableAt{file.Packages, []string{"packages"}}, "")
	m.addVersions(lines, tableAt{file.Dev, []string{"dev-packages"}}, Development)
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
