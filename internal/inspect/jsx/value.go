package jsx

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// maxCode is how much of a computed value is kept, in bytes.
const maxCode = 200

// convertAny reads an expression that may be missing.
func (w *walker) convertAny(expression ast.Expression) Value {
	if expression == nil {
		return Value{}
	}
	return w.convert(expression)
}

// convertNamed reads an expression whose function, if it is or is passed one, has a name.
func (w *walker) convertNamed(name string, expression ast.Expression) Value {
	outer := w.named
	w.named = name
	value := w.convert(expression)
	w.named = outer
	return value
}

// convert reads an expression, with the calls, functions and elements in it.
func (w *walker) convert(expression ast.Expression) Value {
	name := w.named
	w.named = ""
	value := Value{Line: w.lineOf(expression)}
	switch e := expression.(type) {
	case *ast.StringLiteral:
		value.Kind, value.Text = String, e.Value.String()
	case *ast.NumberLiteral:
		value.Kind, value.Text = Number, fmt.Sprint(e.Value)
	case *ast.BooleanLiteral:
		value.Kind, value.Text = Boolean, strconv.FormatBool(e.Value)
	case *ast.NullLiteral:
		value.Kind, value.Text = Null, "null"
	case *ast.ArrayLiteral:
		value.Kind, value.Items = List, w.convertAll(e.Value)
	case *ast.ObjectLiteral:
		value.Kind, value.Fields = Object, w.convertFields(e.Value)
	case *ast.FunctionLiteral:
		value.Kind, value.Function = Func, w.readFunction(name, e)
	case *ast.ArrowFunctionLiteral:
		value.Kind, value.Function = Func, w.readArrow(name, e)
	case *ast.ClassLiteral:
		w.convertClass(e)
		value.Kind = Other
	case *ast.Identifier, *ast.ThisExpression, *ast.SuperExpression, *ast.DotExpression, *ast.PrivateDotExpression, *ast.BracketExpression:
		value.Kind, value.Text = Reference, w.pathOf(e)
	case *ast.CallExpression:
		return w.convertCall(name, e)
	case *ast.NewExpression:
		value.Kind, value.Text, value.Items = Made, w.pathOf(e.Callee), w.convertAll(e.ArgumentList)
	default:
		return w.convertComputed(expression, value)
	}
	return value
}

// convertComputed reads what has no value that could be told without running it.
func (w *walker) convertComputed(expression ast.Expression, value Value) Value {
	value.Kind, value.Text = Other, w.codeOf(expression)
	switch e := expression.(type) {
	case *ast.OptionalChain:
		return w.convert(e.Expression)
	case *ast.Optional:
		return w.convert(e.Expression)
	case *ast.AssignExpression:
		w.convertAssign(e)
	case *ast.BinaryExpression:
		w.convert(e.Left)
		if e.Operator == token.LOGICAL_AND || e.Operator == token.LOGICAL_OR || e.Operator == token.COALESCE {
			w.conditional++
			defer func() { w.conditional-- }()
		}
		w.convert(e.Right)
	case *ast.ConditionalExpression:
		w.convert(e.Test)
		w.conditional++
		w.convert(e.Consequent)
		w.convert(e.Alternate)
		w.conditional--
	case *ast.UnaryExpression:
		if operand := w.convert(e.Operand); e.Operator == token.MINUS && operand.Kind == Number {
			value.Kind, value.Text = Number, "-"+operand.Text
		}
	case *ast.SequenceExpression:
		values := w.convertAll(e.Sequence)
		return values[len(values)-1]
	case *ast.TemplateLiteral:
		w.convertAny(e.Tag)
		w.convertAll(e.Expressions)
		if len(e.Expressions) == 0 && len(e.Elements) == 1 && e.Tag == nil {
			value.Kind, value.Text = String, e.Elements[0].Parsed.String()
		}
	case *ast.AwaitExpression:
		return w.convert(e.Argument)
	case *ast.YieldExpression:
		w.convertAny(e.Argument)
	case *ast.SpreadElement:
		w.convert(e.Expression)
	}
	return value
}

func (w *walker) convertAll(expressions []ast.Expression) []Value {
	var values []Value
	for _, expression := range expressions {
		if expression != nil {
			values = append(values, w.convert(expression))
		}
	}
	return values
}

func (w *walker) convertFields(properties []ast.Property) []Field {
	var fields []Field
	for _, property := range properties {
		switch p := property.(type) {
		case *ast.PropertyKeyed:
			field := Field{Name: w.keyOf(p.Key), Line: w.lineOf(p.Key), Value: w.convert(p.Value)}
			if p.Computed {
				field.Name = "[" + field.Name + "]"
			}
			fields = append(fields, field)
		case *ast.PropertyShort:
			line := w.lineOf(&p.Name)
			fields = append(fields, Field{Name: p.Name.Name.String(), Line: line, Value: Value{Kind: Reference, Text: p.Name.Name.String(), Line: line}})
		case *ast.SpreadElement:
			fields = append(fields, Field{Name: "...", Line: w.lineOf(p), Value: w.convert(p.Expression)})
		}
	}
	return fields
}

