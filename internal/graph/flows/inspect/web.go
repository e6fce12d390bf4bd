package inspect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	plain "github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/inspect/webcode"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Web looks at web pages in a browser. *browser.Browser implements it.
type Web interface {
	// Allows tells whether a page may be looked at.
	Allows(address string) bool
	// Look opens a page and looks at a control of it; nothing is clicked. A page that may not be
	// opened is a *browser.RefusedError.
	Look(ctx context.Context, address string, target browser.Target) (browser.View, error)
	// Press does so, clicks the control once, and watches what the page does then.
	Press(ctx context.Context, address string, target browser.Target) (browser.View, error)
}

// WebPage is the web page that a question is about. The zero one is none.
type WebPage struct {
	Address string         `json:"address,omitempty"`
	At      *browser.Point `json:"at,omitempty"`    // of the control, on a screenshot
	Press   bool           `json:"press,omitempty"` // the question wants the control pressed
	Rounds  int            `json:"rounds,omitempty"`
}

// fromBrowser is what tells the name of a web page.
const fromBrowser = "the browser"

// maxPoint is the largest coordinate, and size, of a screenshot, in pixels.
const maxPoint = 4_000

var (
	// point is a place of a screenshot: "at 200,120", "at 200,120 of 1440x900".
	point = regexp.MustCompile(`(?i)\bat\s*\(?\s*(\d{1,4})\s*[,;]\s*(\d{1,4})\s*\)?(?:\s*(?:px|pixels?)\b)?(?:\s+(?:of|in|on)\s+(?:an?\s+)?(\d{3,4})\s*[x×]\s*(\d{3,4}))?`)
	// pressWish is a wish to have a control pressed, and pressAfter one behind other words.
	pressWish  = regexp.MustCompile(`(?i)^\W*(?:(?:please|pls|ok(?:ay)?|now|and|then|yes|so|can you|could you|would you|go ahead and)[\s,]+)*(?:(?:press|click|tap|hit|push)\b|try\s+(?:it|this|that)\b)`)
	pressAfter = regexp.MustCompile(`(?i)\b(?:please|and|then|you|to)\s+(?:press|click|tap|try)\s+(?:it|this|that)\b`)
	// questionWord begins a question, in which a press is only spoken of.
	questionWord = regexp.MustCompile(`(?i)^\W*(?:what|why|which|who|where|when|how|if|does|do|is|are|will|would|should|may)\b`)
)

// wantsPress tells whether a text wants a control pressed, and does not only ask what that would do.
func wantsPress(text string) bool {
	return pressWish.MatchString(text) || pressAfter.MatchString(text) && !questionWord.MatchString(text)
}

// cutPoint gives the place of a screenshot that a text names, and the text without it.
func cutPoint(text string) (*browser.Point, string) {
	found := point.FindStringSubmatchIndex(text)
	if found == nil {
		return nil, text
	}
	number := func(group int) int {
		if found[2*group] < 0 {
			return 0
		}
		value, err := strconv.Atoi(text[found[2*group]:found[2*group+1]])
		if err != nil {
			return 0
		}
		return min(value, maxPoint)
	}
	at := &browser.Point{X: number(1), Y: number(2), Width: number(3), Height: number(4)}
	return at, strings.TrimSpace(text[:found[0]] + " " + text[found[1]:])
}

// cutPage gives the web page that a text names and that may be looked at, and the text without it.
func (f *Flow) cutPage(text string) (page, rest string) {
	if f.options.Web == nil {
		return "", text
	}
	for _, found := range address.FindAllStringIndex(text, -1) {
		if named := cleanAddress(text[found[0]:found[1]]); f.options.Web.Allows(named) {
			return named, strings.TrimSpace(text[:found[0]] + " " + text[found[1]:])
		}
	}
	return "", text
}

// cleanAddress takes an address out of what chats and sentences put around it.
func cleanAddress(written string) string {
	written, _, _ = strings.Cut(strings.Trim(written, "<(> \t\n"), "|")
	return strings.TrimRight(written, "<>.,;:!?)")
}

// rolesOf are the roles of controls, by the kinds that people name.
var rolesOf = map[string]string{
	"button": "button", "link": "link", "anchor": "link", "text": "textbox", "number": "spinbutton", "search": "searchbox", "select": "combobox",
	"checkbox": "checkbox", "toggle": "switch", "switch": "switch", "tab": "tab", "tabs": "tab", "list": "list",
}

