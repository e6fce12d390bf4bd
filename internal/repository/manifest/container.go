package manifest

import (
	"regexp"
	"strings"
)

// addImage adds a container's image: "registry:5000/name:tag@sha256:…". One made of variables
// is known by what is written.
func (m *Manifest) addImage(written string, line int) {
	name, digest, pinned := strings.Cut(written, "@")
	version := ""
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name, version = name[:colon], name[colon+1:]
	}
	if pinned {
		version = strings.TrimPrefix(version+"@"+digest, "@")
	}
	m.addDependency(Dependency{Name: name, Version: version, Line: line})
}

// readDockerfile reads the images that a Dockerfile builds on: those of FROM and of
// COPY --from that are not stages of its own.
func readDockerfile(m *Manifest, content []byte) error {
	stages := map[string]bool{"scratch": true}
	arguments := make(map[string]string)
	number := 0
	instruction, started := "", 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if instruction == "" {
			started = number
		}
		if part, continues := strings.CutSuffix(line, `\`); continues {
			instruction += part + " "
			continue
		}
		m.addInstruction(instruction+line, started, stages, arguments)
		instruction = ""
	}
	return nil
}

func (m *Manifest) addInstruction(written string, line int, stages map[string]bool, arguments map[string]string) {
	words := strings.Fields(written)
	if len(words) < 2 {
		return
	}
	verb, words := strings.ToUpper(words[0]), words[1:]
	switch verb {
	case "ARG":
		if name, value, given := strings.Cut(words[0], "="); given && len(arguments) < maxDependencies {
			arguments[name] = strings.Trim(value, `"'`)
		}
	case "FROM":
		for len(words) > 1 && strings.HasPrefix(words[0], "--") {
			words = words[1:]
		}
		if image := expandArguments(words[0], arguments); !stages[strings.ToLower(image)] {
			m.addImage(image, line)
		}
		if len(words) == 3 && strings.EqualFold(words[1], "as") {
			stages[strings.ToLower(words[2])] = true
		}
	case "COPY":
		if image, from := strings.CutPrefix(words[0], "--from="); from && !stages[strings.ToLower(image)] && strings.Trim(image, "0123456789") != "" {
			m.addImage(expandArguments(image, arguments), line)
		}
	}
}

// expandArguments puts the defaults of arguments into a name: "golang:${VERSION}".
func expandArguments(written string, arguments map[string]string) string {
	for name, value := range arguments {
		if !strings.Contains(written, "$") || len(written) > maxText {
			break
		}
		written = strings.ReplaceAll(written, "${"+name+"}", value)
		if written == "$"+name {
			written = value
		}
		for _, after := range []string{"/", ":", "-", "@"} {
			written = strings.ReplaceAll(written, "$"+name+after, value+after)
		}
		written = strings.ReplaceAll(written+"\n", "$"+name+"\n", value+"\n")
		written = strings.TrimSuffix(written, "\n")
	}
	return written
}

func readCompose(m *Manifest, content []byte) error {
	root, err := parseYAML(content)
	if err != nil {
		return err
	}
	for _, service := range root.childOf("services").mappingPairs() {
		if image := service.value.childOf("image"); image.scalarText() != "" {
			m.addImage(expandDefaults(image.scalarText()), image.lineNumber())
		}
	}
	return nil
}

// variableDefault is a variable of a compose file with the value that it has where none is set.
var variableDefault = regexp.MustCompile(`\$\{\w+:?-([^${}]*)\}`)

// expandDefaults puts the defaults of variables into a name: "${IMAGE:-redis:8}".
func expandDefaults(written string) string {
	return variableDefault.ReplaceAllString(written, "$1")
}

// readChart reads a Helm chart, and its lock file, which lists dependencies alike.
func readChart(m *Manifest, content []byte) error {
	root, err := parseYAML(content)
	if err != nil {
		return err
	}
	m.Name, m.Description = root.childOf("name").scalarText(), root.childOf("description").scalarText()
	m.Version = root.childOf("version").scalarText()
	m.require("Kubernetes", root.childOf("kubeVersion").scalarText())
	for _, dependency := range root.childOf("dependencies").listItems() {
		name := dependency.childOf("name")
		m.addDependency(Dependency{Name: name.scalarText(), Version: dependency.childOf("version").scalarText(), Line: name.lineNumber()})
	}
	return nil
}
