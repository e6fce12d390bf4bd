package manifest

import "github.com/BurntSushi/toml"

func readCargo(m *Manifest, content []byte) error {
	type dependencies struct {
		Dependencies table
		Dev          table `toml:"dev-dependencies"`
		Build        table `toml:"build-dependencies"`
	}
	var file struct {
		Package struct {
			Name        string
			Description toml.Primitive // a string, or a table that says that the workspace has it
		}
		Bin       []struct{ Path string }
		Workspace struct{ Dependencies table }
		Target    map[string]dependencies
		dependencies
	}
	meta, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	m.Name = file.Package.Name
	if meta.IsDefined("package", "description") && meta.Type("package", "description") == "String" {
		if err := meta.PrimitiveDecode(file.Package.Description, &m.Description); err != nil {
			return formatError(err)
		}
	}
	for _, bin := range file.Bin {
		m.Programs = append(m.Programs, bin.Path)
	}
	m.addVersions(meta, file.Workspace.Dependencies, "")
	// An embedded struct that is not exported is not decoded: its tables are read here.
	var top dependencies
	if meta, err = decodeTOML(content, &top); err != nil {
		return err
	}
	all := []dependencies{top}
	for _, target := range file.Target {
		all = append(all, target)
	}
	for _, part := range all {
		m.addVersions(meta, part.Dependencies, "")
		m.addVersions(meta, part.Dev, Development)
		m.addVersions(meta, part.Build, Build)
	}
	return nil
}
