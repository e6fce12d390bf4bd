package webcode

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/repository"
)

// Bounds of what is followed.
const (
	maxDepth = 6
	maxFiles = 30
	maxSteps = 60
)

// follower follows one handler.
type follower struct {
	checkout *repository.Checkout
	files    map[string]*jsx.File // nil for what can't be read
	trace    Trace
}

// read parses a file of the project; nil where it can't be.
func (f *follower) read(name string) *jsx.File {
	if read, ok := f.files[name]; ok || len(f.files) >= maxFiles || !jsx.Reads(name) {
		return read
	}
	f.files[name] = nil
	content, err := f.checkout.Read(name)
	if err != nil {
		f.trace.Problems = append(f.trace.Problems, err.Error())
		return nil
	}
	f.trace.Files = append(f.trace.Files, name)
	read, wrong := jsx.Parse(name, content)
	if len(wrong) > 0 {
		f.trace.Problems = append(f.trace.Problems, wrong[0].Error())
		return nil
	}
	f.files[name] = read
	return read
}

// followLine follows the function that begins in a line, else the smallest around it.
func (f *follower) followLine(name string, line int) {
	file := f.read(name)
	if file == nil {
		return
	}
	var best *jsx.Function
	better := func(candidate *jsx.Function) bool {
		if best == nil || (candidate.Line == line) != (best.Line == line) {
			return best == nil || candidate.Line == line
		}
		return candidate.End-candidate.Line < best.End-best.Line
	}
	for _, candidate := range allFunctions(file) {
		if candidate.Line <= line && line <= candidate.End && better(candidate) {
			best = candidate
		}
	}
	if best == nil {
		f.trace.Problems = append(f.trace.Problems, fmt.Sprintf("%s:%d: there is no function", name, line))
		return
	}
	f.followFunction(name, best, nil, 0)
}

// allFunctions are the functions of a file, those without a name among them.
func allFunctions(file *jsx.File) []*jsx.Function {
	var all []*jsx.Function
	var addValue func(value jsx.Value, depth int)
	addCalls := func(calls []jsx.Call, assigns []jsx.Assign, depth int) {
		for _, call := range calls {
			for _, argument := range call.Arguments {
				addValue(argument, depth)
			}
		}
		for _, assign := range assigns {
			addValue(assign.Value, depth)
		}
	}
	addValue = func(value jsx.Value, depth int) {
		if depth > 2*maxDepth {
			return
		}
		if value.Function != nil && !slices.Contains(all, value.Function) {
			all = append(all, value.Function)
			addCalls(value.Function.Calls, value.Function.Assigns, depth+1)
		}
		for _, field := range value.Fields {
			addValue(field.Value, depth+1)
		}
		for _, item := range value.Items {
			addValue(item, depth+1)
		}
	}
	for _, function := range file.Functions {
		all = append(all, function)
		addCalls(function.Calls, function.Assigns, 0)
	}
	addCalls(file.Calls, file.Assigns, 0)
	for _, element := range file.Elements {
		for _, prop := range element.Props {
			addValue(prop.Value, 0)
		}
	}
	return all
}

// followFunction records the requests of a function, and follows the functions that it calls.
// given are the values of its parameters.
func (f *follower) followFunction(name string, function *jsx.Function, given map[string]jsx.Value, depth int) {
	for _, call := range function.Calls {
		if len(f.trace.Steps) >= maxSteps {
			return
		}
		arguments := make([]jsx.Value, len(call.Arguments))
		for i, argument := range call.Arguments {
			arguments[i] = argument
			if value, ok := given[argument.Text]; ok && argument.Kind == jsx.Reference {
				arguments[i] = value
			}
		}
		step := project.Step{Depth: depth, File: name, Line: call.Line, Conditional: call.Conditional, Deferred: call.Deferred}
		if request, ok := readRequest(call.Path, arguments); ok {
			step.Kind, step.Subject, step.Object = project.Requests, "fetch", request.method+" "+request.path
			f.trace.Steps = append(f.trace.Steps, step)
			for _, route := range f.findRoutes(request, Place{name, call.Line}) {
				f.trace.Steps = append(f.trace.Steps, project.Step{Kind: project.Answers, Depth: depth + 1, File: route.File, Line: route.Line})
			}
			continue
		}
		if in, called := f.resolve(name, call.Path); called != nil && depth < maxDepth && called != function {
			step.Kind, step.Subject, step.DefinedFile, step.DefinedLine = project.CallsFunction, called.Name, in, called.Line
			f.trace.Steps = append(f.trace.Steps, step)
			values := make(map[string]jsx.Value)
			for i, parameter := range called.Params[:min(len(called.Params), len(arguments))] {
				values[parameter] = arguments[i]
			}
			f.followFunction(in, called, values, depth+1)
		}
	}
}

// requestMethods are the methods that clients have functions for: axios.post, api.delete.
var requestMethods = []string{"get", "post", "put", "patch", "delete"}

// address is what requests are sent to.
var address = regexp.MustCompile(`^[\x60"']?(?:https?://[^\s]+|/[^\s\x60"']*)`)

// request is a request that a handler sends.
type request struct {
	method string
	path   string // "/api/orders", "/api/orders/${id}"
}

func readRequest(callee string, arguments []jsx.Value) (request, bool) {
	if len(arguments) == 0 {
		return request{}, false
	}
	target := strings.Trim(address.FindString(arguments[0].Text), "`\"'")
	member := callee[strings.LastIndexByte(callee, '.')+1:]
	switch {
	case target == "" || arguments[0].Kind != jsx.String && arguments[0].Kind != jsx.Other:
		return request{}, false
	case member == "fetch" || callee == "axios":
		sent := request{method: "GET", path: target}
		if len(arguments) > 1 {
			if method, ok := arguments[1].Get("method"); ok && method.Kind == jsx.String {
				sent.method = strings.ToUpper(method.Text)
			}
		}
		return sent, true
	case strings.Contains(callee, ".") && slices.Contains(requestMethods, member):
		return request{method: strings.ToUpper(member), path: target}, true
	}
	return request{}, false
}

// resolve finds a function that a file calls: its own, else one of the files that it imports.
func (f *follower) resolve(name, callee string) (in string, function *jsx.Function) {
	file := f.read(name)
	if file == nil {
		return "", nil
	}
	if function := file.FunctionNamed(callee); function != nil {
		return name, function
	}
	member := callee[strings.LastIndexByte(callee, '.')+1:]
	for _, imported := range file.Imports {
		module := f.findModule(name, imported.From)
		if module == "" {
			continue
		}
		if read := f.read(module); read != nil {
			if function := read.FunctionNamed(member); function != nil {
				return module, function
			}
		}
	}
	return "", nil
}

// findModule finds the file of a relative import, "" for none.
func (f *follower) findModule(from, module string) string {
	if !strings.HasPrefix(module, ".") {
		return ""
	}
	target := path.Join(path.Dir(from), module)
	for _, ending := range []string{"", ".js", ".jsx", ".ts", ".tsx", ".mjs", "/index.js", "/index.jsx", "/index.ts", "/index.tsx"} {
		if jsx.Reads(target+ending) && f.checkout.Has(target+ending) {
			return target + ending
		}
	}
	return ""
}
