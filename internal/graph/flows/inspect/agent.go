package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/inspect/webcode"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// The nodes of the nested graph that analyses the page's files.
const (
	nodeParse      = "parse_files"
	nodeRelations  = "map_file_relationships"
	nodeLocate     = "locate_widgets"
	nodeHandlers   = "map_event_handlers"
	nodeStyles     = "map_styles"
	nodeProperties = "map_properties"
	nodeUnderstand = "build_understanding"
)

// reading is the state of the nested graph that analyses the page's files.
type reading struct {
	Query     QueryAnalysis
	PageState PageState
	Page      *project.Page
	Parts     []project.Page
	Pages     []project.Page
	Shared    project.SharedFiles
	Files     map[string]string
	View      *browser.View // of a web page; nil: the page is an app's
	Traces    []webcode.Trace
	Press     Press
	Owners    map[string][]string

	Widget     string // that is meant; "" for none
	Relations  []project.Relation
	Locations  []project.Location
	Handlers   []project.Handler
	Styles     []project.Style
	Properties []project.Property
	Facts      []Fact
	Errors     []Problem
	Failure    string
}

var (
	readQuery      = graph.Replace("query", func(r *reading) *QueryAnalysis { return &r.Query })
	readPageState  = graph.Replace("page_state", func(r *reading) *PageState { return &r.PageState })
	readPage       = graph.Replace("page", func(r *reading) **project.Page { return &r.Page })
	readParts      = graph.Replace("parts", func(r *reading) *[]project.Page { return &r.Parts })
	readPages      = graph.Replace("pages", func(r *reading) *[]project.Page { return &r.Pages })
	readShared     = graph.Replace("shared", func(r *reading) *project.SharedFiles { return &r.Shared })
	readFiles      = graph.Replace("files", func(r *reading) *map[string]string { return &r.Files })
	readView       = graph.Replace("view", func(r *reading) **browser.View { return &r.View })
	readTraces     = graph.Replace("traces", func(r *reading) *[]webcode.Trace { return &r.Traces })
	readPress      = graph.Replace("press", func(r *reading) *Press { return &r.Press })
	readOwners     = graph.Replace("owners", func(r *reading) *map[string][]string { return &r.Owners })
	readWidget     = graph.Replace("widget", func(r *reading) *string { return &r.Widget })
	readRelations  = graph.Replace("relations", func(r *reading) *[]project.Relation { return &r.Relations })
	readLocations  = graph.Replace("locations", func(r *reading) *[]project.Location { return &r.Locations })
	readHandlers   = graph.Replace("handlers", func(r *reading) *[]project.Handler { return &r.Handlers })
	readStyles     = graph.Replace("styles", func(r *reading) *[]project.Style { return &r.Styles })
	readProperties = graph.Replace("properties", func(r *reading) *[]project.Property { return &r.Properties })
	readFacts      = graph.Replace("facts", func(r *reading) *[]Fact { return &r.Facts })
	readErrors     = graph.Append("errors", func(r *reading) *[]Problem { return &r.Errors })
	readFailure    = graph.Replace("failure", func(r *reading) *string { return &r.Failure })
)

// planAgent lays out the nested graph that analyses the page's files.
func (f *Flow) planAgent() *graph.Graph[reading] {
	g := graph.New(nodeAgent, schemaVersion, graph.FieldSpec[reading](readQuery), readPageState, readPage, readParts, readPages, readShared, readFiles, readView, readTraces, readPress, readOwners,
		readWidget, readRelations, readLocations, readHandlers, readStyles, readProperties, readFacts, readErrors, readFailure)
	g.Node(nodeParse, f.parseFiles, graph.Policy{Description: "Parsing the files", Asks: true})
	g.Node(nodeRelations, f.mapRelations, graph.Policy{Description: "Mapping which file uses which"})
	g.Node(nodeLocate, f.locateWidgets, graph.Policy{Description: "Locating the widgets"})
	g.Node(nodeHandlers, f.mapHandlers, graph.Policy{Description: "Mapping events to their handlers"})
	g.Node(nodeStyles, f.mapStyles, graph.Policy{Description: "Mapping styles"})
	g.Node(nodeProperties, f.mapProperties, graph.Policy{Description: "Mapping properties"})
	g.Node(nodeUnderstand, f.buildUnderstanding, graph.Policy{Description: "Putting together what was found"})
	g.Start(nodeParse)
	mappers := []string{nodeRelations, nodeLocate, nodeHandlers, nodeStyles, nodeProperties}
	for _, mapper := range mappers {
		g.Edge(nodeParse, mapper)
	}
	g.Join(nodeUnderstand, mappers...)
	g.Edge(nodeUnderstand, graph.End)
	return g
}

