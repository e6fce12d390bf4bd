package inspect

import (
	"fmt"
	"path"
	"slices"
	"strings"

	plain "github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/project"
)

// maxCode is how much of a name or value is shown, in letters.
const maxCode = 120

func formatCode(text string) string { return plain.Code(inspect.Cut(text), maxCode) }

func listNames(names []string) string {
	shown := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), maxListed)] {
		shown = append(shown, formatCode(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Bounds of what an answer lists.
const (
	maxListed   = 20
	maxFacts    = 60
	maxPerGroup = 14
)

// facts are the statements that an answer is made of, each with its place.
func (r reading) facts(sources *project.Sources) []Fact {
	var facts []Fact
	add := func(group []Fact) { facts = append(facts, group[:min(len(group), maxPerGroup)]...) }
	add(r.locationFacts())
	add(r.behaviourFacts())
	add(r.styleFacts())
	add(r.propertyFacts())
	if r.Query.asksFor(AboutRequests) {
		add(r.requestFacts())
	}
	if r.Query.asksFor(AboutOwners) {
		add(r.fileOwnerFacts())
	}
	if r.Query.asksFor(AboutNavigation) && r.Query.Target != "" {
		add(r.navigationFacts(sources))
	}
	return facts[:min(len(facts), maxFacts)]
}

func (r reading) locationFacts() []Fact {
	var facts []Fact
	for _, location := range r.Locations {
		if location.Widget != r.Widget || r.Widget == "" {
			continue
		}
		text := fmt.Sprintf("It is a %s", formatCode(location.Tag))
		if location.Caption != "" && location.Caption != location.Widget {
			text += fmt.Sprintf(" with the caption %s", formatCode(location.Caption))
		}
		if path := hierarchyText(location.Hierarchy); path != "" {
			text += " in " + path
		}
		if location.Repeated {
			text += ", repeated for each item of a list"
		}
		facts = append(facts, Fact{About: AboutLocation, Text: text + ".", File: location.File, Line: location.Line})
	}
	return facts
}

// maxHierarchy is how many of the elements around a widget are named, from the inside.
const maxHierarchy = 5

func hierarchyText(places []project.Place) string {
	var names []string
	for _, place := range slices.Backward(places) {
		if place.Name != "" && len(names) < maxHierarchy {
			names = append(names, formatCode(place.Name))
		}
	}
	return strings.Join(names, " in ")
}

func (r reading) behaviourFacts() []Fact {
	if r.Widget == "" {
		return nil
	}
	var facts []Fact
	for _, handler := range r.Handlers {
		if !r.isAsked(handler) {
			continue
		}
		text := fmt.Sprintf("On %s", formatCode(handler.Event))
		if handler.Handler == "" {
			text += " it calls nothing"
		} else {
			text += fmt.Sprintf(" it calls %s", formatCode(handler.Handler))
		}
		facts = append(facts, Fact{About: AboutEvents, Text: text + ".", File: handler.BoundFile, Line: handler.BoundLine})
		for _, step := range handler.Steps {
			facts = append(facts, stepFact(step, r.Pages))
		}
	}
	if len(facts) == 0 {
		facts = append(facts, Fact{About: AboutBehaviour, Text: "The code binds no handler to it" + r.onAction() + ".", File: r.widgetPlace().File, Line: r.widgetPlace().Line})
	}
	return facts
}

// fileOwnerFacts tell who owns the file of the widget, else of the page.
func (r reading) fileOwnerFacts() []Fact {
	file, line := r.widgetPlace().File, r.widgetPlace().Line
	if file == "" && r.Page != nil {
		file, line = r.Page.Component, 1
	}
	if by := r.Owners[file]; len(by) > 0 {
		return []Fact{{About: AboutOwners, Text: fmt.Sprintf("%s is owned by %s.", formatCode(file), listNames(by)), File: file, Line: line}}
	}
	return []Fact{{About: AboutOwners, Text: fmt.Sprintf("%s has no owner in a `CODEOWNERS`.", formatCode(file)), File: file, Line: line}}
}

func (r reading) onAction() string {
	if r.Query.Action == "" {
		return ""
	}
	return " for a " + r.Query.Action
}

func (r reading) widgetPlace() project.Location {
	for _, location := range r.Locations {
		if location.Widget == r.Widget {
			return location
		}
	}
	return project.Location{}
}

// isAsked tells whether a handler is of the action that the question names; all are where the
// widget has none of that action.
func (r reading) isAsked(handler project.Handler) bool {
	begins := ""
	for _, action := range actions {
		if action.name == r.Query.Action {
			begins = action.event
		}
	}
	fits := func(h project.Handler) bool {
		return strings.HasPrefix(h.Event, begins) || begins == "onTap" && (h.Event == "onClick" || h.Event == "onPress")
	}
	return begins == "" || fits(handler) || !slices.ContainsFunc(r.Handlers, fits)
}

// stepText says what a step does.
func stepText(step project.Step, pages []project.Page) string {
	subject, object := formatCode(step.Subject), formatCode(step.Object)
	var text string
	switch step.Kind {
	case project.CallsFunction:
		text = "calls the function " + subject
	case project.CallsUnknown:
		text = fmt.Sprintf("calls %s, which the files that I read don't define", subject)
	case project.Navigates:
		text = fmt.Sprintf("goes to the page %s by the action %s", object, subject)
		if _, ok := project.Named(pages, step.Object); !ok {
			text += ", which the project doesn't have"
		}
	case project.Requests:
		text = fmt.Sprintf("sends the request %s", object)
		if step.Subject != "fetch" {
			text += " by " + subject
		}
	case project.Reads:
		text = fmt.Sprintf("changes or reads the data of the variable %s", subject)
		if step.Object != "" {
			text += " by " + object
		}
	case project.UsesDevice:
		text = fmt.Sprintf("uses the device: %s, by the variable %s", object, subject)
	case project.Notifies:
		text = "shows a message"
		if step.Object != "" {
			text += ": " + object
		}
	case project.SetsProperty:
		text = fmt.Sprintf("sets %s of the widget %s", object, subject)
	case project.CallsWidget:
		text = fmt.Sprintf("calls %s of the widget %s", object, subject)
	case project.GoesBack:
		text = "goes back to " + step.Object
		if strings.Contains(step.Object, "drawer") {
			text = "opens or closes " + step.Object
		}
	case project.Answers:
		return "The server answers that here."
	default:
		text = fmt.Sprintf("runs the action %s (%s)", subject, object)
	}
	if step.Conditional {
		text += ", under a condition"
	}
	if step.Deferred {
		text += ", later"
	}
	return "It " + text + "."
}

func (r reading) styleFacts() []Fact {
	var facts []Fact
	if r.Widget == "" && !r.Query.asksFor(AboutTheme) {
		return nil
	}
	if selected := r.PageState.SelectedWidget; selected != nil {
		for _, style := range selected.Styles[:min(len(selected.Styles), maxPerGroup)] {
			facts = append(facts, Fact{About: AboutStyles, Text: fmt.Sprintf("In the app %s of its %s is %s, by the rule %s (%s).",
				formatCode(style.Name), formatCode(style.Part), formatCode(style.Value), formatCode(style.Rule), formatCode(style.Source))})
		}
	}
	for _, style := range r.Styles {
		if !style.Wins || !r.isAskedStyle(style) {
			continue
		}
		from := fmt.Sprintf("by the class %s in %s", formatCode(style.Class), formatCode(path.Base(style.File)))
		if style.Class == project.Inline {
			from = "by its own styles"
		}
		of := ""
		if style.Part != "" {
			of = " of its " + formatCode(style.Part)
		}
		if r.Widget == "" {
			of = fmt.Sprintf(" of %s", formatCode(style.Part))
		}
		text := fmt.Sprintf("%s%s is %s, %s", formatCode(style.Name), of, formatCode(style.Value), from)
		if beaten := r.beatenBy(style); beaten != "" {
			text += ", which wins over " + beaten
		}
		facts = append(facts, Fact{About: AboutStyles, Text: text + ".", File: style.File, Line: style.Line})
	}
	return facts
}

// isAskedStyle tells whether a style is of the kind of widget, and the kind of value, that the
// question names.
func (r reading) isAskedStyle(style project.Style) bool {
	if r.Query.Value != "" && !strings.Contains(strings.ToLower(style.Name), r.Query.Value) {
		return false
	}
	if r.Widget != "" || r.Query.WidgetKind == "" {
		return true
	}
	kind := strings.ToLower(r.Query.WidgetKind)
	return style.Class == "app-"+kind || kind == "button" && style.Class == "btn-default" || style.Class == kind
}

// beatenBy names the place whose value a style takes the place of.
func (r reading) beatenBy(style project.Style) string {
	for _, other := range r.Styles {
		if !other.Wins && other.Widget == style.Widget && other.Part == style.Part && other.Name == style.Name {
			return fmt.Sprintf("%s of %s (`%s:%d`)", formatCode(other.Value), formatCode(other.Class), path.Base(other.File), other.Line)
		}
	}
	return ""
}

func (r reading) propertyFacts() []Fact {
	if r.Widget == "" {
		return nil
	}
	var facts []Fact
	if selected := r.PageState.SelectedWidget; selected != nil {
		for _, property := range selected.Properties[:min(len(selected.Properties), maxPerGroup)] {
			facts = append(facts, Fact{About: AboutProperties, Text: fmt.Sprintf("In the app %s is %s.", formatCode(property.Name), formatCode(property.Value))})
		}
	}
	for _, property := range r.Properties {
		text := fmt.Sprintf("%s is %s", formatCode(property.Name), formatCode(property.Value))
		switch {
		case property.Set:
			text = fmt.Sprintf("%s is set to %s by the script", formatCode(property.Name), formatCode(property.Value))
		case property.Bound:
			text = fmt.Sprintf("%s is computed: %s", formatCode(property.Name), formatCode(property.Value))
		}
		facts = append(facts, Fact{About: AboutProperties, Text: text + ".", File: property.File, Line: property.Line})
	}
	return facts
}

func (r reading) requestFacts() []Fact {
	var facts []Fact
	for _, request := range r.PageState.Events.Requests {
		if request.Failed() {
			facts = append(facts, Fact{About: AboutRequests, Text: strings.TrimSpace(fmt.Sprintf("The request %s to %s failed with status %s.",
				formatCode(request.Method+" "+request.Name), formatCode(request.Path), formatCode(request.Status)))})
		}
	}
	for _, message := range r.PageState.Events.Messages {
		if message.Level == "error" {
			facts = append(facts, Fact{About: AboutRequests, Text: fmt.Sprintf("The app logged the error %s.", formatCode(message.Text))})
		}
	}
	if len(facts) > 0 {
		return facts
	}
	text := "What was recorded of the app has no failed request and no error."
	if !r.PageState.Live {
		text = "Which request fails only the running app tells: attach a session file of it (`<name>.wavepulse.zip`)."
	}
	return []Fact{{About: AboutRequests, Text: text}}
}

// navigationFacts say by which action a page is reached, and how it is called with data.
func (r reading) navigationFacts(sources *project.Sources) []Fact {
	for _, found := range sources.Navigations() {
		if strings.EqualFold(found.Page, r.Query.Target) {
			return []Fact{{
				About: AboutNavigation, File: found.File, Line: found.Line,
				Text: fmt.Sprintf("The action %s goes to the page %s. In a handler of the page's script, %s calls it with data.", formatCode(found.Action), formatCode(found.Page),
					formatCode(fmt.Sprintf("%s.%s.invoke({data: {…}})", found.Holder, found.Action))),
			}}
		}
	}
	if _, ok := project.Named(r.Pages, r.Query.Target); !ok {
		var names []string
		for _, page := range r.Pages {
			names = append(names, page.Name)
		}
		return []Fact{{About: AboutNavigation, Text: fmt.Sprintf("The project has no page %s. Its pages with the nearest names are %s.",
			formatCode(r.Query.Target), listNames(project.Nearest(r.Query.Target, names)))}}
	}
	return []Fact{{About: AboutNavigation, Text: fmt.Sprintf("No action of the page or of the app goes to the page %s: it needs one.", formatCode(r.Query.Target))}}
}
