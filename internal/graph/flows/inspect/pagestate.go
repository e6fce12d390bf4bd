package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	plain "github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/inspect/session"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// The nodes of the nested graph that looks at the app.
const (
	nodeTree     = "get_element_tree"
	nodeIdentify = "identify_target_widget"
	nodeDetail   = "get_widget_properties_styles"
	nodeTabbar   = "find_tabbar"
	nodeAssemble = "assemble_state"
)

// look is the state of the nested graph that looks at the app.
type look struct {
	Session   string
	Channel   Channel
	Reference string
	Pages     []project.Page
	Asked     string // page that the question names
	Query     QueryAnalysis
	Text      string // of the question
	Web       WebPage
	View      *browser.View

	Tree   *inspect.Element
	Target *inspect.Element
	Detail *inspect.Detail
	Tabbar string
	Events inspect.Events
	Made   PageState
	Errors []Problem
}

var (
	lookSession   = graph.Replace("session", func(l *look) *string { return &l.Session })
	lookChannel   = graph.Replace("channel", func(l *look) *Channel { return &l.Channel })
	lookReference = graph.Replace("reference", func(l *look) *string { return &l.Reference })
	lookPages     = graph.Replace("pages", func(l *look) *[]project.Page { return &l.Pages })
	lookAsked     = graph.Replace("asked", func(l *look) *string { return &l.Asked })
	lookQuery     = graph.Replace("query", func(l *look) *QueryAnalysis { return &l.Query })
	lookText      = graph.Replace("text", func(l *look) *string { return &l.Text })
	lookWeb       = graph.Replace("web", func(l *look) *WebPage { return &l.Web })
	lookView      = graph.Replace("view", func(l *look) **browser.View { return &l.View })
	lookTree      = graph.Replace("tree", func(l *look) **inspect.Element { return &l.Tree })
	lookTarget    = graph.Replace("target", func(l *look) **inspect.Element { return &l.Target })
	lookDetail    = graph.Replace("detail", func(l *look) **inspect.Detail { return &l.Detail })
	lookTabbar    = graph.Replace("tabbar", func(l *look) *string { return &l.Tabbar })
	lookEvents    = graph.Replace("events", func(l *look) *inspect.Events { return &l.Events })
	lookMade      = graph.Replace("made", func(l *look) *PageState { return &l.Made })
	lookErrors    = graph.Append("errors", func(l *look) *[]Problem { return &l.Errors })
)

// planPageState lays out the nested graph that looks at the app.
func (f *Flow) planPageState() *graph.Graph[look] {
	g := graph.New(nodePageState, schemaVersion, graph.FieldSpec[look](lookSession), lookChannel, lookReference, lookPages, lookAsked, lookQuery, lookText, lookWeb, lookView,
		lookTree, lookTarget, lookDetail, lookTabbar, lookEvents, lookMade, lookErrors)
	g.Node(nodeTree, f.getElementTree, graph.Policy{Description: "Reading the tree of widgets"})
	g.Node(nodeIdentify, identifyTarget, graph.Policy{Description: "Finding the widget"})
	g.Node(nodeDetail, f.getDetail, graph.Policy{Description: "Reading its properties and styles"})
	g.Node(nodeTabbar, f.findTabbar, graph.Policy{Description: "Looking for the tab bar"})
	g.Node(nodeAssemble, assembleState, graph.Policy{Description: "Putting together what the app shows"})
	g.Start(nodeTree)
	g.Edge(nodeTree, nodeIdentify)
	g.Edge(nodeIdentify, nodeDetail)
	g.Edge(nodeDetail, nodeTabbar)
	g.Edge(nodeTabbar, nodeAssemble)
	g.Edge(nodeAssemble, graph.End)
	return g
}

func beginPageState(s State) look {
	return look{
		Session: s.Session, Channel: s.Channel, Reference: s.QueryAnalysis.WidgetReference, Pages: s.Pages, Asked: s.QueryAnalysis.Page,
		Query: s.QueryAnalysis, Text: s.Query, Web: s.WebPage,
	}
}

func endPageState(l look) graph.Patch[State] {
	patch := graph.Patch[State]{
		currentPageState.Set(l.Made), recorded.Set(""), problems.Set(l.Errors),
		researchSteps.Set(map[StepID]flows.ResearchStatus{StepState: l.Made.endStatus()}),
	}
	patch = append(patch, l.endWeb()...)
	if page, ok := project.Named(l.Pages, l.Made.PageName); ok {
		patch = append(patch, chosenPage.Set(&page))
	}
	return patch
}