func beginAgent(s State) reading {
	return reading{
		Query: s.QueryAnalysis, PageState: s.CurrentPageState, Page: s.Page, Parts: s.Parts, Pages: s.Pages, Shared: s.Shared, Files: s.PageFiles,
		View: s.WebView, Traces: s.WebTraces, Press: s.Press, Owners: s.Owners,
	}
}

func endAgent(r reading) graph.Patch[State] {
	made := PageAnalysis{
		FileRelations: r.Relations, WidgetLocations: r.Locations, EventHandlers: r.Handlers, StyleMappings: r.Styles,
		PropertyMappings: r.Properties, Understanding: r.Facts, Widget: r.Widget,
	}
	return graph.Patch[State]{
		pageAgentAnalysis.Set(made), pageFiles.Set(nil), problems.Set(r.Errors), failure.Set(r.Failure),
		researchSteps.Set(map[StepID]flows.ResearchStatus{StepAnalyze: r.endStatus()}),
	}
}

// endStatus is how the step ends that analyses the files.
func (r reading) endStatus() flows.ResearchStatus {
	if r.Failure != "" || len(r.Files) == 0 && r.View == nil {
		return flows.Failed
	}
	return flows.Completed
}

// sources reads the files: the reader keeps them, so that no trees of code are in checkpoints.
func (f *Flow) sources(r reading) *project.Sources {
	page := project.Page{}
	if r.Page != nil {
		page = *r.Page
	}
	return f.reader.Read(page, r.Parts, r.Shared, r.Files)
}

// parseFiles records what is wrong in the files, and finds out which widget is meant: where it
// can't be known, the person is asked with the nearest.
func (f *Flow) parseFiles(_ context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	r := step.State
	if r.View != nil {
		return graph.Update(readWidget.Set(r.nameControl())), nil
	}
	sources := f.sources(r)
	locations := sources.Widgets()
	meant, found := r.target(locations)
	given := r.Query.WidgetReference
	for round := 1; meant && found == ""; round++ {
		key := fmt.Sprintf("widget-%d", round)
		answer, answered := step.Answer(key)
		switch {
		case answered && answer.Choice != "":
			found = answer.Choice
		case answered:
			given = strings.Trim(strings.TrimSpace(answer.Text), "`\"'")
			if matches := project.Find(locations, given); len(matches) > 0 {
				found = matches[0].Widget
			}
		case round > maxRounds:
			return graph.Update(readFailure.Set(fmt.Sprintf("I asked %d times and found no widget of that name on page %s, so I can't answer.", maxRounds, formatCode(r.Page.Name)))), nil
		default:
			return graph.Ask[reading](r.askWidget(key, given, locations)), nil
		}
	}
	var wrong []Problem
	for _, mistake := range sources.Wrong {
		wrong = append(wrong, Problem{Step: nodeParse, Error: shorten.Line(mistake.Error(), maxError), RecoveryAction: "the answer goes without this file"})
	}
	return graph.Update(readWidget.Set(found), readErrors.Set(wrong)), nil
}

// target finds the widget that is meant. found is "" where nothing fits, or several do.
func (r reading) target(locations []project.Location) (meant bool, found string) {
	if r.Query.Except != "" && r.Page != nil {
		others := r.others(locations)
		if len(others) == 1 {
			return true, others[0].Widget
		}
		return true, ""
	}
	reference := r.Query.WidgetReference
	if selected := r.PageState.SelectedWidget; selected != nil {
		reference = selected.WidgetName
	}
	if reference == "" || r.Page == nil || len(locations) == 0 {
		return false, ""
	}
	if reference == Selected {
		return true, ""
	}
	matches := project.Find(locations, reference)
	if len(matches) == 0 {
		var near []project.Location
		for _, location := range locations {
			if project.IsNear(reference, location.Widget) || project.IsNear(reference, location.Caption) {
				near = append(near, location)
			}
		}
		matches = near
	}
	for _, match := range matches {
		if match.Widget != matches[0].Widget {
			return true, ""
		}
	}
	if len(matches) == 0 {
		return true, ""
	}
	return true, matches[0].Widget
}