func (w *walker) keyOf(key ast.Expression) string {
	switch k := key.(type) {
	case *ast.StringLiteral:
		return k.Value.String()
	case *ast.Identifier:
		return k.Name.String()
	case *ast.NumberLiteral:
		return fmt.Sprint(k.Value)
	}
	return w.codeOf(key)
}

// convertCall reads a call, or the element that one makes.
func (w *walker) convertCall(name string, call *ast.CallExpression) Value {
	if w.readExports(call) {
		return Value{}
	}
	if w.isElement(call) {
		element := w.readElement(call)
		return Value{Kind: Rendered, Element: element, Line: element.Line}
	}
	path := w.pathOf(call.Callee)
	value := Value{Kind: Called, Text: path, Line: w.lineOf(call)}
	if line := w.lineOfEnd(call.Callee); line > 0 {
		value.Line = line
	}
	for _, argument := range call.ArgumentList {
		value.Items = append(value.Items, w.convertNamed(name, argument))
	}
	if path != "" && value.Line > 0 { // without a line it is esbuild's own
		w.addCall(Call{Path: path, Arguments: value.Items, Line: value.Line, Conditional: w.conditional > 0})
	}
	return value
}

// lineOfEnd is the line of the last name of a callee: calls are chained over lines.
func (w *walker) lineOfEnd(callee ast.Expression) int {
	switch e := callee.(type) {
	case *ast.SequenceExpression: // (0, imported.name)(…)
		line, _ := w.sourceOf(e.Sequence[len(e.Sequence)-1].Idx0())
		return line
	case *ast.DotExpression:
		line, _ := w.sourceOf(e.Identifier.Idx)
		return line
	case *ast.OptionalChain:
		return w.lineOfEnd(e.Expression)
	case *ast.Optional:
		return w.lineOfEnd(e.Expression)
	}
	return 0
}

func (w *walker) addCall(call Call) {
	if w.function == nil {
		w.file.Calls = append(w.file.Calls, call)
		return
	}
	for function := w.function; function != nil; function = function.outer {
		function.Calls = append(function.Calls, call)
		if function.Name != "" {
			return
		}
		call.Deferred, call.Conditional = true, call.Conditional || function.inCondition
	}
}

func (w *walker) convertAssign(e *ast.AssignExpression) {
	path := w.pathOf(e.Left)
	assign := Assign{Path: path, Line: w.lineOf(e.Left), Conditional: w.conditional > 0}
	assign.Value = w.convertNamed(path, e.Right)
	if path == "" || assign.Line == 0 { // esbuild's own
		return
	}
	if w.function == nil {
		w.file.Assigns = append(w.file.Assigns, assign)
		return
	}
	for function := w.function; function != nil; function = function.outer {
		function.Assigns = append(function.Assigns, assign)
		if function.Name != "" {
			return
		}
		assign.Deferred, assign.Conditional = true, assign.Conditional || function.inCondition
	}
}

// pathOf writes a reference with dots, and reads what is computed in it; "" for none.
func (w *walker) pathOf(expression ast.Expression) string {
	switch e := expression.(type) {
	case *ast.Identifier:
		if _, ok := w.namespaces[e.Name.String()]; ok {
			return w.file.nameAt(w.sourceOf(e.Idx))
		}
		return e.Name.String()
	case *ast.ThisExpression:
		return "this"
	case *ast.SuperExpression:
		return "super"
	case *ast.DotExpression:
		if space, ok := e.Left.(*ast.Identifier); ok && w.namespaces[space.Name.String()] != "" {
			if line, column := w.sourceOf(e.Idx0()); line > 0 {
				return w.file.nameAt(line, column)
			}
		}
		return joinPath(w.pathOf(e.Left), e.Identifier.Name.String())
	case *ast.PrivateDotExpression:
		return joinPath(w.pathOf(e.Left), "#"+e.Identifier.Name.String())
	case *ast.BracketExpression:
		left := w.pathOf(e.Left)
		if member, ok := e.Member.(*ast.StringLiteral); ok {
			return joinPath(left, member.Value.String())
		}
		w.convert(e.Member)
		return left + "[]"
	case *ast.OptionalChain:
		return w.pathOf(e.Expression)
	case *ast.Optional:
		return w.pathOf(e.Expression)
	case *ast.SequenceExpression: // (0, imported.name)(…)
		return w.pathOf(e.Sequence[len(e.Sequence)-1])
	case *ast.CallExpression:
		made := w.convertCall("", e)
		return made.Text + "()"
	}
	w.convert(expression)
	return ""
}

func joinPath(left, member string) string {
	if left == "" {
		return ""
	}
	return left + "." + member
}

// codeOf is the beginning of an expression as code.
func (w *walker) codeOf(expression ast.Expression) string {
	from, to := int(expression.Idx0())-1, int(expression.Idx1())-1
	if from < 0 || to > len(w.code) || from >= to {
		return ""
	}
	if to-from > maxCode {
		return w.code[from:from+maxCode] + "…"
	}
	return w.code[from:to]
}

