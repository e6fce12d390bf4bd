package project

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// declaration is a variable or an action in a file of variables.
type declaration struct {
	class  string // "ServiceVariable"
	fields jsx.Value
	file   *jsx.File
	line   int
}

// declarationOf finds a variable or action: of the page, else of the app.
func (s *Sources) declarationOf(from string, aimed target) (declaration, bool) {
	files := []string{s.pageOf(from).Variables, s.Shared.Variables}
	if aimed.app {
		files = files[1:]
	}
	group := "Variables"
	if aimed.of == ofAction {
		group = "Actions"
	}
	for _, name := range files {
		file := s.Files[name]
		if file == nil || file.Default.Function == nil {
			continue
		}
		for _, given := range file.Default.Function.Returns {
			declared, _ := given.Get(group)
			for _, field := range declared.Fields {
				if field.Name == aimed.name && field.Value.Kind == jsx.Made {
					made := declaration{class: field.Value.Text, file: file, line: field.Line}
					if len(field.Value.Items) > 0 {
						made.fields = field.Value.Items[0]
					}
					return made, true
				}
			}
		}
	}
	return declaration{}, false
}

// text is a field that is text, "" for any other.
func (d declaration) text(name string) string {
	if value, ok := d.fields.Get(name); ok && value.IsLiteral() {
		return value.Text
	}
	return ""
}

// parameter is a field of what the declaration's paramProvider gives.
func (d declaration) parameter(name string) string {
	provider, _ := d.fields.Get("paramProvider")
	if provider.Function == nil {
		return ""
	}
	for _, given := range provider.Function.Returns {
		if value, ok := given.Get(name); ok {
			return describeValue(value)
		}
	}
	return ""
}

// results are the fields of a declaration that hold what follows.
var results = []string{"onSuccess", "onError", "onResult", "onCanUpdate", "onBeforeUpdate", "onOk", "onCancel", "onClose"}

// followDeclared follows a call of a variable or an action.
func (f *follower) followDeclared(file *jsx.File, aimed target, step Step) {
	declared, ok := f.sources.declarationOf(file.Path, aimed)
	if !ok {
		step.Kind, step.Object = CallsUnknown, aimed.member
		f.add(step)
		return
	}
	step.DefinedFile, step.DefinedLine = declared.file.Path, declared.line
	step.Kind, step.Object = declared.effect(aimed)
	f.add(step)
	if !strings.HasPrefix(aimed.member, "invoke") && !strings.HasPrefix(aimed.member, "navigate") && aimed.member != "update" {
		return
	}
	f.enter(declared.file.Path+"#"+aimed.name, step, func() {
		for _, name := range results {
			value, ok := declared.fields.Get(name)
			if !ok || value.Function == nil {
				continue
			}
			inner := f.outer
			f.outer.Deferred = true
			f.followFunction(declared.file, value.Function, step.Depth+1)
			f.outer = inner
		}
	})
}

// effect tells what calling a variable or an action does.
func (d declaration) effect(aimed target) (StepKind, string) {
	switch d.class {
	case "NavigationAction":
		page := d.parameter("pageName")
		if page == "" {
			page = d.text("pageName")
		}
		return Navigates, page
	case "NotificationAction":
		return Notifies, d.parameter("text")
	case "ServiceVariable", "LiveVariable", "CrudVariable", "WebSocketVariable":
		if aimed.member == "setInput" || aimed.member == "setFilter" || aimed.member == "setData" || strings.HasPrefix(aimed.member, "dataSet") {
			return Reads, aimed.member
		}
		return Requests, d.request()
	case "DeviceVariable":
		return UsesDevice, d.text("operation")
	case "ModelVariable":
		return Reads, aimed.member
	}
	return Acts, d.class
}

// request names the operation of a service: "findUsers of hrdb (DataService)".
func (d declaration) request() string {
	operation, service := d.text("operation"), d.text("service")
	if table := d.text("type"); service == "" && table != "" {
		service = d.text("liveSource") + " " + table
	}
	said := operation
	if service != "" {
		said += " of " + strings.TrimSpace(service)
	}
	if kind := d.text("serviceType"); kind != "" {
		said += " (" + kind + ")"
	}
	return strings.TrimSpace(said)
}

// Navigation is an action that goes to a page.
type Navigation struct {
	Action string
	Page   string
	Holder string // what calls it in a script: "Page.Actions"
	File   string
	Line   int
}

// Navigations lists the actions of the page and of the app that go to a page.
func (s *Sources) Navigations() []Navigation {
	var all []Navigation
	for _, name := range []string{s.Page.Variables, s.Shared.Variables} {
		file := s.Files[name]
		if file == nil || file.Default.Function == nil {
			continue
		}
		holder := "Page.Actions"
		if name == s.Shared.Variables {
			holder = "Page.App.Actions"
		}
		for _, given := range file.Default.Function.Returns {
			declared, _ := given.Get("Actions")
			for _, field := range declared.Fields {
				made := declaration{class: field.Value.Text, line: field.Line}
				if field.Value.Kind != jsx.Made || len(field.Value.Items) == 0 {
					continue
				}
				made.fields = field.Value.Items[0]
				if kind, page := made.effect(target{}); kind == Navigates {
					all = append(all, Navigation{Action: field.Name, Page: page, Holder: holder, File: name, Line: field.Line})
				}
			}
		}
	}
	return all
}