// endStatus is how the step ends that looks at the app: it is skipped where nothing shows one.
func (p PageState) endStatus() flows.ResearchStatus {
	switch {
	case p.Live:
		return flows.Completed
	case p.Failure != "":
		return flows.Failed
	}
	return flows.Skipped
}

// describeFailure says why the app could not be read, before a question or behind an answer.
func (p PageState) describeFailure() string {
	if p.Failure == "" {
		return ""
	}
	text := "I could not read the running app: " + plain.Clean(p.Failure)
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text + " "
}

// layer is what shows the app: the session of the request, the channel that it or its thread
// names, or the configured session; nil for none.
func (f *Flow) layer(l look) (inspect.Layer, error) {
	switch {
	case l.Session != "":
		return session.Decode(l.Session)
	case l.Channel.ID == "":
		return f.options.Layer, nil
	case f.options.Join == nil:
		return nil, errors.New("no relay may be used here: the setting inspect.relays lists those that may")
	}
	return f.options.Join(l.Channel.ID, l.Channel.Host)
}

// lookProblem records what a node could not find out.
func lookProblem(node string, err error, recovery string) graph.Change[look] {
	return lookErrors.Set([]Problem{{Step: node, Error: shorten.Line(err.Error(), maxError), RecoveryAction: recovery}})
}

const withoutApp = "the answer rests on the code alone"

func (f *Flow) getElementTree(ctx context.Context, step graph.Step[look]) (graph.Result[look], error) {
	if step.State.Web.Address != "" {
		return f.lookAtPage(ctx, step.State)
	}
	layer, err := f.layer(step.State)
	if err != nil {
		return graph.Update(lookProblem(nodeTree, err, withoutApp)), nil
	}
	if layer == nil {
		return graph.Result[look]{}, nil
	}
	var changes []graph.Change[look]
	tree, err := layer.Tree(ctx)
	switch {
	case ctx.Err() != nil:
		return graph.Result[look]{}, fmt.Errorf("read the tree of widgets: %w", ctx.Err())
	case err != nil:
		changes = append(changes, lookProblem(nodeTree, err, withoutApp))
	default:
		changes = append(changes, lookTree.Set(&tree))
	}
	events, err := layer.Events(ctx)
	if err != nil {
		changes = append(changes, lookProblem(nodeTree, err, "what happened in the app is not known"))
	}
	return graph.Update(append(changes, lookEvents.Set(events))...), nil
}

// identifyTarget finds the widget in the tree by its name, or as the one that is selected. A
// caption is not in the tree: it is looked for in the code.
func identifyTarget(_ context.Context, step graph.Step[look]) (graph.Result[look], error) {
	l := step.State
	if l.View != nil {
		return identifyControl(*l.View), nil
	}
	if l.Tree == nil || l.Reference == "" {
		return graph.Result[look]{}, nil
	}
	if l.Reference == Selected {
		target, ok := inspect.FindFirst(*l.Tree, func(e inspect.Element) bool { return e.Selected })
		if !ok {
			return graph.Update(lookProblem(nodeIdentify, errors.New("no widget is selected in the app"), "the person is asked")), nil
		}
		target.Children = nil
		return graph.Update(lookTarget.Set(&target)), nil
	}
	target, ok := inspect.FindFirst(*l.Tree, func(e inspect.Element) bool { return e.Name == l.Reference })
	if !ok {
		target, ok = inspect.FindFirst(*l.Tree, func(e inspect.Element) bool { return strings.EqualFold(e.Name, l.Reference) })
	}
	if !ok {
		return graph.Result[look]{}, nil
	}
	target.Children = nil
	return graph.Update(lookTarget.Set(&target)), nil
}

func (f *Flow) getDetail(ctx context.Context, step graph.Step[look]) (graph.Result[look], error) {
	l := step.State
	if l.View != nil {
		return detailOfControl(*l.View), nil
	}
	if l.Target == nil {
		return graph.Result[look]{}, nil
	}
	return f.detailOf(ctx, l, l.Target.ID, nodeDetail, func(detail inspect.Detail) graph.Change[look] { return lookDetail.Set(&detail) })
}