// needsControl tells whether the question is about one control of the page.
func (w WebPage) needsControl(q QueryAnalysis) bool {
	return w.Address != "" && (w.At != nil || q.WidgetReference != "" || q.Except != "" || w.Press)
}

// target is the control that a question is about.
func (w WebPage) target(q QueryAnalysis, text string) browser.Target {
	target := browser.Target{Role: rolesOf[q.WidgetKind], At: w.At, Except: q.Except}
	if q.WidgetReference == Selected || q.Except != "" {
		return target
	}
	target.Name, target.Text = q.WidgetReference, q.WidgetReference
	if at := strings.Index(text, q.WidgetReference); at >= 0 {
		target.Text = text[at:]
	}
	return target
}

// lookAtPage has the browser look at the page: its controls are the tree.
func (f *Flow) lookAtPage(ctx context.Context, l look) (graph.Result[look], error) {
	view, err := f.options.Web.Look(ctx, l.Web.Address, l.Web.target(l.Query, l.Text))
	switch refused, is := errors.AsType[*browser.RefusedError](err); {
	case is:
		return graph.Update(lookProblem(nodeTree, refused, withoutPage)), nil
	case ctx.Err() != nil:
		return graph.Result[look]{}, fmt.Errorf("look at the page: %w", ctx.Err())
	case err != nil:
		return graph.Update(lookProblem(nodeTree, err, withoutPage)), nil
	}
	changes := []graph.Change[look]{lookView.Set(&view), lookTree.Set(&view.Tree), lookEvents.Set(eventsOf(view))}
	for _, problem := range view.Problems {
		changes = append(changes, lookProblem(nodeDetail, errors.New(problem), "the answer goes without it"))
	}
	return graph.Update(changes...), nil
}

const withoutPage = "there is no answer"

func eventsOf(view browser.View) inspect.Events {
	return inspect.Events{Pages: []string{view.Address}, Requests: view.Requests, Messages: view.Messages}
}

// identifyControl takes the control that the browser found as the widget that is meant.
func identifyControl(view browser.View) graph.Result[look] {
	if view.Control == nil {
		return graph.Result[look]{}
	}
	return graph.Update(lookTarget.Set(&inspect.Element{ID: view.Control.ID, Name: view.Control.Name, Tag: view.Control.Role}))
}

// detailOfControl is what the browser told of the control.
func detailOfControl(view browser.View) graph.Result[look] {
	if view.Control == nil {
		return graph.Result[look]{}
	}
	detail := inspect.Detail{Properties: view.Control.Properties}
	for _, style := range view.Control.Styles {
		detail.Styles = append(detail.Styles, inspect.Style{Part: "root", Name: style.Name, Value: style.Value, Rule: style.Rule, Source: style.File})
	}
	return graph.Update(lookDetail.Set(&detail))
}

// endWeb gives what the look at a web page changes in the run: why there is no answer, where the
// page was not seen, or the control was asked for too often.
func (l look) endWeb() graph.Patch[State] {
	switch {
	case l.Web.Address == "":
		return nil
	case l.View == nil:
		reason := "it could not be opened"
		for _, problem := range l.Errors {
			reason = problem.Error
		}
		return graph.Patch[State]{failure.Set(fmt.Sprintf("I could not look at the page %s: %s", formatCode(l.Web.Address), plain.Clean(reason)))}
	case l.View.Control == nil && l.Web.needsControl(l.Query) && l.Web.Rounds >= maxRounds:
		return graph.Patch[State]{webView.Set(l.View), failure.Set(fmt.Sprintf(
			"I asked %d times and found no control of that name on the page %s, so I can't answer.", maxRounds, formatCode(l.Web.Address)))}
	}
	if l.Web.Press && l.View.Control != nil && l.View.Control.Disabled {
		return graph.Patch[State]{webView.Set(l.View), press.Set(Press{Failure: "it is disabled"})}
	}
	return graph.Patch[State]{webView.Set(l.View)}
}

// afterWebState is the node after a look at a web page.
func afterWebState(s State) string {
	switch {
	case s.Failure != "":
		return nodeAnswer
	case s.WebView.Control == nil && s.WebPage.needsControl(s.QueryAnalysis):
		return nodeControl
	case s.WebPage.Press && s.Press.Failure == "":
		return nodeApprove
	}
	return nodeFiles
}

const controlKey = "control"

