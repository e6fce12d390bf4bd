package manifest

import "cmp"

func readCargo(m *Manifest, content []byte) error {
	type dependencies struct {
		Dependencies table `toml:"dependencies"`
		Dev          table `toml:"dev-dependencies"`
		Build        table `toml:"build-dependencies"`
	}
	var file struct {
		Package struct {
			Name        string
			Version     any // a string, or a table that says that the workspace has it
			Description any // likewise
			RustVersion any `toml:"rust-version"`
		}
		Bin       []struct{ Name, Path string }
		Workspace struct {
			Members []string
			Package struct {
				Version     any
				RustVersion any `toml:"rust-version"`
			}
			Dependencies table
		}
		Target       map[string]dependencies
		Dependencies table `toml:"dependencies"`
		Dev          table `toml:"dev-dependencies"`
		Build        table `toml:"build-dependencies"`
	}
	lines, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	m.Name, m.Version, m.Description = file.Package.Name, textOf(file.Package.Version), textOf(file.Package.Description)
	if file.Package.Name != "" { // a package may leave them to its workspace
		m.Version = cmp.Or(m.Version, textOf(file.Workspace.Package.Version))
		m.require("Rust", cmp.Or(textOf(file.Package.RustVersion), textOf(file.Workspace.Package.RustVersion)))
	}
	m.Workspace = file.Workspace.Members
	for i, bin := range file.Bin {
		m.addProgram(Program{Name: bin.Name, Paths: []string{bin.Path}, Line: lines.lineOf("bin", elementKey(i), "path")})
	}
	m.addVersions(lines, tableAt{file.Workspace.Dependencies, []string{"workspace", "dependencies"}}, "")
	add := func(part dependencies, path ...string) {
		at := func(key string) []string { return append(append([]string{}, path...), key) }
		m.addVersions(lines, tableAt{part.Dependencies, at("dependencies")}, "")
		m.addVersions(lines, tableAt{part.Dev, at("dev-dependencies")}, Development)
		m.addVersions(lines, tableAt{part.Build, at("build-dependencies")}, Build)
	}
	add(dependencies{file.Dependencies, file.Dev, file.Build})
	for name, target := range file.Target {
		add(target, "target", name)
	}
	return nil
}
