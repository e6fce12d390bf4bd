// Package manifest reads what a repository says it depends on: the manifests and lock
// files of Go, Python, JavaScript, Rust, Java, Ruby, PHP and .NET, of containers and of
// Helm charts. Formats that have a library are read by it; the few that are lines of text
// are read here. Nothing is run, so what a program would work out (setup.py, a build
// script's variables) is not known.
package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// Ecosystem is where dependencies come from.
type Ecosystem string

// The ecosystems.
const (
	Go         Ecosystem = "Go"
	Python     Ecosystem = "Python"
	JavaScript Ecosystem = "JavaScript"
	Rust       Ecosystem = "Rust"
	Java       Ecosystem = "Java"
	Ruby       Ecosystem = "Ruby"
	PHP        Ecosystem = "PHP"
	DotNet     Ecosystem = ".NET"
	Container  Ecosystem = "Container"
	Helm       Ecosystem = "Helm"
)

// Scope is what a dependency is for.
type Scope string

// The scopes; the empty one is of what the program runs with.
const (
	Development Scope = "development"
	Build       Scope = "build"
	Test        Scope = "test"
	Optional    Scope = "optional"
	Indirect    Scope = "indirect"
)

// Dependency is one thing that is depended on.
type Dependency struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // or what is required of it, as it is written
	Scope   Scope  `json:"scope,omitempty"`
	Line    int    `json:"line,omitempty"` // 1-based; 0 where it is not known
}

// Manifest is one file.
type Manifest struct {
	Path         string
	Ecosystem    Ecosystem
	Name         string // of what the file describes, where it says so
	Version      string // of what the file describes, where it says so
	Requires     string // of its language: "Go 1.26", "Python >=3.10"
	Description  string
	Private      bool // what the file describes is not published
	Lock         bool // the file says exactly which versions are used
	Dependencies []Dependency
	// Resolutions are what a lock file gives to single requirements, where it tells.
	Resolutions []Resolution
	Programs    []Program
	// Workspace are the folders, from its own, of the manifests that share its lock file, as
	// it writes them: "packages/*".
	Workspace []string
}

// Program is a program or a library that a manifest names.
type Program struct {
	Name    string
	Library bool     // it is imported rather than run
	Paths   []string // where its file may be, from the manifest's folder; the first that exists counts
	Line    int      // of the manifest, 0 where that only implies it
}

// Bounds of one file.
const (
	maxDependencies = 20_000
	maxText         = 200 // of a name or version, in bytes
)

// reader fills a Manifest from a file's content.
type reader func(m *Manifest, content []byte) error

// form is a kind of file.
type form struct {
	ecosystem Ecosystem
	lock      bool
	read      reader
}

var byName = map[string]form{
	"go.mod":                   {Go, false, readGoMod},
	"pyproject.toml":           {Python, false, readPyproject},
	"Pipfile":                  {Python, false, readPipfile},
	"setup.cfg":                {Python, false, readSetupCfg},
	"poetry.lock":              {Python, true, readTOMLLock},
	"uv.lock":                  {Python, true, readTOMLLock},
	"pdm.lock":                 {Python, true, readTOMLLock},
	"Pipfile.lock":             {Python, true, readPipfileLock},
	"package.json":             {JavaScript, false, readPackageJSON},
	"package-lock.json":        {JavaScript, true, readPackageLock},
	"yarn.lock":                {JavaScript, true, readYarnLock},
	"pnpm-lock.yaml":           {JavaScript, true, readPnpmLock},
	"pnpm-workspace.yaml":      {JavaScript, false, readPnpmWorkspace},
	"Cargo.toml":               {Rust, false, readCargo},
	"Cargo.lock":               {Rust, true, readTOMLLock},
	"pom.xml":                  {Java, false, readPom},
	"build.gradle":             {Java, false, readGradle},
	"build.gradle.kts":         {Java, false, readGradle},
	"gradle.lockfile":          {Java, true, readGradleLock},
	"Gemfile":                  {Ruby, false, readGemfile},
	"Gemfile.lock":             {Ruby, true, readGemfileLock},
	"composer.json":            {PHP, false, readComposer},
	"composer.lock":            {PHP, true, readComposerLock},
	"packages.config":          {DotNet, false, readPackagesConfig},
	"packages.lock.json":       {DotNet, true, readNuGetLock},
	"Directory.Packages.props": {DotNet, false, readProject},
	"Chart.yaml":               {Helm, false, readChart},
	"Chart.lock":               {Helm, true, readChart},
	"compose.yaml":             {Container, false, readCompose},
	"compose.yml":              {Container, false, readCompose},
	"docker-compose.yaml":      {Container, false, readCompose},
	"docker-compose.yml":       {Container, false, readCompose},
}

