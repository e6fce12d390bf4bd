package manifest

import (
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// Resolution is the version that a lock file gives to a requirement.
type Resolution struct {
	Member      string // folder of the manifest that requires it, from the lock file's; "" for all
	Name        string
	Requirement string // as the manifest has it; "" for any
	Version     string // "" for what is no version: a folder of the workspace
}

func (m *Manifest) addResolution(r Resolution) {
	r.Version = shorten.Line(r.Version, maxText)
	if r.Name != "" && len(m.Resolutions) < maxDependencies {
		m.Resolutions = append(m.Resolutions, r)
	}
}

// Lock answers which versions a lock file gives.
type Lock struct {
	folder      string
	ecosystem   Ecosystem
	resolutions map[string][]Resolution // by name
	versions    map[string][]string     // by name, each once
	members     map[string]bool         // of which the file tells all
}

// NewLock makes one of a lock file.
func NewLock(m Manifest) Lock {
	l := Lock{path.Dir(m.Path), m.Ecosystem, make(map[string][]Resolution), make(map[string][]string, len(m.Dependencies)), make(map[string]bool)}
	for _, r := range m.Resolutions {
		l.resolutions[r.Name] = append(l.resolutions[r.Name], r)
		l.members[r.Member] = r.Member != ""
	}
	for _, d := range m.Dependencies {
		if !slices.Contains(l.versions[d.Name], d.Version) {
			l.versions[d.Name] = append(l.versions[d.Name], d.Version)
		}
	}
	return l
}

// Version returns the version that the lock file gives to a dependency of a manifest, "" where
// it gives none, or several of which the requirement does not tell one.
func (l Lock) Version(manifestPath string, d Dependency) string {
	member := strings.TrimPrefix(path.Dir(manifestPath), l.folder+"/")
	if path.Dir(manifestPath) == l.folder {
		member = "."
	}
	of := l.resolutions[d.Name]
	for _, r := range of {
		if r.Member == member || r.Member == "" && r.Requirement != "" && r.Requirement == d.Version {
			return r.Version
		}
	}
	for _, r := range of {
		if r.Member == "" && r.Requirement == "" {
			return r.Version
		}
	}
	if l.members[member] {
		return ""
	}
	versions := l.versions[d.Name]
	if len(versions) == 0 {
		versions = l.versions[normalizeName(d.Name)]
	}
	if len(versions) == 1 {
		return versions[0]
	}
	fitting := slices.DeleteFunc(slices.Clone(versions), func(version string) bool { return !l.ecosystem.allows(d.Version, version) })
	if len(fitting) == 1 {
		return fitting[0]
	}
	return ""
}

// allows tells whether a requirement allows a version.
func (e Ecosystem) allows(requirement, version string) bool {
	numbers, count := numbersOf(strings.TrimPrefix(version, "v"))
	if count == 0 {
		return true
	}
	one := span{numbers, numbers.next(len(numbers) - 1)}
	return slices.ContainsFunc(e.spansOf(requirement), one.within)
}

// normalizeName returns how lock files of Python write a name.
func normalizeName(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}
