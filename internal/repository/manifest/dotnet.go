package manifest

import (
	"encoding/xml"
	"fmt"
)

// reference is a package that a project of .NET uses.
type reference struct {
	Include string `xml:"Include,attr"`
	Version string `xml:"Version,attr"`
	Inner   string `xml:"Version"`
	Private string `xml:"PrivateAssets,attr"`

	// In a packages.config the attributes have other names.
	ID          string `xml:"id,attr"`
	OldVersion  string `xml:"version,attr"`
	Development bool   `xml:"developmentDependency,attr"`

	line int
}

// UnmarshalXML implements xml.Unmarshaler: it notes the line of the element.
func (r *reference) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	type plain reference
	line, _ := decoder.InputPos()
	if err := decoder.DecodeElement((*plain)(r), &start); err != nil {
		return fmt.Errorf("read reference: %w", err)
	}
	r.line = line
	return nil
}

func readProject(m *Manifest, content []byte) error {
	var file struct {
		Groups []struct {
			Packages []reference `xml:"PackageReference"`
			Versions []reference `xml:"PackageVersion"`
		} `xml:"ItemGroup"`
		Properties []struct {
			Name        string `xml:"AssemblyName"`
			Description string `xml:"Description"`
			Version     string `xml:"Version"`
			Framework   string `xml:"TargetFramework"`
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
		if group.Version != "" {
			m.Version = group.Version
		}
		m.require(".NET", group.Framework)
	}
	for _, group := range file.Groups {
		for _, one := range append(group.Packages, group.Versions...) {
			d := Dependency{Name: one.Include, Version: one.Version + one.Inner, Line: one.line}
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
		Packages []reference `xml:"package"`
	}
	if err := decodeXML(content, &file); err != nil {
		return err
	}
	for _, one := range file.Packages {
		d := Dependency{Name: one.ID, Version: one.OldVersion, Line: one.line}
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
