package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/project"
)

// webEvents are the events of a control that an action makes.
var webEvents = map[string][]string{
	"tap":    {"click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "submit"},
	"change": {"change", "input", "keydown", "keyup"},
	"select": {"change", "click", "select"},
	"blur":   {"blur", "focusout"},
}

// nameControl is what the control is called, "" where the question is about none.
func (r reading) nameControl() string {
	if r.View.Control == nil {
		return ""
	}
	return r.View.Control.Name
}

// The mappers of the control that the browser found, in the form of those of a page's files.

func (r reading) locateControl() []project.Location {
	control := r.View.Control
	if control == nil {
		return nil
	}
	at := project.Location{Widget: r.Widget, Tag: control.Role, Caption: control.Name}
	for _, component := range slices.Backward(control.Components) {
		at.Hierarchy = append(at.Hierarchy, project.Place{Tag: component})
	}
	return []project.Location{at}
}

func (r reading) mapControlHandlers() []project.Handler {
	if r.View.Control == nil {
		return nil
	}
	var handlers []project.Handler
	for i, handler := range r.View.Control.Handlers {
		made := project.Handler{Widget: r.Widget, Event: handler.Event, Handler: handler.Name, Source: handler.Code, File: handler.File, Line: handler.Line}
		if i < len(r.Traces) && r.Traces[i].File != "" {
			made.BoundFile, made.BoundLine, made.Steps = r.Traces[i].File, r.Traces[i].Line, r.Traces[i].Steps
		}
		handlers = append(handlers, made)
	}
	return handlers
}

func (r reading) mapControlStyles() []project.Style {
	if r.View.Control == nil {
		return nil
	}
	var styles []project.Style
	for _, style := range r.View.Control.Styles {
		styles = append(styles, project.Style{Widget: r.Widget, Class: style.Rule, Part: "root", Name: style.Name, Value: style.Value, File: style.File, Line: style.Line, Wins: true})
	}
	return styles
}

func (r reading) mapControlProperties() []project.Property {
	if r.View.Control == nil {
		return nil
	}
	var properties []project.Property
	for _, property := range r.View.Control.Properties {
		properties = append(properties, project.Property{Widget: r.Widget, Name: property.Name, Value: property.Value})
	}
	return properties
}

// webFacts are the statements on a web page.
func (r reading) webFacts() []Fact {
	var facts []Fact
	add := func(group []Fact) { facts = append(facts, group[:min(len(group), maxPerGroup)]...) }
	if r.View.Control == nil {
		add(r.webPageFacts())
	} else {
		add(r.controlFacts())
		add(r.pressFacts())
		add(r.webHandlerFacts())
		add(r.webStyleFacts())
		add(r.webPropertyFacts())
	}
	add(r.ownerFacts())
	if r.Query.asksFor(AboutRequests) || r.View.Control == nil {
		add(r.webRequestFacts())
	}
	return facts[:min(len(facts), maxFacts)]
}

// webPageFacts tell of the page as a whole.
func (r reading) webPageFacts() []Fact {
	facts := []Fact{{About: AboutLocation, Text: fmt.Sprintf("It is the page titled %s.", formatCode(r.View.Title))}}
	if names := inspect.Names(r.View.Tree); len(names) > 0 {
		facts = append(facts, Fact{About: AboutLocation, Text: fmt.Sprintf("Its controls are %s.", listNames(names))})
	}
	return facts
}

// shortName is the length of names that a minifier makes.
const shortName = 2

func (r reading) controlFacts() []Fact {
	control := r.View.Control
	text := fmt.Sprintf("It is a %s", formatCode(control.Role))
	if control.Role == "" {
		text = "It is an element without a role"
	}
	if control.Disabled {
		text += ", disabled,"
	}
	text += fmt.Sprintf(" on the page titled %s", formatCode(r.View.Title))
	var components []string
	for _, component := range control.Components {
		if len(component) > shortName && len(components) < maxHierarchy {
			components = append(components, formatCode(component))
		}
	}
	if len(components) > 0 {
		text += ", in the components " + strings.Join(components, " in ")
	}
	if control.Alike > 0 {
		text += fmt.Sprintf("; it is the first of %d of that name", control.Alike+1)
	}
	facts := []Fact{{About: AboutLocation, Text: text + "."}}
	for _, property := range control.Properties {
		if property.Name == "href" {
			facts = append(facts, Fact{About: AboutBehaviour, Text: fmt.Sprintf("It is a link to %s.", formatCode(property.Value))})
		}
	}
	return facts
}

// webHandlerFacts tell what handles the events of the control, and what that leads to.
func (r reading) webHandlerFacts() []Fact {
	events := webEvents[r.Query.Action]
	isAsked := func(handler project.Handler) bool { return events == nil || slices.Contains(events, handler.Event) }
	if !slices.ContainsFunc(r.Handlers, isAsked) {
		isAsked = func(project.Handler) bool { return true }
	}
	var facts []Fact
	for i, handler := range r.Handlers {
		if !isAsked(handler) {
			continue
		}
		seen := r.View.Control.Handlers[i]
		text := fmt.Sprintf("On %s it calls a function", formatCode(handler.Event))
		if len(handler.Handler) > shortName {
			text = fmt.Sprintf("On %s it calls %s", formatCode(handler.Event), formatCode(handler.Handler))
		}
		if seen.By != "listener" {
			text += " by " + seen.By
		}
		switch {
		case handler.BoundFile != "":
		case seen.Mapped:
			text += fmt.Sprintf(", in %s", formatCode(fmt.Sprintf("%s:%d", seen.File, seen.Line)))
		default:
			text += fmt.Sprintf(", in the script %s, which has no source map", formatCode(fmt.Sprintf("%s:%d", seen.File, seen.Line)))
		}
		if seen.Code != "" {
			text += ": " + formatCode(strings.TrimSpace(seen.Code))
		}
		facts = append(facts, Fact{About: AboutEvents, Text: strings.TrimSuffix(text, ".") + ".", File: handler.BoundFile, Line: handler.BoundLine})
		for _, step := range handler.Steps {
			facts = append(facts, stepFact(step, nil))
		}
	}
	if len(facts) == 0 {
		facts = append(facts, Fact{About: AboutBehaviour, Text: "Nothing on the page handles its events."})
	}
	return facts
}

// ownerFacts tell who owns the files of the handlers, by CODEOWNERS.
func (r reading) ownerFacts() []Fact {
	var facts []Fact
	told := make(map[string]bool)
	for _, trace := range r.Traces {
		if len(trace.Owners) > 0 && !told[trace.File] {
			told[trace.File] = true
			facts = append(facts, Fact{About: AboutOwners, Text: fmt.Sprintf("%s is owned by %s.", formatCode(trace.File), listNames(trace.Owners)), File: trace.File, Line: max(trace.Line, 1)})
		}
	}
	if len(facts) == 0 && r.Query.asksFor(AboutOwners) {
		facts = append(facts, Fact{About: AboutOwners, Text: "No file that I found behind it has an owner in a `CODEOWNERS`."})
	}
	return facts
}

func (r reading) webStyleFacts() []Fact {
	var facts []Fact
	if r.View.Control.Disabled {
		facts = append(facts, Fact{About: AboutStyles, Text: "It is disabled, for which browsers and style sheets have rules of their own."})
	}
	for _, style := range r.View.Control.Styles {
		if value := r.Query.Value; value != "" && !strings.Contains(style.Name, value) && (value != "color" || style.Name != "opacity" && style.Name != "background" && style.Name != "filter") {
			continue
		}
		text := fmt.Sprintf("%s is %s, by ", formatCode(style.Name), formatCode(style.Value))
		switch {
		case style.Rule == browser.Inline:
			text += "its own style"
		case style.Own:
			text += fmt.Sprintf("the browser's own rule %s", formatCode(style.Rule))
		default:
			text += fmt.Sprintf("the rule %s", formatCode(style.Rule))
		}
		if style.Inherited {
			text += " of an element around it"
		}
		if style.File != "" {
			text += " in " + formatCode(fmt.Sprintf("%s:%d", style.File, style.Line))
		}
		var weaker []string
		for _, beaten := range style.Beaten {
			weaker = append(weaker, fmt.Sprintf("%s of %s", formatCode(beaten.Value), formatCode(beaten.Rule)))
		}
		if len(weaker) > 0 {
			text += ", which wins over " + strings.Join(weaker, " and ")
		}
		facts = append(facts, Fact{About: AboutStyles, Text: text + "."})
	}
	return facts
}

func (r reading) webPropertyFacts() []Fact {
	var facts []Fact
	for _, property := range r.View.Control.Properties {
		facts = append(facts, Fact{About: AboutProperties, Text: fmt.Sprintf("%s is %s.", formatCode(property.Name), formatCode(property.Value))})
	}
	return facts
}

func (r reading) webRequestFacts() []Fact {
	var facts []Fact
	for _, request := range r.View.Requests {
		if request.Failed() {
			facts = append(facts, Fact{About: AboutRequests, Text: fmt.Sprintf("The request %s to %s failed: %s.", formatCode(request.Method+" "+request.Path), formatCode(request.Name), formatCode(request.Status))})
		}
	}
	facts = append(facts, messageFacts(AboutRequests, r.View.Messages)...)
	for _, refused := range r.View.Refused {
		facts = append(facts, Fact{About: AboutRequests, Text: fmt.Sprintf("It wanted to reach %s, which is private and was refused.", formatCode(refused))})
	}
	if len(facts) == 0 {
		facts = []Fact{{About: AboutRequests, Text: "No request failed while the page was opened, and it logged no error."}}
	}
	return facts
}

func messageFacts(about Information, messages []inspect.Message) []Fact {
	var facts []Fact
	for _, message := range messages {
		switch message.Level {
		case "error":
			facts = append(facts, Fact{About: about, Text: fmt.Sprintf("It logged the error %s.", formatCode(message.Text))})
		case "dialog":
			facts = append(facts, Fact{About: about, Text: fmt.Sprintf("It showed the dialog %s, which I closed.", formatCode(message.Text))})
		}
	}
	return facts
}

// pressFacts tell what the page did when the control was pressed.
func (r reading) pressFacts() []Fact {
	say := func(format string, arguments ...any) Fact {
		return Fact{About: AboutPress, Text: fmt.Sprintf(format, arguments...)}
	}
	switch pressed := r.Press.Result; {
	case r.Press.Declined && r.Press.Unsure:
		return []Fact{say("I was interrupted after your first approval, and don't know whether it was pressed then. I pressed nothing since, as you decided.")}
	case r.Press.Declined:
		return []Fact{say("I pressed nothing, as you decided.")}
	case r.Press.Failure != "":
		return []Fact{say("I could not press it: %s.", formatCode(r.Press.Failure))}
	case pressed == nil:
		return nil
	case !pressed.Done:
		return []Fact{say("I could not press it: %s.", pressed.Problem)}
	default:
		facts := []Fact{say("I pressed it once, as you approved.")}
		if r.Press.Unsure {
			facts = append(facts, say("I was interrupted after an earlier approval, and don't know whether it was pressed then, too."))
		}
		for _, request := range pressed.Requests {
			outcome := "which had no answer in time"
			switch {
			case request.Failed():
				outcome = "which failed: " + formatCode(request.Status)
			case request.Status != "":
				outcome = "answered with " + formatCode(request.Status)
			}
			facts = append(facts, say("It sent the request %s to %s, %s.", formatCode(request.Method+" "+request.Path), formatCode(request.Name), outcome))
		}
		if len(pressed.Requests) == 0 {
			facts = append(facts, say("It sent no request."))
		}
		facts = append(facts, messageFacts(AboutPress, pressed.Messages)...)
		if pressed.Address != "" {
			facts = append(facts, say("It led to %s.", formatCode(pressed.Address)))
		}
		return facts
	}
}

// stepFact tells a step, at the place that it leads to.
func stepFact(step project.Step, pages []project.Page) Fact {
	fact := Fact{About: AboutBehaviour, Text: stepText(step, pages), File: step.File, Line: step.Line, Depth: step.Depth + 1}
	if step.DefinedLine > 0 {
		fact.File, fact.Line = step.DefinedFile, step.DefinedLine
	}
	return fact
}
