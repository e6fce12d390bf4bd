package manifest

func readProject(m *Manifest, content []byte) error {
	type reference struct {
		Include string `xml:"Include,attr"`
		Version string `xml:"Version,attr"`
		Inner   string `xml:"Version"`
		Private string `xml:"PrivateAssets,attr"`
	}
	var file struct {
		Groups []struct {
			Packages []reference `xml:"PackageReference"`
			Versions []reference `xml:"PackageVersion"`
		} `xml:"ItemGroup"`
		Properties []struct {
			Name        string `xml:"AssemblyName"`
			Description string `xml:"Description"`
		} `xml:"PropertyGroup"`
	}
	if err := decodeXML(content, &file); err != nil {
		return err
	}
	for _, group := range file.Properties {
		if group.Name != "" {
			m.Name = group.Name
		}
		if group.Description != "" {
			m.Description = group.Description
		}
	}
	for _, group := range file.Groups {
		for _, one := range append(group.Packages, group.Versions...) {
			d := Dependency{Name: one.Include, Version: one.Version + one.Inner}
			if one.Private == "all" || one.Private == "All" {
				d.Scope = Build
			}
			m.addDependency(d)
		}
	}
	return nil
}

func readPackagesConfig(m *Manifest, content []byte) error {
	var file struct {
		Packages []struct {
			ID          string `xml:"id,attr"`
			Version     string `xml:"version,attr"`
			Development bool   `xml:"developmentDependency,attr"`
		} `xml:"package"`
	}
	if err := decodeXML(content, &file); err != nil {
		return err
	}
	for _, one := range file.Packages {
		d := Dependency{Name: one.ID, Version: one.Version}
		if one.Development {
			d.Scope = Development
		}
		m.addDependency(d)
	}
	return nil
}

func readNuGetLock(m *Manifest, content []byte) error {
	var file struct {
		Dependencies map[string]map[string]struct {
			Resolved string `json:"resolved"`
		} `json:"dependencies"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	for _, framework := range file.Dependencies {
		for name, one := range framework {
			m.addDependency(Dependency{Name: name, Version: one.Resolved})
		}
	}
	return nil
}
