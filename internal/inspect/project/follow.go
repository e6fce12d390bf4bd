package project

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// StepKind is what a step does.
type StepKind string

// The kinds of steps.
const (
	CallsFunction StepKind = "call"     // of a function of the page: Subject
	CallsUnknown  StepKind = "unknown"  // of a function that the files read don't define: Subject
	Navigates     StepKind = "navigate" // by the action Subject to the page Object
	Requests      StepKind = "request"  // by the variable Subject, of the operation Object; or of an address
	Reads         StepKind = "model"    // Subject is a variable with data of the app, Object what is done to it
	UsesDevice    StepKind = "device"   // by the variable Subject: Object is the operation
	Notifies      StepKind = "notify"   // shows a message: Object
	Acts          StepKind = "action"   // another action, Subject; Object is its class
	SetsProperty  StepKind = "set"      // of the widget Subject: Object is "caption = 'Done'"
	CallsWidget   StepKind = "widget"   // the method Object of the widget Subject
	GoesBack      StepKind = "back"     // to the page before, or opens the drawer: Object
	Answers       StepKind = "answer"   // of the server, to the request of the step before
)

// Step is one thing that an event leads to.
type Step struct {
	Kind    StepKind `json:"kind"`
	Depth   int      `json:"depth"` // 0 is what the handler does itself
	Subject string   `json:"subject"`
	Object  string   `json:"object,omitempty"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	// Defined is where the function, variable or action stands, "" where that is not known.
	DefinedFile string `json:"defined_file,omitempty"`
	DefinedLine int    `json:"defined_line,omitempty"`
	// Conditional steps are taken in some cases only, Deferred ones later.
	Conditional bool `json:"conditional,omitempty"`
	Deferred    bool `json:"deferred,omitempty"`
}

// Bounds of what is followed.
const (
	maxFollowDepth = 8
	maxSteps       = 60
)

// origin is whose member a path names.
type origin int

const (
	ofFile origin = iota // a function of the file itself
	ofPage
	ofApp
	ofVariable
	ofAction
	ofWidget
	ofOther
)

// target is a path that was read: of "Page.App.Variables.users.invoke" the origin is
// ofVariable, the name "users", the member "invoke", and app is true.
type target struct {
	of           origin
	name, member string
	app          bool
}

// holders are what pages and partials are called in their code.
var holders = map[string]bool{"fragment": true, "Page": true, "Partial": true, "Prefab": true, "this": true, "App": true, "_this": true, "props": true}

func parseTarget(path string) target {
	parts := strings.Split(path, ".")
	if strings.Contains(path, "()") { // a member of what a call gives
		return target{of: ofOther, name: path}
	}
	if len(parts) == 1 {
		return target{of: ofFile, name: path}
	}
	held, app := false, false
	for len(parts) > 1 && holders[parts[0]] {
		held, app = true, app || parts[0] == "App"
		parts = parts[1:]
	}
	if !held {
		return target{of: ofOther, name: path}
	}
	groups := map[string]origin{"Variables": ofVariable, "Actions": ofAction, "Widgets": ofWidget}
	if group, ok := groups[parts[0]]; ok && len(parts) > 1 {
		return target{of: group, name: parts[1], member: strings.Join(parts[2:], "."), app: app}
	}
	if len(parts) > 1 {
		return target{of: ofOther, name: path}
	}
	if app {
		return target{of: ofApp, name: parts[0], app: true}
	}
	return target{of: ofPage, name: parts[0]}
}

// follower collects the steps that code leads to.
type follower struct {
	sources *Sources
	steps   []Step
	seen    map[string]bool // functions, variables and actions that were followed
	outer   Step            // what the steps below have from the one above: Conditional, Deferred
}

func (f *follower) add(step Step) {
	step.Conditional = step.Conditional || f.outer.Conditional
	step.Deferred = step.Deferred || f.outer.Deferred
	if len(f.steps) < maxSteps {
		f.steps = append(f.steps, step)
	}
}

// followFunction takes the calls and assignments of a function in the order of their lines.
func (f *follower) followFunction(file *jsx.File, function *jsx.Function, depth int) {
	calls, assigns := function.Calls, function.Assigns
	for len(calls)+len(assigns) > 0 && len(f.steps) < maxSteps {
		if len(assigns) == 0 || len(calls) > 0 && calls[0].Line <= assigns[0].Line {
			f.followCall(file, calls[0], depth)
			calls = calls[1:]
			continue
		}
		f.followAssign(file, assigns[0], depth)
		assigns = assigns[1:]
	}
}

func (f *follower) followAssign(file *jsx.File, assign jsx.Assign, depth int) {
	if widget, property, ok := widgetMember(assign.Path); ok {
		f.add(Step{
			Kind: SetsProperty, Depth: depth, Subject: widget, Object: property + " = " + describeValue(assign.Value),
			File: file.Path, Line: assign.Line, Conditional: assign.Conditional, Deferred: assign.Deferred,
		})
	}
}

// quiet are functions that tell people nothing: what they do is done by what they are given.
var quiet = []string{"setTimeout", "setInterval", "clearTimeout", "clearInterval", "require", "parseInt", "parseFloat", "String", "Number", "Boolean", "isNaN"}

func (f *follower) followCall(file *jsx.File, call jsx.Call, depth int) {
	step := Step{Depth: depth, Subject: call.Path, File: file.Path, Line: call.Line, Conditional: call.Conditional, Deferred: call.Deferred}
	if depth > maxFollowDepth {
		return
	}
	aimed := parseTarget(call.Path)
	step.Subject = aimed.name
	switch aimed.of {
	case ofVariable, ofAction:
		f.followDeclared(file, aimed, step)
	case ofWidget:
		step.Kind, step.Object = CallsWidget, aimed.member
		f.add(step)
	case ofPage, ofApp, ofFile:
		f.followNamed(file, aimed, step, call)
	default:
		f.followOther(step, call)
	}
}

// followNamed follows a call of a function by its name.
func (f *follower) followNamed(file *jsx.File, aimed target, step Step, call jsx.Call) {
	if function, in := f.sources.definitionOf(file, call.Path); function != nil {
		step.Kind, step.DefinedFile, step.DefinedLine = CallsFunction, in.Path, function.Line
		f.add(step)
		f.enter(in.Path+"#"+function.Name, step, func() { f.followFunction(in, function, step.Depth+1) })
		return
	}
	switch aimed.name {
	case "goBack":
		step.Kind, step.Object = GoesBack, "the page before"
	case "toggleDrawer":
		step.Kind, step.Object = GoesBack, "the drawer"
	case "fetch":
		step.Kind, step.Object = Requests, firstArgument(call)
	case "alert", "confirm":
		step.Kind, step.Object = Notifies, firstArgument(call)
	case "eval", "onComponentInit", "onComponentDestroy":
		return // the generator's own
	default:
		if slices.Contains(quiet, aimed.name) || strings.ContainsAny(aimed.name, "()[]") {
			return
		}
		step.Kind = CallsUnknown
	}
	f.add(step)
}

// followOther tells of calls that leave the page's code: requests, and messages.
func (f *follower) followOther(step Step, call jsx.Call) {
	root, _, _ := strings.Cut(call.Path, ".")
	method := call.Path[strings.LastIndexByte(call.Path, '.')+1:]
	switch {
	case root == "axios" || root == "http" || root == "$http":
		step.Kind, step.Object = Requests, strings.ToUpper(method)+" "+firstArgument(call)
	case strings.HasSuffix(call.Path, ".fetch"):
		step.Kind, step.Object = Requests, firstArgument(call)
	default:
		return
	}
	f.add(step)
}

func firstArgument(call jsx.Call) string {
	if len(call.Arguments) == 0 {
		return ""
	}
	return describeValue(call.Arguments[0])
}

// enter follows what a step leads to, once.
func (f *follower) enter(key string, step Step, follow func()) {
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	outer := f.outer
	f.outer.Conditional = outer.Conditional || step.Conditional
	f.outer.Deferred = outer.Deferred || step.Deferred
	follow()
	f.outer = outer
}
