package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"regexp"
	"strconv"
)

// Handler is what handles an event of a control.
type Handler struct {
	Event string `json:"event"`          // "click"
	By    string `json:"by"`             // "React", "Preact", "Vue", "Svelte", or "listener"
	Name  string `json:"name,omitempty"` // of the function, short in a minified build; "" for none
	Place
}

// marksFunction collects the handlers that frameworks note at elements.
//
//go:embed marks.js
var marksFunction string

// ancestorsFunction gives an element and those that it stands in.
const ancestorsFunction = `function () {
  const all = [];
  for (let at = this.nodeType === 1 ? this : this.parentElement; at && all.length < 10; at = at.parentElement) all.push(at);
  return all;
}`

// remote is a value in the page.
type remote struct {
	ID          string `json:"objectId"`
	Value       any    `json:"value"`
	Description string `json:"description"` // of a function: its code
}

// properties are the properties of an object in the page, those of Chromium's own among them.
type properties struct {
	Own []struct {
		Name  string `json:"name"`
		Value remote `json:"value"`
	} `json:"result"`
	Internal []struct {
		Name  string `json:"name"`
		Value remote `json:"value"`
	} `json:"internalProperties"`
}

// callArray calls a function on an object, and gives the items of the list that it returns.
func callArray(ctx context.Context, function, object string) ([]remote, error) {
	called, err := execute[struct {
		Result remote `json:"result"`
	}](ctx, "Runtime.callFunctionOn", map[string]any{"functionDeclaration": function, "objectId": object, "silent": true})
	if err != nil || called.Result.ID == "" {
		return nil, err
	}
	read, err := execute[properties](ctx, "Runtime.getProperties", map[string]any{"objectId": called.Result.ID, "ownProperties": true})
	if err != nil {
		return nil, err
	}
	var items []remote
	for _, property := range read.Own {
		if index, err := strconv.Atoi(property.Name); err == nil && index == len(items) {
			items = append(items, property.Value)
		}
	}
	return items, nil
}

// findHandlers finds what handles the events of an element: by the marks of frameworks, else by
// its listeners, on it or on the nearest element around it that has any.
func (l *look) findHandlers(ctx context.Context, object string) (handlers []Handler, components []string, err error) {
	items, err := callArray(ctx, marksFunction, object)
	if err != nil {
		return nil, nil, err
	}
	var told struct {
		Handlers   []struct{ Event, By string }
		Components []string
	}
	if len(items) > 0 {
		text, _ := items[0].Value.(string)
		if json.Unmarshal([]byte(text), &told) != nil {
			l.addProblem("the page hides the marks of its framework")
		}
	}
	for _, component := range told.Components[:min(len(told.Components), 10)] {
		components = append(components, l.cut(component))
	}
	for i, one := range told.Handlers {
		if i+1 >= len(items) {
			break
		}
		handler, ok, err := l.describeFunction(ctx, items[i+1])
		if err != nil {
			return nil, nil, err
		}
		if handler.Event, handler.By = l.cut(one.Event), l.cut(one.By); ok {
			handlers = append(handlers, handler)
		}
	}
	if len(handlers) > 0 {
		return handlers, components, nil
	}
	handlers, err = l.findListeners(ctx, object)
	return handlers, components, err
}

func (l *look) findListeners(ctx context.Context, object string) ([]Handler, error) {
	elements, err := callArray(ctx, ancestorsFunction, object)
	if err != nil {
		return nil, err
	}
	var handlers []Handler
	for _, element := range elements {
		found, err := execute[struct {
			Listeners []struct {
				Type    string `json:"type"`
				Script  string `json:"scriptId"`
				Line    int    `json:"lineNumber"`
				Column  int    `json:"columnNumber"`
				Handler remote `json:"handler"`
			} `json:"listeners"`
		}](ctx, "DOMDebugger.getEventListeners", map[string]any{"objectId": element.ID})
		if err != nil {
			return nil, err
		}
		for _, listener := range found.Listeners {
			if place := l.locate(ctx, listener.Script, listener.Line, listener.Column, listener.Handler.Description); place.File != "" {
				handlers = append(handlers, Handler{Event: l.cut(listener.Type), By: "listener", Name: l.cut(nameFunction(listener.Handler.Description)), Place: place})
			}
		}
		if len(handlers) > 0 {
			break
		}
	}
	return handlers, nil
}

