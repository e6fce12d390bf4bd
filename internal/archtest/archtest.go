// Package archtest checks which package may import which, and how things are named: the
// parts of the architecture that a compiler doesn't see. It parses the files itself; a test
// that ran the go command instead would go on printing a stale "ok (cached)".
package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// module is the path that all of Cairn's packages begin with.
const module = "github.com/cairn-bot/cairn"

// standard stands in a rule for every package of the standard library.
const standard = "the standard library"

// rule forbids imports. Its lists hold patterns of import paths, in which "**" is any
// number of elements; an empty list matches nothing.
type rule struct {
	name string
	// in are the packages that the rule is for, notIn those among them that it spares.
	in, notIn []string
	// forbid are the imports that it forbids, allow those among them that it permits.
	forbid, allow []string
	// sparesTests: files ending in _test.go may import what others may not.
	sparesTests bool
}

// file is one Go file and what it imports.
type file struct {
	path    string // slash-separated, from the root of the repository
	pkg     string // import path of its folder
	name    string // of the package clause
	imports []imported
}

type imported struct {
	path string
	line int
}

// violation is an import or a name that breaks a rule.
type violation struct {
	file string
	line int
	rule string
	what string
}

func (v violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.file, v.line, v.what, v.rule)
}

// walkGoFiles calls visit with every Go file of the repository at root, except below testdata,
// hidden folders and tools, whose modules are not part of Cairn. Names are slash-separated, from
// the root.
func walkGoFiles(root string, visit func(name string) error) error {
	return fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (name == "tools" || isIgnored(entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		return visit(name)
	})
}

// scanImports parses the imports of every Go file of the repository at root.
func scanImports(root string) ([]file, error) {
	var files []file
	err := walkGoFiles(root, func(name string) error {
		parsed, err := parseImports(root, name)
		files = append(files, parsed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("scan imports: %w", err)
	}
	return files, nil
}

func isIgnored(folder string) bool {
	return folder == "testdata" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func parseImports(root, name string) (file, error) {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, filepath.Join(root, filepath.FromSlash(name)), nil, parser.ImportsOnly)
	if err != nil {
		return file{}, err
	}
	parsed := file{path: name, pkg: path.Join(module, path.Dir(name)), name: tree.Name.Name}
	for _, spec := range tree.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		parsed.imports = append(parsed.imports, imported{path: target, line: positions.Position(spec.Pos()).Line})
	}
	return parsed, nil
}

// checkImports returns every break of the rules, in the order of the files.
func checkImports(files []file) []violation {
	var found []violation
	for _, f := range files {
		if slices.Contains(vagueNames, f.name) || slices.Contains(vagueNames, path.Base(f.pkg)) {
			found = append(found, violation{f.path, 1, vagueName, "package " + f.name})
		}
		for _, target := range f.imports {
			for _, r := range rules {
				if r.isBrokenBy(f, target.path) {
					found = append(found, violation{f.path, target.line, r.name, target.path})
				}
			}
			for _, parent := range strangers {
				if areStrangers(parent, f, target.path) {
					found = append(found, violation{f.path, target.line, strangersName, target.path})
				}
			}
		}
	}
	return found
}

// racetest is for the tests of all packages, and imports none.
const racetest = "github.com/cairn-bot/cairn/internal/racetest"

func (r rule) isBrokenBy(f file, target string) bool {
	if r.sparesTests && f.isTest() || target == racetest {
		return false
	}
	return matchesAny(r.in, f.pkg) && !matchesAny(r.notIn, f.pkg) &&
		matchesAny(r.forbid, target) && !matchesAny(r.allow, target)
}

// isTest reports whether a file is part of tests alone.
func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func matchesAny(patterns []string, importPath string) bool {
	for _, pattern := range patterns {
		if pattern == standard {
			if isStandard(importPath) {
				return true
			}
		} else if doublestar.MatchUnvalidated(pattern, importPath) {
			return true
		}
	}
	return false
}

// isStandard reports whether an import is of the standard library: the first element of
// every other module's path has a dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return first != module && !strings.Contains(first, ".")
}

// areStrangers reports whether a file below one child of parent imports what is below
// another one. Packages for tests know both sides.
func areStrangers(parent string, f file, target string) bool {
	mine, ok := childOf(parent, f.pkg)
	theirs, alsoOk := childOf(parent, target)
	return ok && alsoOk && mine != theirs && !f.isTest() && !strings.HasSuffix(mine, "test")
}

func childOf(parent, importPath string) (string, bool) {
	rest, ok := strings.CutPrefix(importPath, parent+"/")
	child, _, _ := strings.Cut(rest, "/")
	return child, ok
}
