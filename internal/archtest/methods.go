package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxMethods is how many methods a struct may have outside tests, those of the structs that it
// embeds counted.
const maxMethods = 40

// structType is a struct with its methods.
type structType struct {
	file     string // slash-separated, from the root of the repository
	line     int
	name     string
	methods  map[string]bool
	embedded []string // types as methodsOf names them
}

// structs are the structs of a repository by the import path of their package, a dot and their
// name.
type structs map[string]*structType

// scanStructs lists the structs of the repository at root outside tests, with their methods.
func scanStructs(root string) (structs, error) {
	found := make(structs)
	err := walkGoFiles(root, func(name string) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		return found.parseFile(root, name)
	})
	if err != nil {
		return nil, fmt.Errorf("scan structs: %w", err)
	}
	return found, nil
}

// parseFile adds the structs and methods of a file.
func (s structs) parseFile(root, name string) error {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := path.Join(module, path.Dir(name))
	imports := make(map[string]string)
	for _, spec := range tree.Imports {
		target := strings.Trim(spec.Path.Value, `"`)
		local := path.Base(target)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = target
	}
	for _, declared := range tree.Decls {
		switch declared := declared.(type) {
		case *ast.FuncDecl:
			if declared.Recv != nil {
				s.at(typeName(pkg, imports, declared.Recv.List[0].Type)).methods[declared.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				defined, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if fields, ok := defined.Type.(*ast.StructType); ok {
					entry := s.at(pkg + "." + defined.Name.Name)
					entry.file, entry.line, entry.name = name, positions.Position(defined.Pos()).Line, defined.Name.Name
					for _, field := range fields.Fields.List {
						if len(field.Names) == 0 {
							entry.embedded = append(entry.embedded, typeName(pkg, imports, field.Type))
						}
					}
				}
			}
		}
	}
	return nil
}

func (s structs) at(name string) *structType {
	if s[name] == nil {
		s[name] = &structType{methods: make(map[string]bool)}
	}
	return s[name]
}

// typeName gives the import path and name of a type, without pointers and type arguments.
func typeName(pkg string, imports map[string]string, expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return typeName(pkg, imports, e.X)
	case *ast.IndexExpr:
		return typeName(pkg, imports, e.X)
	case *ast.IndexListExpr:
		return typeName(pkg, imports, e.X)
	case *ast.SelectorExpr:
		if local, ok := e.X.(*ast.Ident); ok {
			return imports[local.Name] + "." + e.Sel.Name
		}
	case *ast.Ident:
		return pkg + "." + e.Name
	}
	return ""
}

// methodsOf gives the methods of a struct with those of the structs of the repository that it
// embeds. Methods of embedded interfaces, and of other modules, are not counted.
func (s structs) methodsOf(name string, seen ...string) map[string]bool {
	all := make(map[string]bool)
	entry := s[name]
	if entry == nil || slices.Contains(seen, name) {
		return all
	}
	for method := range entry.methods {
		all[method] = true
	}
	for _, embedded := range entry.embedded {
		for method := range s.methodsOf(embedded, append(seen, name)...) {
			all[method] = true
		}
	}
	return all
}

// checkMethods returns every struct with more methods than limit. Packages for tests are
// spared.
func checkMethods(found structs, limit int) []violation {
	var broken []violation
	for name, entry := range found {
		count := len(found.methodsOf(name))
		if entry.name != "" && count > limit && !strings.HasSuffix(path.Dir(entry.file), "test") {
			broken = append(broken, violation{entry.file, entry.line, fmt.Sprintf("a struct has at most %d methods: take it apart", limit), fmt.Sprintf("%s has %d", entry.name, count)})
		}
	}
	slices.SortFunc(broken, func(a, b violation) int { return strings.Compare(a.String(), b.String()) })
	return broken
}
