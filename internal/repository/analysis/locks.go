package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// lockNames are the files that say exactly which versions a kind of manifest gets, in the
// order in which they are looked for. A kind without any here has none.
type lockNames struct {
	ecosystem manifest.Ecosystem
	manifest  string // the name of the manifest, or how it ends
	locks     []string
	required  bool // it is a risk to have none
}

var lockFiles = []lockNames{
	{manifest.Go, "go.mod", []string{"go.sum"}, true},
	{manifest.JavaScript, "package.json", []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock"}, true},
	{manifest.Rust, "Cargo.toml", []string{"Cargo.lock"}, true},
	{manifest.Python, "pyproject.toml", []string{"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"}, true},
	{manifest.Python, "Pipfile", []string{"Pipfile.lock"}, true},
	{manifest.Python, "setup.cfg", nil, true},
	{manifest.Python, ".txt", nil, true},
	{manifest.Python, ".in", nil, false}, // what is compiled to a .txt
	{manifest.Ruby, "Gemfile", []string{"Gemfile.lock"}, true},
	{manifest.Ruby, ".gemspec", []string{"Gemfile.lock"}, false},
	{manifest.PHP, "composer.json", []string{"composer.lock"}, true},
	{manifest.Helm, "Chart.yaml", []string{"Chart.lock"}, true},
	{manifest.DotNet, "", []string{"packages.lock.json"}, false},
	{manifest.Java, "", []string{"gradle.lockfile"}, false},
}

// lockNamesOf returns the lock files that a manifest may have.
func lockNamesOf(ecosystem manifest.Ecosystem, file string) lockNames {
	for _, known := range lockFiles {
		if known.ecosystem == ecosystem && strings.HasSuffix(path.Base(file), known.manifest) {
			return known
		}
	}
	return lockNames{}
}

// findLock returns the lock file of a manifest: one in its folder, or one of a workspace above
// it that declares the folder; "" for none.
func (a *Analyst) findLock(m manifest.Manifest, all []manifest.Manifest) string {
	names := lockNamesOf(m.Ecosystem, m.Path).locks
	folder := path.Dir(m.Path)
	if found := a.lockIn(folder, names); found != "" {
		return found
	}
	for _, outer := range all {
		if outer.Ecosystem == m.Ecosystem && sharesLock(outer, folder) {
			if found := a.lockIn(path.Dir(outer.Path), names); found != "" {
				return found
			}
		}
	}
	return ""
}

func (a *Analyst) lockIn(folder string, names []string) string {
	for _, name := range names {
		if at := path.Join(folder, name); a.checkout.Has(at) {
			return at
		}
	}
	return ""
}

// sharesLock tells whether a workspace declares that a folder is part of it.
func sharesLock(workspace manifest.Manifest, folder string) bool {
	root := path.Dir(workspace.Path)
	below := folder
	if root != "." {
		var ok bool
		if below, ok = strings.CutPrefix(folder, root+"/"); !ok {
			return false
		}
	}
	excluded := slices.ContainsFunc(workspace.Workspace, func(member string) bool {
		pattern, negated := strings.CutPrefix(member, "!")
		return negated && matchesMember(pattern, below)
	})
	return !excluded && slices.ContainsFunc(workspace.Workspace, func(member string) bool { return matchesMember(member, below) })
}

// matchesMember tells whether a folder is one that a workspace names: "packages/*", "apps/**".
func matchesMember(member, folder string) bool {
	matches, err := doublestar.Match(path.Clean(member), folder)
	return matches && err == nil
}

// lacksLock reports whether a manifest should have a lock file and has none. Requirements of
// Python that each name one version are as good as one, and so are Go's where there is
// nothing to check the sums of.
func lacksLock(m Manifest) bool {
	if m.Lock != "" || !lockNamesOf(m.Ecosystem, m.Path).required || len(m.Dependencies)+m.Indirect == 0 {
		return false
	}
	if m.Ecosystem != manifest.Python {
		return true
	}
	return slices.ContainsFunc(m.Dependencies, func(d Dependency) bool {
		return d.Version == "" || strings.ContainsAny(d.Version, "<>~^*!")
	})
}

// lockRisks tell what follows from having no lock file.
var lockRisks = map[manifest.Ecosystem]string{
	manifest.Go: "There is no go.sum: go.mod fixes the versions, but nothing checks that what is downloaded is what it was.",
}

func lockRisk(ecosystem manifest.Ecosystem) string {
	if text, ok := lockRisks[ecosystem]; ok {
		return text
	}
	return "Dependencies of " + string(ecosystem) + " have no lock file: a new installation may get other versions of them, or of what they depend on."
}