// resolveControl asks which control of the page is meant, the nearest names first.
func (f *Flow) resolveControl(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	answer, answered := step.Answer(controlKey)
	if !answered {
		return graph.Ask[State](s.askControl()), nil
	}
	named := answer.Choice
	if named == "" {
		named = strings.Trim(strings.TrimSpace(answer.Text), "`\"'.!")
	}
	page, query := s.WebPage, s.QueryAnalysis
	page.Rounds++
	if page.At, _ = cutPoint(named); page.At == nil {
		query.WidgetReference = inspect.Cut(named)
	}
	query.Except = ""
	return graph.Update(webPage.Set(page), queryAnalysis.Set(query)), nil
}

func (s State) askControl() graph.Question {
	view := s.WebView
	given := s.QueryAnalysis.WidgetReference
	if given == Selected {
		given = ""
	}
	names := slices.Clone(view.Near)
	if len(names) == 0 {
		names = project.Nearest(given, inspect.Names(view.Tree))
	}
	text := fmt.Sprintf("Which control of the page %s do you mean?", formatCode(s.WebPage.Address))
	if given != "" {
		text = fmt.Sprintf("No one control of the page %s is called %s. Which one do you mean?", formatCode(s.WebPage.Address), formatCode(given))
	}
	question := graph.Question{Key: controlKey, Text: text, FreeText: true}
	for _, name := range slices.Compact(names) {
		if element, ok := inspect.FindFirst(view.Tree, func(e inspect.Element) bool { return e.Name == name }); ok && len(question.Choices) < graph.MaxChoices {
			question.Choices = append(question.Choices, graph.Choice{ID: name, Label: name, Detail: element.Tag})
		}
	}
	return question
}

// followHandlers follows the control's handlers through the files of the page's project, where one
// is known.
func (f *Flow) followHandlers(ctx context.Context, s State) (result graph.Result[State], err error) {
	if s.Project == "" {
		return graph.Update(complete(ctx, StepRetrieve, flows.Skipped)), nil
	}
	checkout, err := f.options.Open(ctx, s.Project)
	if refused, is := errors.AsType[*repository.RefusedError](err); is {
		return graph.Update(complete(ctx, StepRetrieve, flows.Failed), problems.Set([]Problem{{
			Step: nodeFiles, Error: shorten.Line(refused.Text, maxError), RecoveryAction: "the answer rests on the page alone",
		}})), nil
	}
	if err != nil {
		return graph.Result[State]{}, fmt.Errorf("open the project: %w", err)
	}
	defer func() { err = errors.Join(err, checkout.Close()) }()
	var traces []webcode.Trace
	var uses []ToolUse
	var wrong []Problem
	for _, handler := range s.WebView.AllHandlers() {
		started := f.options.Now()
		trace, err := followHandler(checkout, handler)
		if err != nil {
			wrong = append(wrong, Problem{Step: nodeFiles, Error: shorten.Line(err.Error(), maxError), RecoveryAction: "the handler is not followed"})
		}
		traces = append(traces, trace)
		for _, file := range trace.Files {
			uses = append(uses, ToolUse{Tool: "read_file", Arguments: file, Duration: f.options.Now().Sub(started)})
		}
		for _, problem := range trace.Problems {
			wrong = append(wrong, Problem{Step: nodeFiles, Error: shorten.Line(problem, maxError), RecoveryAction: "the handler is followed without it"})
		}
	}
	return graph.Update(
		webTraces.Set(traces), toolUsage.Set(uses), problems.Set(wrong), complete(ctx, StepRetrieve, flows.Completed),
		name.Set(checkout.Name), commit.Set(checkout.Commit), web.Set(checkout.Web),
	), nil
}

// followHandler follows a handler from its line in the source. Where no source map led there, the
// script may be a file of the project itself: then that line has the same code.
func followHandler(checkout *repository.Checkout, handler browser.Handler) (webcode.Trace, error) {
	if handler.Mapped {
		return webcode.Follow(checkout, handler.File, handler.Line)
	}
	script, err := url.Parse(handler.File)
	if err != nil || handler.Code == "" {
		return webcode.Trace{}, nil //nolint:nilerr // an address that is none is no file
	}
	trace, err := webcode.Follow(checkout, strings.TrimPrefix(script.Path, "/"), handler.Line)
	if err != nil {
		return webcode.Trace{}, nil //nolint:nilerr // the project need not have the script
	}
	content, err := checkout.Read(trace.File)
	if lines := strings.Split(string(content), "\n"); err != nil || trace.Line > len(lines) || !strings.Contains(lines[trace.Line-1], handler.Code) {
		return webcode.Trace{}, err
	}
	return trace, nil
}
