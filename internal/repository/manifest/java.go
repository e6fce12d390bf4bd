package manifest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
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

func readPom(m *Manifest, content []byte) error {
	type artifact struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Version  string `xml:"version"`
		Scope    string `xml:"scope"`
		Optional string `xml:"optional"`
	}
	var file struct {
		artifact
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
	m.Name, m.Description = strings.TrimSpace(file.ID), file.Description
	known := properties{"project.version": file.Own, "project.groupId": file.Group, "project.parent.version": file.Parent.Version}
	for name, value := range file.Properties {
		known[name] = value
	}
	managed := make(map[string]string)
	for _, one := range file.Managed {
		managed[one.Group+":"+one.Artifact] = one.Version
	}
	if file.Parent.Artifact != "" {
		m.addDependency(Dependency{Name: file.Parent.Group + ":" + file.Parent.Artifact, Version: file.Parent.Version, Scope: Build})
	}
	for _, one := range file.Dependencies {
		d := Dependency{Name: known.expandProperties(one.Group) + ":" + known.expandProperties(one.Artifact), Version: known.expandProperties(one.Version)}
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
		Versions  map[string]toml.Primitive
		Libraries map[string]toml.Primitive
	}
	meta, err := decodeTOML(content, &file)
	if err != nil {
		return err
	}
	for _, raw := range file.Libraries {
		var short string
		if meta.PrimitiveDecode(raw, &short) == nil {
			if at := strings.LastIndexByte(short, ':'); at > 0 {
				m.addDependency(Dependency{Name: short[:at], Version: short[at+1:]})
			}
			continue
		}
		var library struct {
			Module, Group, Name string
			Version             toml.Primitive
		}
		if meta.PrimitiveDecode(raw, &library) != nil {
			continue
		}
		d := Dependency{Name: library.Module}
		if d.Name == "" {
			d.Name = library.Group + ":" + library.Name
		}
		var ref struct{ Ref string }
		if meta.PrimitiveDecode(library.Version, &d.Version) != nil && meta.PrimitiveDecode(library.Version, &ref) == nil {
			if named, ok := file.Versions[ref.Ref]; ok && meta.PrimitiveDecode(named, &d.Version) != nil {
				d.Version = ""
			}
		}
		m.addDependency(d)
	}
	return nil
}
