package inspect

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	plain "github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/reason"
)

// synthesize writes the answer: by a language model where there is one, from the facts alone,
// and by templates else.
func (f *Flow) synthesize(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.Failure != "" {
		return graph.Update(complete(ctx, StepAnswer, flows.Skipped)), nil
	}
	if len(s.PageAgentAnalysis.Understanding) == 0 {
		return graph.Update(complete(ctx, StepAnswer, flows.Failed), failure.Set(s.nothingFound())), nil
	}
	var changes []graph.Change[State]
	worded := ""
	if f.options.Model != nil {
		written, err := reason.Write(ctx, reason.Models{Write: f.options.Model, Verify: f.options.Verifier}, reason.Task{
			Run: s.RequestID, Work: reason.Answer, Text: s.Query, Sources: s.sources(),
		})
		if err != nil {
			return graph.Result[State]{}, fmt.Errorf("word the answer: %w", err)
		}
		changes = append(changes, modelUses.Set(written.Uses))
		var b strings.Builder
		for _, section := range written.Sections {
			for _, statement := range section.Statements {
				var cites []string
				for _, cite := range statement.Cites {
					cites = append(cites, linkText(formatCode(cite.Label), cite.URL))
				}
				fmt.Fprintf(&b, "%s (%s)\n", plain.Clean(statement.Text), strings.Join(slices.Compact(cites), ", "))
			}
		}
		worded = b.String()
	}
	return graph.Update(append(changes, finalAnswer.Set(s.answer(worded)), complete(ctx, StepAnswer, flows.Completed))...), nil
}

// sources are the facts as a model is shown them.
func (s State) sources() []reason.Source {
	var all []reason.Source
	for _, fact := range s.PageAgentAnalysis.Understanding {
		label := "the running app"
		if s.WebView != nil {
			label = "the page"
		}
		if fact.File != "" {
			label = fmt.Sprintf("%s:%d", path.Base(fact.File), fact.Line)
		}
		all = append(all, reason.Source{Label: label, URL: repository.Link(s.Web, fact.File, fact.Line), Text: fmt.Sprintf("%s: %s", fact.About, fact.Text)})
	}
	return all
}

// groups are the parts of an answer, in their order.
var groups = []struct {
	about []Information
	title string
}{
	{[]Information{AboutPress}, "What happened when I pressed it"},
	{[]Information{AboutRequests}, "What fails"},
	{[]Information{AboutNavigation}, "How to get there"},
	{[]Information{AboutLocation}, "Where it is"},
	{[]Information{AboutEvents, AboutBehaviour}, "What happens"},
	{[]Information{AboutStyles, AboutTheme}, "How it looks"},
	{[]Information{AboutProperties}, "Its properties"},
	{[]Information{AboutOwners}, "Who owns it"},
}

// answer writes the facts that the question wants, with what a model said of them before.
func (s State) answer(worded string) string {
	var b strings.Builder
	if s.WebView != nil {
		b.WriteString(s.webHeadline())
	} else if widget := s.PageAgentAnalysis.Widget; widget != "" {
		fmt.Fprintf(&b, "%s on page %s", formatCode(widget), formatCode(s.Page.Name))
	} else if s.Page != nil {
		fmt.Fprintf(&b, "Page %s", formatCode(s.Page.Name))
	} else {
		b.WriteString("The app")
	}
	if s.Name != "" {
		fmt.Fprintf(&b, " of %s%s", formatCode(s.Name), s.describeCommit())
	}
	b.WriteString(":\n")
	if worded != "" {
		fmt.Fprintf(&b, "\n%s", worded)
	}
	for _, group := range groups {
		var facts []Fact
		for _, fact := range s.PageAgentAnalysis.Understanding {
			if slices.Contains(group.about, fact.About) && s.isWanted(fact.About) {
				facts = append(facts, fact)
			}
		}
		if len(facts) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n**%s**\n\n", group.title)
		for _, fact := range facts {
			place := ""
			if fact.File != "" {
				place = " (" + s.linkFact(fact) + ")"
			}
			fmt.Fprintf(&b, "%s- %s%s\n", strings.Repeat("  ", min(fact.Depth, maxIndent)), fact.Text, place)
		}
	}
	return b.String()
}

