// Package jsx reads JavaScript and TypeScript, with JSX or without: the elements, functions,
// calls, assignments and objects of a file, each with its line in the source. esbuild turns
// the file into plain JavaScript with a source map, and the parser of goja reads that. Nothing
// of a file is ever run.
//
// Reading order: jsx.go (what a file is), guard.go (limits), parse.go, walk.go (statements),
// value.go (expressions).
package jsx

import (
	"fmt"
	"strings"
)

// File is a source file that was read.
type File struct {
	Path      string
	Imports   []Import
	Elements  []*Element  // in the order of the source
	Functions []*Function // those with a name, in the order of the source
	Assigns   []Assign    // outside of functions
	Calls     []Call      // outside of functions
	// Default is what the file exports by default; Kind "" for nothing.
	Default Value
	lines   []string
}

// Import is an import of another file or package.
type Import struct {
	From string // as it is written: "./Main.script"
	Line int
}

// Kind is what a Value is.
type Kind string

// The kinds of values. A Reference is a name with members: Text is "fragment.App.theme".
// Other is what is computed: Text is its beginning as code.
const (
	String    Kind = "string"
	Number    Kind = "number"
	Boolean   Kind = "boolean"
	Null      Kind = "null"
	List      Kind = "list"
	Object    Kind = "object"
	Func      Kind = "function"
	Rendered  Kind = "element"
	Reference Kind = "reference"
	Called    Kind = "call" // Text is the callee, Items are the arguments
	Made      Kind = "new"  // Text is the class, Items are the arguments
	Other     Kind = "other"
)

// Value is an expression as far as it can be read without running it.
type Value struct {
	Kind     Kind
	Text     string
	Fields   []Field   // of an Object
	Items    []Value   // of a List, a call or a new
	Function *Function // of a Func
	Element  *Element  // of a Rendered
	Line     int       // 1-based
}

// Field is a property of an object or an attribute of an element.
type Field struct {
	Name  string
	Value Value
	Line  int
}

// Get returns the value of a field; ok is false where there is none.
func (v Value) Get(name string) (Value, bool) { return getField(v.Fields, name) }

func getField(fields []Field, name string) (Value, bool) {
	for _, field := range fields {
		if field.Name == name {
			return field.Value, true
		}
	}
	return Value{}, false
}

// IsLiteral tells whether the value is text, a number, a truth value or null.
func (v Value) IsLiteral() bool {
	return v.Kind == String || v.Kind == Number || v.Kind == Boolean || v.Kind == Null
}

// Fragment is the tag of an element without one: <>…</>.
const Fragment = "Fragment"

// Element is an element of JSX.
type Element struct {
	Tag      string // as it is written: "WmButton"
	Props    []Field
	Line     int       // of its name
	Column   int       // 1-based, in UTF-16 units
	Parent   *Element  // nil at the top of what a function gives
	Function *Function // the named function that it stands in, nil for none
}

// Prop returns the value of an attribute; ok is false where there is none.
func (e *Element) Prop(name string) (Value, bool) { return getField(e.Props, name) }

// Text returns an attribute that is text, "" for any other.
func (e *Element) Text(name string) string {
	if value, ok := e.Prop(name); ok && value.Kind == String {
		return value.Text
	}
	return ""
}

// Function is a function with what it does. Calls and assignments of nameless functions in it
// are among its own, as Deferred.
type Function struct {
	Name        string // "checkWin", "Page.button2Tap", "MainPage.init"; "" for a nameless one
	Params      []string
	Line        int // of its beginning
	End         int // of its last line
	Calls       []Call
	Assigns     []Assign
	Returns     []Value // what it gives, in the order of the source
	outer       *Function
	inCondition bool // only some runs of outer come to it
}

// Call is a call of a function.
type Call struct {
	Path      string // "Page.Variables.users.invoke"; "Page.Widgets[].show" with a computed member
	Arguments []Value
	Line      int
	// Conditional is a call that only some runs of its function come to, Deferred one that a
	// nameless function in it makes.
	Conditional, Deferred bool
}

// Assign is an assignment to a name or a member.
type Assign struct {
	Path                  string // "Page.Widgets.label3.caption"
	Value                 Value
	Line                  int
	Conditional, Deferred bool
}

// SyntaxError is a mistake in a file.
type SyntaxError struct {
	Path string
	Line int // 1-based, 0 where it is not known
	Text string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Text)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Text)
}

// FunctionNamed returns the function of a name, nil for none.
func (f *File) FunctionNamed(name string) *Function {
	for _, function := range f.Functions {
		if function.Name == name {
			return function
		}
	}
	return nil
}

// Source returns the lines from first to last, at most most of them.
func (f *File) Source(first, last, most int) string {
	first, last = max(first, 1), min(last, len(f.lines), first+most-1)
	if first > last {
		return ""
	}
	return strings.Join(f.lines[first-1:last], "\n")
}

// Lines returns the number of lines.
func (f *File) Lines() int { return len(f.lines) }
