package manifest

import (
	"regexp"
	"strings"
)

var (
	gem          = regexp.MustCompile(`^\s*gem[\s(]+["']([\w.-]+)["'](?:\s*,\s*["']([^"']+)["'])?`)
	gemGroup     = regexp.MustCompile(`^\s*group\s+(.*)\bdo\s*$`)
	gemEnd       = regexp.MustCompile(`^\s*end\s*$`)
	gemspecGem   = regexp.MustCompile(`^\s*\w+\.add_(runtime_|development_)?dependency[\s(]+["']([\w.-]+)["'](?:\s*,\s*["']([^"']+)["'])?`)
	gemspecName  = regexp.MustCompile(`^\s*\w+\.(name|summary|version|required_ruby_version)\s*=\s*["']([^"']+)["']`)
	gemLocked    = regexp.MustCompile(`^ {4}([\w.-]+) \(([^)]+)\)$`)
	gemLockStart = regexp.MustCompile(`^(?:GEM|GIT|PATH)$`)
)

func readGemfile(m *Manifest, content []byte) error {
	var scope Scope
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if found := gemGroup.FindStringSubmatch(line); found != nil {
			scope = gemScope(found[1])
		} else if gemEnd.MatchString(line) {
			scope = ""
		} else if found := gem.FindStringSubmatch(line); found != nil {
			d := Dependency{Name: found[1], Version: found[2], Scope: scope, Line: number}
			if _, group, has := strings.Cut(line, "group:"); has && scope == "" {
				d.Scope = gemScope(group)
			}
			m.addDependency(d)
		}
	}
	return nil
}

func gemScope(groups string) Scope {
	switch {
	case strings.Contains(groups, "development"):
		return Development
	case strings.Contains(groups, "test"):
		return Test
	}
	return ""
}

func readGemspec(m *Manifest, content []byte) error {
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if found := gemspecName.FindStringSubmatch(line); found != nil {
			switch found[1] {
			case "name":
				m.Name = found[2]
			case "version":
				m.Version = found[2]
			case "required_ruby_version":
				m.require("Ruby", found[2])
			default:
				m.Description = found[2]
			}
		} else if found := gemspecGem.FindStringSubmatch(line); found != nil {
			d := Dependency{Name: found[2], Version: found[3], Line: number}
			if found[1] == "development_" {
				d.Scope = Development
			}
			m.addDependency(d)
		}
	}
	return nil
}

// readGemfileLock reads the gems of the sections that list some, each indented by four.
func readGemfileLock(m *Manifest, content []byte) error {
	inside := false
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			inside = gemLockStart.MatchString(line)
		} else if found := gemLocked.FindStringSubmatch(line); found != nil && inside {
			m.addDependency(Dependency{Name: found[1], Version: found[2]})
		}
	}
	return nil
}