// maxIndent is how deep lists are nested.
const maxIndent = 5

// isWanted tells whether the question wants a kind of fact. Where a widget is, is always said.
func (s State) isWanted(about Information) bool {
	q := s.QueryAnalysis
	switch about {
	case AboutLocation, AboutPress:
		return true
	case AboutOwners, AboutRequests:
		return s.WebView != nil || q.asksFor(about)
	case AboutEvents:
		return q.asksFor(AboutEvents) || q.asksFor(AboutBehaviour) || q.Action != ""
	case AboutBehaviour:
		return q.asksFor(AboutBehaviour) || q.asksFor(AboutEvents) || q.Action != ""
	case AboutStyles:
		return q.asksFor(AboutStyles) || q.asksFor(AboutTheme)
	}
	return q.asksFor(about)
}

func (s State) describeCommit() string {
	if s.Commit == "" {
		return ""
	}
	return " at " + formatCode(s.Commit[:min(len(s.Commit), shortCommit)])
}

// shortCommit is how much of a commit's hash is shown.
const shortCommit = 7

// linkFact names the place of a fact, linked to its line at the commit.
func (s State) linkFact(fact Fact) string {
	return linkText(formatCode(fmt.Sprintf("%s:%d", fact.File, fact.Line)), repository.Link(s.Web, fact.File, fact.Line))
}

func linkText(text, target string) string {
	if target == "" {
		return text
	}
	return "[" + text + "](" + target + ")"
}

// nothingFound says why there is no answer.
func (s State) nothingFound() string {
	if s.QueryAnalysis.WidgetReference == "" && s.Page != nil {
		var names []string
		for _, location := range s.PageAgentAnalysis.WidgetLocations {
			names = append(names, location.Widget)
		}
		return fmt.Sprintf("I don't know which widget you mean. Page %s has %s: name one, as in `what does %s do?`.", formatCode(s.Page.Name), listNames(names), firstOf(names, "button1"))
	}
	text := "I found nothing on that in the files that I could read."
	for _, problem := range s.Errors {
		text += fmt.Sprintf("\n- %s: %s.", plain.Clean(problem.Error), problem.RecoveryAction)
	}
	return text
}

func firstOf(names []string, other string) string {
	if len(names) == 0 {
		return other
	}
	return strings.ReplaceAll(names[0], "`", "")
}

// note is how the answer came about.
func (s State) note() string {
	read := "Read in the project's files"
	if s.WebView != nil {
		read = "Seen in a browser of my own" + s.describeFollowing()
	}
	by := read + " by rules; no language model was used."
	if len(s.Models) > 0 && s.Models[0].Failure == "" {
		by = read + " by rules; a language model worded it."
	}
	if s.WebView != nil && s.WebView.Control != nil && !s.WebPage.Press && s.isWanted(AboutBehaviour) {
		by += " Nothing was pressed: `press it` asks you for that."
	} else if s.CurrentPageState.Live && s.WebView == nil {
		by += fmt.Sprintf(" The page is told by %s.", s.CurrentPageState.PageNameFrom)
	}
	if failure := s.CurrentPageState.describeFailure(); failure != "" {
		by += " " + strings.TrimSpace(failure)
	}
	if wrong := s.describeUnreadFiles(); wrong != "" {
		by += " Not read: " + wrong + "."
	}
	return by
}

// describeUnreadFiles names what is wrong in files.
func (s State) describeUnreadFiles() string {
	var all []string
	for _, problem := range s.Errors {
		if problem.Step == nodeParse || problem.Step == nodeFiles {
			all = append(all, plain.Clean(problem.Error))
		}
	}
	return strings.Join(all[:min(len(all), 3)], "; ")
}

// webHeadline names the control, where there is one, and the page.
func (s State) webHeadline() string {
	page := formatCode(s.WebPage.Address)
	if s.WebView.Control != nil {
		return formatCode(s.controlName()) + " on page " + page
	}
	return "Page " + page
}

// describeFollowing tells that handlers were followed through files.
func (s State) describeFollowing() string {
	for _, trace := range s.WebTraces {
		if trace.File != "" {
			return ", and read in the project's files,"
		}
	}
	return ""
}
