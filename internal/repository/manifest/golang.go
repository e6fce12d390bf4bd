package manifest

import (
	"fmt"

	"golang.org/x/mod/modfile"
)

func readGoMod(m *Manifest, content []byte) error {
	file, err := modfile.ParseLax("go.mod", content, nil)
	if err != nil {
		return fmt.Errorf("it is broken: %w", err)
	}
	if file.Module != nil {
		m.Name = file.Module.Mod.Path
	}
	if file.Go != nil {
		m.require("Go", file.Go.Version)
	}
	for _, require := range file.Require {
		d := Dependency{Name: require.Mod.Path, Version: require.Mod.Version}
		if require.Syntax != nil {
			d.Line = require.Syntax.Start.Line
		}
		if require.Indirect {
			d.Scope = Indirect
		}
		m.addDependency(d)
	}
	return nil
}