// isElement tells whether esbuild made a call of an element.
func (w *walker) isElement(call *ast.CallExpression) bool {
	callee := call.Callee
	if sequence, ok := callee.(*ast.SequenceExpression); ok {
		callee = sequence.Sequence[len(sequence.Sequence)-1]
	}
	member, ok := callee.(*ast.DotExpression)
	if !ok || member.Identifier.Name != elementMember || len(call.ArgumentList) < 5 {
		return false
	}
	space, ok := member.Left.(*ast.Identifier)
	return ok && w.namespaces[space.Name.String()] == elementModule
}

// readElement reads jsxDEV(type, props, key, static, {fileName, lineNumber, columnNumber}).
func (w *walker) readElement(call *ast.CallExpression) *Element {
	element := &Element{Parent: w.element, Function: w.namedFunction()}
	if place, ok := call.ArgumentList[4].(*ast.ObjectLiteral); ok {
		for _, field := range w.convertFields(place.Value) {
			number, err := strconv.ParseFloat(field.Value.Text, 64)
			switch {
			case err != nil:
			case field.Name == "lineNumber":
				element.Line = int(number)
			case field.Name == "columnNumber":
				element.Column = int(number)
			}
		}
	}
	element.Tag = cmp.Or(w.file.nameAt(element.Line, element.Column-1), Fragment)
	if tag, ok := call.ArgumentList[0].(*ast.StringLiteral); ok {
		element.Tag = tag.Value.String()
	}
	w.file.Elements = append(w.file.Elements, element)
	outer := w.element
	w.element = element
	if _, ok := call.ArgumentList[1].(*ast.ObjectLiteral); ok {
		element.Props = w.convert(call.ArgumentList[1]).Fields
	} else {
		w.convert(call.ArgumentList[1])
	}
	w.element = outer
	return element
}

func (w *walker) namedFunction() *Function {
	function := w.function
	for function != nil && function.Name == "" {
		function = function.outer
	}
	return function
}

func (w *walker) readFunction(name string, literal *ast.FunctionLiteral) *Function {
	if name == "" && literal.Name != nil {
		name = literal.Name.Name.String()
	}
	return w.readBody(name, literal, literal.ParameterList, func() { w.walkAll(literal.Body.List) })
}

func (w *walker) readArrow(name string, literal *ast.ArrowFunctionLiteral) *Function {
	return w.readBody(name, literal, literal.ParameterList, func() {
		switch body := literal.Body.(type) {
		case *ast.BlockStatement:
			w.walkAll(body.List)
		case *ast.ExpressionBody:
			w.addReturn(w.convert(body.Expression))
		}
	})
}

// readBody reads a function. A nameless one is a part of the element that it stands in, a named
// one is not.
func (w *walker) readBody(name string, literal ast.Node, parameters *ast.ParameterList, walk func()) *Function {
	function := &Function{Name: name, Line: w.lineOf(literal), outer: w.function, inCondition: w.conditional > 0}
	function.End, _ = w.sourceOf(literal.Idx1() - 1)
	outer, element, conditional := w.function, w.element, w.conditional
	w.function, w.conditional = function, 0
	if name != "" {
		w.element = nil
	}
	if name != "" && function.Line > 0 { // without a line it is esbuild's own
		w.file.Functions = append(w.file.Functions, function)
	}
	for _, parameter := range parameters.List {
		function.Params = append(function.Params, w.namesIn(parameter.Target)...)
		w.convertAny(parameter.Initializer)
	}
	walk()
	w.function, w.element, w.conditional = outer, element, conditional
	for _, call := range function.Calls {
		function.End = max(function.End, call.Line)
	}
	function.End = max(function.End, function.Line)
	return function
}

func (w *walker) namesIn(target ast.Expression) []string {
	switch t := target.(type) {
	case *ast.Identifier:
		return []string{t.Name.String()}
	case *ast.ObjectPattern:
		var names []string
		for _, property := range t.Properties {
			switch p := property.(type) {
			case *ast.PropertyShort:
				names = append(names, p.Name.Name.String())
			case *ast.PropertyKeyed:
				names = append(names, w.keyOf(p.Key))
			}
		}
		return names
	}
	return nil
}

func (w *walker) convertClass(class *ast.ClassLiteral) {
	name := ""
	if class.Name != nil {
		name = strings.TrimPrefix(class.Name.Name.String(), "_") + "."
	}
	w.convertAny(class.SuperClass)
	for _, member := range class.Body {
		switch m := member.(type) {
		case *ast.MethodDefinition:
			w.readFunction(name+w.keyOf(m.Key), m.Body)
		case *ast.FieldDefinition:
			if m.Initializer != nil {
				w.convertNamed(name+w.keyOf(m.Key), m.Initializer)
			}
		case *ast.ClassStaticBlock:
			w.walkAll(m.Block.List)
		}
	}
}
