package jsx

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/go-sourcemap/sourcemap"
)

// walker reads the plain JavaScript that esbuild made of a file.
type walker struct {
	file       *File
	code       string
	lineStarts []int
	firstRow   int // that begins with the beginning of the source, 0 for none
	places     *sourcemap.Consumer
	namespaces map[string]string // name of a variable that holds a module → the module
	exported   string            // the variable of the default export

	function    *Function // that the walk is in, nil outside of all
	element     *Element  // whose children are walked, nil outside of all
	conditional int       // conditions that the walk is inside of
	named       string    // the name that the next function literal has
}

func (w *walker) walkProgram(program *ast.Program) {
	w.walkAll(program.Body)
	slices.SortStableFunc(w.file.Elements, func(a, b *Element) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if w.exported != "" && w.file.Default.Kind == "" {
		if function := w.file.FunctionNamed(w.exported); function != nil {
			w.file.Default = Value{Kind: Func, Function: function, Line: function.Line}
		}
	}
}

func (w *walker) walkAll(statements []ast.Statement) {
	for _, statement := range statements {
		w.walkStatement(statement)
	}
}

func (w *walker) walkStatement(statement ast.Statement) {
	switch s := statement.(type) {
	case *ast.ExpressionStatement:
		w.convert(s.Expression)
	case *ast.VariableStatement:
		w.walkBindings(s.List)
	case *ast.LexicalDeclaration:
		w.walkBindings(s.List)
	case *ast.FunctionDeclaration:
		w.readFunction(s.Function.Name.Name.String(), s.Function)
	case *ast.ClassDeclaration:
		w.convertClass(s.Class)
	case *ast.BlockStatement:
		w.walkAll(s.List)
	case *ast.ReturnStatement:
		w.addReturn(w.convertAny(s.Argument))
	case *ast.ThrowStatement:
		w.convertAny(s.Argument)
	case *ast.LabelledStatement:
		w.walkStatement(s.Statement)
	default:
		w.walkBranch(statement)
	}
}

// walkBranch reads statements whose parts do not always run.
func (w *walker) walkBranch(statement ast.Statement) {
	switch s := statement.(type) {
	case *ast.IfStatement:
		w.convertAny(s.Test)
		w.walkConditional(s.Consequent)
		w.walkConditional(s.Alternate)
	case *ast.ForStatement:
		switch begin := s.Initializer.(type) {
		case *ast.ForLoopInitializerExpression:
			w.convertAny(begin.Expression)
		case *ast.ForLoopInitializerVarDeclList:
			w.walkBindings(begin.List)
		case *ast.ForLoopInitializerLexicalDecl:
			w.walkBindings(begin.LexicalDeclaration.List)
		}
		w.convertAny(s.Test)
		w.convertAny(s.Update)
		w.walkConditional(s.Body)
	case *ast.ForInStatement:
		w.convertAny(s.Source)
		w.walkConditional(s.Body)
	case *ast.ForOfStatement:
		w.convertAny(s.Source)
		w.walkConditional(s.Body)
	case *ast.WhileStatement:
		w.convertAny(s.Test)
		w.walkConditional(s.Body)
	case *ast.DoWhileStatement:
		w.walkStatement(s.Body)
		w.convertAny(s.Test)
	case *ast.WithStatement:
		w.convertAny(s.Object)
		w.walkStatement(s.Body)
	case *ast.SwitchStatement:
		w.convertAny(s.Discriminant)
		for _, part := range s.Body {
			w.convertAny(part.Test)
			w.conditional++
			w.walkAll(part.Consequent)
			w.conditional--
		}
	case *ast.TryStatement:
		w.walkAll(s.Body.List)
		if s.Catch != nil {
			w.walkConditional(s.Catch.Body)
		}
		if s.Finally != nil {
			w.walkAll(s.Finally.List)
		}
	}
}

func (w *walker) walkConditional(statement ast.Statement) {
	if statement == nil {
		return
	}
	w.conditional++
	w.walkStatement(statement)
	w.conditional--
}

// walkBindings reads declared variables. One that holds a function gives it its name, as does
// one that holds a function that is passed on at once: const Row = React.memo(() => …).
func (w *walker) walkBindings(bindings []*ast.Binding) {
	for _, binding := range bindings {
		name := ""
		if target, ok := binding.Target.(*ast.Identifier); ok {
			name = target.Name.String()
		}
		if binding.Initializer == nil {
			continue
		}
		if module, ok := requiredModule(binding.Initializer); ok {
			w.namespaces[name] = module
			w.addImport(module, w.lineOf(binding.Initializer))
			continue
		}
		if name == "" || name != w.exported {
			w.convertNamed(name, binding.Initializer)
			continue
		}
		if strings.HasSuffix(name, "_default") { // esbuild's name for what has none
			name = "default"
		}
		w.file.Default = w.convertNamed(name, binding.Initializer)
	}
}

func (w *walker) addImport(module string, line int) {
	if module == elementModule || line == 0 {
		return
	}
	w.file.Imports = append(w.file.Imports, Import{From: module, Line: line})
}

// requiredModule reads require("x") and __toESM(require("x")).
func requiredModule(expression ast.Expression) (string, bool) {
	call, ok := expression.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) == 0 {
		return "", false
	}
	callee, ok := call.Callee.(*ast.Identifier)
	switch {
	case !ok:
		return "", false
	case callee.Name == "__toESM":
		return requiredModule(call.ArgumentList[0])
	case callee.Name == "require":
		if module, ok := call.ArgumentList[0].(*ast.StringLiteral); ok {
			return module.Value.String(), true
		}
	}
	return "", false
}

// readExports finds the variable of the default export in esbuild's __export(x, {default: () => y}).
func (w *walker) readExports(call *ast.CallExpression) bool {
	callee, ok := call.Callee.(*ast.Identifier)
	if !ok || !strings.HasPrefix(callee.Name.String(), "__export") || len(call.ArgumentList) != 2 {
		return false
	}
	object, ok := call.ArgumentList[1].(*ast.ObjectLiteral)
	if !ok {
		return false
	}
	for _, property := range object.Value {
		keyed, ok := property.(*ast.PropertyKeyed)
		if !ok || w.keyOf(keyed.Key) != "default" {
			continue
		}
		if arrow, ok := keyed.Value.(*ast.ArrowFunctionLiteral); ok {
			if body, ok := arrow.Body.(*ast.ExpressionBody); ok {
				if target, ok := body.Expression.(*ast.Identifier); ok {
					w.exported = target.Name.String()
				}
			}
		}
	}
	return true
}

func (w *walker) addReturn(value Value) {
	if w.function != nil && value.Kind != "" {
		w.function.Returns = append(w.function.Returns, value)
	}
}