// detailOf asks the layer for a widget's details; that it has none is a problem of the node.
func (f *Flow) detailOf(ctx context.Context, l look, id, node string, set func(inspect.Detail) graph.Change[look]) (graph.Result[look], error) {
	layer, err := f.layer(l)
	if err != nil || layer == nil {
		return graph.Result[look]{}, nil //nolint:nilerr // the first node has told of it
	}
	detail, err := layer.Detail(ctx, id)
	switch {
	case ctx.Err() != nil:
		return graph.Result[look]{}, fmt.Errorf("read the details of a widget: %w", ctx.Err())
	case err != nil:
		return graph.Update(lookProblem(node, err, "what the code says is used")), nil
	}
	return graph.Update(set(detail)), nil
}

func (f *Flow) findTabbar(ctx context.Context, step graph.Step[look]) (graph.Result[look], error) {
	l := step.State
	if l.Tree == nil || l.View != nil {
		return graph.Result[look]{}, nil
	}
	tabbar, ok := inspect.FindFirst(*l.Tree, func(e inspect.Element) bool { return e.Tag == "WmTabbar" })
	if !ok {
		return graph.Result[look]{}, nil
	}
	return f.detailOf(ctx, l, tabbar.ID, nodeTabbar, func(detail inspect.Detail) graph.Change[look] { return lookTabbar.Set(detail.ActivePage) })
}

// assembleState puts together what was seen. The page's name is what the question says, else
// the last page that was opened, else that of the page's widget, else the tab bar's.
func assembleState(ctx context.Context, step graph.Step[look]) (graph.Result[look], error) {
	l := step.State
	made := PageState{ActivePageFromTabbar: l.Tabbar, ElementTree: l.Tree, Events: l.Events, Live: l.Tree != nil || len(l.Events.Pages) > 0}
	if l.Target != nil {
		made.SelectedWidget = &SelectedWidget{WidgetID: l.Target.ID, WidgetName: l.Target.Name}
		if l.Detail != nil {
			made.SelectedWidget.Properties, made.SelectedWidget.Styles = l.Detail.Properties, l.Detail.Styles
		}
	}
	for _, problem := range l.Errors {
		if problem.Step == nodeTree {
			made.Failure = problem.Error
		}
	}
	if l.View != nil {
		made.PageName, made.PageNameFrom = l.View.Address, fromBrowser
		endStep(ctx, StepState, made.endStatus())
		return graph.Update(lookMade.Set(made)), nil
	}
	var unknown []Problem
	for _, told := range l.pageNames() {
		if told.name == "" {
			continue
		}
		if page, ok := pageNamed(l.Pages, told.name); ok {
			made.PageName, made.PageNameFrom = page.Name, told.from
			break
		}
		unknown = append(unknown, Problem{
			Step: nodeAssemble, Error: fmt.Sprintf("%s names the page %q, which the project doesn't have", told.from, told.name), RecoveryAction: "the next source is asked",
		})
	}
	endStep(ctx, StepState, made.endStatus())
	return graph.Update(lookMade.Set(made), lookErrors.Set(unknown)), nil
}

// toldPage is a page's name and what told it.
type toldPage struct{ name, from string }

func (l look) pageNames() []toldPage {
	told := []toldPage{{l.Asked, "the question"}}
	if pages := l.Events.Pages; len(pages) > 0 {
		told = append(told, toldPage{pages[len(pages)-1], "the app's timeline"})
	}
	if l.Tree != nil {
		if page, ok := inspect.FindFirst(*l.Tree, func(e inspect.Element) bool { return e.Tag == "WmPage" }); ok {
			told = append(told, toldPage{page.Name, "the page's widget"})
		}
	}
	told = append(told, toldPage{l.Tabbar, "the tab bar"})
	if len(l.Pages) == 1 {
		told = append(told, toldPage{l.Pages[0].Name, "the project, which has one page"})
	}
	return told
}

// pageNamed finds a page by its name or by that of its widget: "mainpage" of Main.
func pageNamed(pages []project.Page, name string) (project.Page, bool) {
	if page, ok := project.Named(pages, name); ok {
		return page, true
	}
	lower := strings.ToLower(name)
	return project.Named(pages, strings.TrimSuffix(lower, "page"))
}

// maxError is how much of an error is kept, in letters.
const maxError = 300