var (
	requirements = regexp.MustCompile(`^requirements[\w.-]*\.(?:txt|in)$`)
	dockerfile   = regexp.MustCompile(`^(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?$|\.[Dd]ockerfile$`)
)

func formOf(file string) (form, bool) {
	name := path.Base(file)
	if known, ok := byName[name]; ok {
		return known, true
	}
	switch {
	case requirements.MatchString(name):
		return form{Python, false, readRequirements}, true
	case dockerfile.MatchString(name):
		return form{Container, false, readDockerfile}, true
	}
	switch path.Ext(name) {
	case ".csproj", ".fsproj", ".vbproj":
		return form{DotNet, false, readProject}, true
	case ".gemspec":
		return form{Ruby, false, readGemspec}, true
	}
	if strings.HasSuffix(file, "gradle/libs.versions.toml") {
		return form{Java, false, readCatalog}, true
	}
	return form{}, false
}

// Is tells by its path whether a file is read here.
func Is(file string) bool {
	_, known := formOf(file)
	return known
}

// ErrUnknown is a file that is no manifest.
var ErrUnknown = errors.New("no manifest")

// Parse reads a file. One that is broken gives an error that names it.
func Parse(file string, content []byte) (Manifest, error) {
	known, found := formOf(file)
	if !found {
		return Manifest{}, fmt.Errorf("read %s: %w", file, ErrUnknown)
	}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	m := Manifest{Path: file, Ecosystem: known.ecosystem, Lock: known.lock}
	if err := known.read(&m, content); err != nil {
		return Manifest{}, fmt.Errorf("read %s: %w", file, err)
	}
	m.finishDependencies()
	return m, nil
}

// require notes what is required of a language, unless that is known.
func (m *Manifest) require(language, version string) {
	if version = shorten.Line(version, maxText); version != "" && m.Requires == "" {
		m.Requires = language + " " + version
	}
}

// maxPrograms is how many programs of a manifest are noted.
const maxPrograms = 100

func (m *Manifest) addProgram(p Program) {
	if p.Name = shorten.Line(p.Name, maxText); len(m.Programs) < maxPrograms {
		m.Programs = append(m.Programs, p)
	}
}

// addDependency adds a dependency, unless it has no name.
func (m *Manifest) addDependency(d Dependency) {
	d.Name, d.Version = shorten.Line(d.Name, maxText), shorten.Line(d.Version, maxText)
	if d.Name != "" && len(m.Dependencies) < maxDependencies {
		m.Dependencies = append(m.Dependencies, d)
	}
}

// finishDependencies orders what was found, each once.
func (m *Manifest) finishDependencies() {
	m.Name, m.Version, m.Description = shorten.Line(m.Name, maxText), shorten.Line(m.Version, maxText), shorten.Line(m.Description, maxText)
	slices.SortStableFunc(m.Programs, func(a, b Program) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(m.Dependencies, func(a, b Dependency) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.Scope), string(b.Scope)), strings.Compare(a.Version, b.Version), cmp.Compare(a.Line, b.Line))
	})
	m.Dependencies = slices.CompactFunc(m.Dependencies, func(a, b Dependency) bool {
		return a.Name == b.Name && a.Scope == b.Scope && a.Version == b.Version
	})
}