// describeFunction gives the name and place of a function; ok is false where it has none. Of one
// that was bound, or only calls another one, the place is that of the function behind it.
func (l *look) describeFunction(ctx context.Context, function remote) (handler Handler, ok bool, err error) {
	for range 3 {
		if function.ID == "" {
			return Handler{}, false, nil
		}
		read, err := execute[properties](ctx, "Runtime.getProperties", map[string]any{"objectId": function.ID, "ownProperties": true})
		if err != nil {
			return Handler{}, false, err
		}
		for _, property := range read.Own {
			if name, isText := property.Value.Value.(string); property.Name == "name" && isText && handler.Name == "" {
				handler.Name = l.cut(name)
			}
		}
		if behind, ok, err := findForwarded(ctx, function, read); err != nil || ok {
			if err != nil {
				return Handler{}, false, err
			}
			function = behind
			continue
		}
		code := function.Description
		function = remote{}
		for _, property := range read.Internal {
			at, _ := property.Value.Value.(map[string]any)
			switch property.Name {
			case "[[FunctionLocation]]":
				scriptID, _ := at["scriptId"].(string)
				line, _ := at["lineNumber"].(float64)
				column, _ := at["columnNumber"].(float64)
				handler.Place = l.locate(ctx, scriptID, int(line), int(column), code)
				return handler, handler.File != "", nil
			case "[[TargetFunction]]":
				function = property.Value
			}
		}
	}
	return Handler{}, false, nil
}

// functionName finds the name in the code of a function.
var functionName = regexp.MustCompile(`^(?:async\s+)?function\s*\*?\s*([\w$]+)`)

// nameFunction is the name that a function's code gives it, "" for none.
func nameFunction(code string) string {
	if found := functionName.FindStringSubmatch(code); found != nil {
		return found[1]
	}
	return ""
}

// forwarding is the code of a function that only calls another one, as Svelte's compiler writes it:
// a variable, a member of one, a member whose name is a signal's value, or a signal's value itself.
var forwarding = regexp.MustCompile(`^function\s*\(\.\.\.([\w$]+)\)\s*\{\s*(?:([\w$]+)(?:\.([\w$]+)|\[[\w$.]+\(([\w$]+)\)\])?|[\w$.]+\(([\w$]+)\))\?\.apply\(this,\s*([\w$]+)\);?\s*\}$`)

// signalValue is the property of Svelte's signals that has their value.
const signalValue = "v"

// findForwarded finds the function that another one only calls, among the variables that this one
// sees; ok is false where it does something else. Nothing is called for that.
func findForwarded(ctx context.Context, function remote, read properties) (behind remote, ok bool, err error) {
	code := forwarding.FindStringSubmatch(function.Description)
	if code == nil || code[1] != code[6] {
		return remote{}, false, nil
	}
	variable, member, nameSignal, signal := code[2], code[3], code[4], code[5]
	if nameSignal != "" {
		name, ok, err := findSignal(ctx, read, nameSignal)
		if member, _ = name.Value.(string); err != nil || !ok || member == "" {
			return remote{}, false, err
		}
	}
	if signal != "" {
		found, ok, err := findSignal(ctx, read, signal)
		return found, ok && found.ID != "", err
	}
	found, ok, err := findVariable(ctx, read, variable)
	if err == nil && ok && member != "" {
		found, ok, err = findProperty(ctx, found, member)
	}
	return found, ok && found.ID != "", err
}

// findSignal reads the value of a signal, a variable that a function sees.
func findSignal(ctx context.Context, function properties, name string) (value remote, ok bool, err error) {
	signal, ok, err := findVariable(ctx, function, name)
	if err != nil || !ok {
		return remote{}, false, err
	}
	return findProperty(ctx, signal, signalValue)
}

// findVariable reads a variable that a function sees.
func findVariable(ctx context.Context, function properties, name string) (value remote, ok bool, err error) {
	for _, internal := range function.Internal {
		if internal.Name != "[[Scopes]]" {
			continue
		}
		scopes, err := execute[properties](ctx, "Runtime.getProperties", map[string]any{"objectId": internal.Value.ID, "ownProperties": true})
		if err != nil {
			return remote{}, false, err
		}
		for _, scope := range scopes.Own {
			if value, ok, err = findProperty(ctx, scope.Value, name); err != nil || ok {
				return value, ok, err
			}
		}
	}
	return remote{}, false, nil
}

// findProperty reads a property that an object has itself.
func findProperty(ctx context.Context, object remote, name string) (value remote, ok bool, err error) {
	if object.ID == "" {
		return remote{}, false, nil
	}
	read, err := execute[properties](ctx, "Runtime.getProperties", map[string]any{"objectId": object.ID, "ownProperties": true})
	if err != nil {
		return remote{}, false, err
	}
	for _, property := range read.Own {
		if property.Name == name {
			return property.Value, true, nil
		}
	}
	return remote{}, false, nil
}