func (r reading) askWidget(key, given string, locations []project.Location) graph.Question {
	text := fmt.Sprintf("Which widget on page %s do you mean?", formatCode(r.Page.Name))
	shown := locations
	if matches := project.Find(locations, given); len(matches) > 1 {
		text, shown = fmt.Sprintf("Several widgets on page %s may be meant by %s. Which one?", formatCode(r.Page.Name), formatCode(given)), matches
	} else if r.Query.Except != "" && given == r.Query.WidgetReference {
		text, shown = fmt.Sprintf("Which other widget on page %s do you mean?", formatCode(r.Page.Name)), r.others(locations)
	} else if given != Selected {
		text = fmt.Sprintf("I found no widget %s on page %s. Which one do you mean?", formatCode(given), formatCode(r.Page.Name))
	}
	shown = usedFirst(shown)
	captions, names := make(map[string]string), []string{}
	for _, location := range shown {
		detail := location.Tag
		if location.Caption != "" && location.Caption != location.Widget {
			detail += ": " + location.Caption
		}
		captions[location.Widget] = inspect.Cut(detail)
		names = append(names, location.Widget)
	}
	if given == Selected {
		given = ""
	}
	if r.Query.WidgetReference == Selected {
		text = r.PageState.describeFailure() + text
	}
	question := graph.Question{Key: key, Text: text, FreeText: true}
	for _, name := range project.Nearest(given, names) {
		question.Choices = append(question.Choices, graph.Choice{ID: name, Label: inspect.Cut(name), Detail: captions[name]})
	}
	return question
}

// others are the widgets of the kind that the question names, each once, without the one that was
// spoken of before.
func (r reading) others(locations []project.Location) []project.Location {
	var found []project.Location
	for _, location := range usedFirst(locations) {
		if location.Widget != r.Query.Except && strings.Contains(strings.ToLower(location.Tag), r.Query.WidgetKind) &&
			!slices.ContainsFunc(found, func(other project.Location) bool { return other.Widget == location.Widget }) {
			found = append(found, location)
		}
	}
	return found
}

// usedFirst leaves out the widgets that only arrange others, where there are any besides, and
// puts those with a caption first.
func usedFirst(locations []project.Location) []project.Location {
	used := slices.DeleteFunc(slices.Clone(locations), project.Location.IsLayout)
	if len(used) == 0 {
		used = slices.Clone(locations)
	}
	captioned, bare := []project.Location{}, []project.Location{}
	for _, location := range used {
		if location.Caption == "" {
			bare = append(bare, location)
		} else {
			captioned = append(captioned, location)
		}
	}
	return append(captioned, bare...)
}

func (f *Flow) mapRelations(_ context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	if step.State.View != nil {
		return graph.Result[reading]{}, nil
	}
	return graph.Update(readRelations.Set(f.sources(step.State).Relations())), nil
}

func (f *Flow) locateWidgets(_ context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	if step.State.View != nil {
		return graph.Update(readLocations.Set(step.State.locateControl())), nil
	}
	return graph.Update(readLocations.Set(f.sources(step.State).Widgets())), nil
}

// The mappers of handlers, styles and properties look at the widget that is meant, or at all.

func (f *Flow) mapHandlers(_ context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	if step.State.View != nil {
		return graph.Update(readHandlers.Set(step.State.mapControlHandlers())), nil
	}
	return graph.Update(readHandlers.Set(f.sources(step.State).Handlers(step.State.Widget))), nil
}

func (f *Flow) mapStyles(_ context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	if step.State.View != nil {
		return graph.Update(readStyles.Set(step.State.mapControlStyles())), nil
	}
	sources := f.sources(step.State)
	if step.State.Widget == "" && step.State.Query.asksFor(AboutTheme) {
		return graph.Update(readStyles.Set(sources.ThemeStyles())), nil
	}
	return graph.Update(readStyles.Set(sources.Styles(step.State.Widget))), nil
}

func (f *Flow) mapProperties(_ context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	if step.State.View != nil {
		return graph.Update(readProperties.Set(step.State.mapControlProperties())), nil
	}
	return graph.Update(readProperties.Set(f.sources(step.State).Properties(step.State.Widget))), nil
}

func (f *Flow) buildUnderstanding(ctx context.Context, step graph.Step[reading]) (graph.Result[reading], error) {
	endStep(ctx, StepAnalyze, step.State.endStatus())
	if step.State.View != nil {
		return graph.Update(readFacts.Set(step.State.webFacts())), nil
	}
	return graph.Update(readFacts.Set(step.State.facts(f.sources(step.State)))), nil
}
