package manifest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// decodeXML reads a file that says it is of any character set as UTF-8: names and versions
// are ASCII.
func decodeXML[T any](content []byte, into *T) error {
	decoder := xml.NewDecoder(bytes.NewReader(content))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	if err := decoder.Decode(into); err != nil {
		return formatError(err)
	}
	return nil
}

// properties are the elements of a pom.xml that other values name.
type properties map[string]string

// UnmarshalXML implements xml.Unmarshaler.
func (p *properties) UnmarshalXML(decoder *xml.Decoder, _ xml.StartElement) error {
	*p = make(properties)
	for {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("read properties: %w", err)
		}
		switch element := token.(type) {
		case xml.StartElement:
			var value string
			if err := decoder.DecodeElement(&value, &element); err != nil {
				return fmt.Errorf("read property %s: %w", element.Name.Local, err)
			}
			(*p)[element.Name.Local] = strings.TrimSpace(value)
		case xml.EndElement:
			return nil
		}
	}
}

var property = regexp.MustCompile(`\$\{([^}]+)\}`)

func (p properties) expandProperties(value string) string {
	return property.ReplaceAllStringFunc(strings.TrimSpace(value), func(name string) string {
		if known, ok := p[name[2:len(name)-1]]; ok {
			return known
		}
		return name
	})
}

// artifact is what a pom.xml depends on.
type artifact struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
	Scope    string `xml:"scope"`
	Optional string `xml:"optional"`
	line     int
}

// UnmarshalXML implements xml.Unmarshaler: it notes the line of the element.
func (a *artifact) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	type plain artifact
	line, _ := decoder.InputPos()
	if err := decoder.DecodeElement((*plain)(a), &start); err != nil {
		return fmt.Errorf("read dependency: %w", err)
	}
	a.line = line
	return nil
}

func readPom(m *Manifest, content []byte) error {
	var file struct {
		Group        string     `xml:"groupId"`
		Name         string     `xml:"name"`
		ID           string     `xml:"artifactId"`
		Own          string     `xml:"version"`
		Description  string     `xml:"description"`
		Parent       artifact   `xml:"parent"`
		Properties   properties `xml:"properties"`
		Dependencies []artifact `xml:"dependencies>dependency"`
		Managed      []artifact `xml:"dependencyManagement>dependencies>dependency"`
	}
	if err := decodeXML(content, &file); err != nil {
		return err
	}
	m.Name, m.Version, m.Description = strings.TrimSpace(file.ID), strings.TrimSpace(file.Own), file.Description
	known := properties{"project.version": file.Own, "project.groupId": file.Group, "project.parent.version": file.Parent.Version}
	for name, value := range file.Properties {
		known[name] = value
	}
	m.Version = known.expandProperties(m.Version)
	for _, name := range []string{"maven.compiler.release", "java.version", "maven.compiler.source"} {
		m.require("Java", known.expandProperties(known[name]))
	}
	managed := make(map[string]string)
	for _, one := range file.Managed {
		managed[one.Group+":"+one.Artifact] = one.Version
	}
	if file.Parent.Artifact != "" {
		m.addDependency(Dependency{Name: file.Parent.Group + ":" + file.Parent.Artifact, Version: file.Parent.Version, Scope: Build, Line: file.Parent.line})
	}
	for _, one := range file.Dependencies {
		d := Dependency{Name: known.expandProperties(one.Group) + ":" + known.expandProperties(one.Artifact), Version: known.expandProperties(one.Version), Line: one.line}
		if d.Version == "" {
			d.Version = known.expandProperties(managed[one.Group+":"+one.Artifact])
		}
		switch {
		case one.Scope == "test":
			d.Scope = Test
		case one.Scope == "provided":
			d.Scope = Build
		case one.Optional == "true":
			d.Scope = Optional
		}
		m.addDependency(d)
	}
	return nil
}

// gradleDependency is a line of a build script that names a dependency in full; what comes
// from variables of the script is not known.
var gradleDependency = regexp.MustCompile(`^\s*(\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|[cC]ompile|[aA]nnotationProcessor|kapt|ksp))[\s(]+(?:platform\()?["']([\w.-]+:[\w.-]+)(?::([^"'@]+))?(?:@\w+)?["']`)

func readGradle(m *Manifest, content []byte) error {
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		found := gradleDependency.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		d := Dependency{Name: found[2], Version: found[3], Line: number}
		switch configuration := strings.ToLower(found[1]); {
		case strings.Contains(configuration, "test"):
			d.Scope = Test
		case strings.Contains(configuration, "compileonly"), strings.Contains(configuration, "processor"), configuration == "kapt", configuration == "ksp":
			d.Scope = Build
		}
		m.addDependency(d)
	}
	return nil
}

func readGradleLock(m *Manifest, content []byte) error {
	for line := range strings.Lines(string(content)) {
		coordinates, _, pair := strings.Cut(strings.TrimSpace(line), "=")
		at := strings.LastIndexByte(coordinates, ':')
		if !pair || strings.HasPrefix(coordinates, "#") || at < 0 {
			continue
		}
		m.addDependency(Dependency{Name: coordinates[:at], Version: coordinates[at+1:]})
	}
	return nil
}

// readCatalog reads a version catalog of Gradle.
func readCatalog(m *Manifest, content []byte) error {
	var file struct {
		Versions  map[string]any
		Libraries map[string]any
	}
	lines, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	for name, value := range file.Libraries {
		d := Dependency{Line: lines.lineOf("libraries", name)}
		switch library := value.(type) {
		case string:
			at := max(0, strings.LastIndexByte(library, ':'))
			d.Name, d.Version = library[:at], strings.TrimPrefix(library[at:], ":")
		case map[string]any:
			d.Name, d.Version = textOf(library["module"]), textOf(library["version"])
			if d.Name == "" {
				d.Name = textOf(library["group"]) + ":" + textOf(library["name"])
			}
			if reference, ok := library["version"].(map[string]any); ok {
				d.Version = textOf(file.Versions[textOf(reference["ref"])])
			}
		}
		m.addDependency(d)
	}
	return nil
}
