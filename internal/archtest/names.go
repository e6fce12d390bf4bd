package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// maxSingleWords is the limit on the share of functions outside tests that are named with
// one lower-case word.
const maxSingleWords = .20

// declaration is a name of a package: of a function, a method, a type, a constant or a
// variable.
type declaration struct {
	file     string // slash-separated, from the root of the repository
	line     int
	name     string
	function bool // a function or method
}

// scanNames lists the declarations of every Go file of the repository at root outside tests.
func scanNames(root string) ([]declaration, error) {
	var found []declaration
	err := walkGoFiles(root, func(name string) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		declared, err := parseNames(root, name)
		found = append(found, declared...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("scan names: %w", err)
	}
	return found, nil
}

func parseNames(root, name string) ([]declaration, error) {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []declaration
	add := func(identifier *ast.Ident, function bool) {
		line := positions.Position(identifier.Pos()).Line
		found = append(found, declaration{name, line, identifier.Name, function})
	}
	for _, declared := range tree.Decls {
		switch declared := declared.(type) {
		case *ast.FuncDecl:
			add(declared.Name, true)
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, false)
				case *ast.ValueSpec:
					for _, identifier := range spec.Names {
						add(identifier, false)
					}
				}
			}
		}
	}
	return found, nil
}

var singleWord = regexp.MustCompile(`^[a-z]+$`)

// countSingleWords counts functions, and those among them that are named with one lower-case
// word. Go itself names main and init.
func countSingleWords(declared []declaration) (single, all int) {
	for _, d := range declared {
		if !d.function || d.name == "main" || d.name == "init" {
			continue
		}
		all++
		if singleWord.MatchString(d.name) {
			single++
		}
	}
	return single, all
}

// checkGoneNames returns every declaration with a name that is gone.
func checkGoneNames(declared []declaration, gone map[string]string) []violation {
	var found []violation
	for _, d := range declared {
		if instead, ok := gone[d.name]; ok {
			found = append(found, violation{d.file, d.line, "docs/glossary.md has a name for it: " + instead, d.name})
		}
	}
	return found
}

var goneName = regexp.MustCompile("`([^`]+)`")

// parseGoneNames reads the table of names that are gone from the glossary: each with what
// stands in its place.
func parseGoneNames(glossary string) map[string]string {
	_, table, _ := strings.Cut(glossary, "\n| gone | instead |\n")
	gone := make(map[string]string)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 {
			break
		}
		for _, match := range goneName.FindAllStringSubmatch(cells[1], -1) {
			gone[match[1]] = strings.TrimSpace(cells[2])
		}
	}
	return gone
}
