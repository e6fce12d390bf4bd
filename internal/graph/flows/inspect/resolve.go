package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// maxRounds is how often the page, or the widget, is asked for.
const maxRounds = 3

const pageKey = "page"

// resolvePageName asks which page is open. An unknown name is asked again with the nearest.
func (f *Flow) resolvePageName(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	answer, answered := step.Answer(pageKey)
	if !answered {
		return graph.Ask[State](s.askPage()), nil
	}
	named := answer.Choice
	if named == "" {
		named = cleanPageName(answer.Text)
	}
	if page, ok := pageNamed(s.Pages, named); ok {
		state := s.CurrentPageState
		state.PageName, state.PageNameFrom = page.Name, "you"
		return graph.Update(currentPageState.Set(state), chosenPage.Set(&page), userClarification.Set(Clarification{})), nil
	}
	next := []graph.Change[State]{
		rounds.Set(s.Rounds + 1), unknownPages.Set([]string{named}),
		userClarification.Set(Clarification{Needed: true, Question: s.askPage().Text}),
		problems.Set([]Problem{{Step: nodeResolve, Error: fmt.Sprintf("there is no page %q", shorten.Line(named, maxError)), RecoveryAction: "asked again with the nearest names"}}),
	}
	if s.Rounds+1 >= maxRounds {
		next = append(next, complete(ctx, StepRetrieve, flows.Skipped), complete(ctx, StepAnalyze, flows.Skipped), failure.Set(fmt.Sprintf(
			"I asked %d times and found no page of that name in %s, so I can't answer. Its pages are: %s.", maxRounds, formatCode(s.Name), listNames(s.pageLabels()))))
	}
	return graph.Update(next...), nil
}

// cleanPageName takes the name out of "the Main page", and what else people write around it.
func cleanPageName(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "`\"'.!")
	lower := strings.ToLower(text)
	for _, before := range []string{"it's ", "it is ", "i'm on ", "on ", "the page ", "page ", "the "} {
		if strings.HasPrefix(lower, before) {
			text, lower = text[len(before):], lower[len(before):]
		}
	}
	for _, behind := range []string{" page", " screen"} {
		if strings.HasSuffix(lower, behind) {
			text, lower = text[:len(text)-len(behind)], lower[:len(lower)-len(behind)]
		}
	}
	return strings.TrimSpace(text)
}

func (s State) pageLabels() []string {
	var names []string
	for _, page := range s.Pages {
		if page.Kind == project.PageKind {
			names = append(names, page.Name)
		}
	}
	if len(names) == 0 {
		for _, page := range s.Pages {
			names = append(names, page.Name)
		}
	}
	return names
}

// askPage asks for the page with the project's pages as choices, the nearest to the last answer
// first.
func (s State) askPage() graph.Question {
	offered, text := s.pageLabels(), "Which page is open?"
	if len(s.Unknown) > 0 {
		last := s.Unknown[len(s.Unknown)-1]
		offered = project.Nearest(last, offered)
		text = fmt.Sprintf("There is no page %s in %s. Which page is open?", formatCode(last), formatCode(s.Name))
	}
	if hidden := len(s.pageLabels()) - min(len(offered), graph.MaxChoices); hidden > 0 {
		text += fmt.Sprintf(" The project has %d more: write the name of one.", hidden)
	}
	question := graph.Question{Key: pageKey, Text: s.CurrentPageState.describeFailure() + text, FreeText: true}
	for _, name := range offered[:min(len(offered), graph.MaxChoices)] {
		question.Choices = append(question.Choices, graph.Choice{ID: name, Label: name})
	}
	return question
}
