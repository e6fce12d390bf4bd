package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/reply"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// verifyWritten checks a text that a model wrote, statement by statement.
func (f *Flow) verifyWritten(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	draft := s.ResponseResults
	current, err := f.current(ctx, s, draft.positions())
	if err != nil {
		return graph.Result[State]{}, err
	}
	evidence := withTexts(s.SearchResults, current)
	read := reply.Read(draft.Written, len(draft.Shown))
	claims := claimsOf(read, evidence, draft.Shown)
	draft.addJoined(claims)
	judgement := f.agents.judgement(step)
	judged, err := judgement.Request(ctx, claimsRequest{Run: s.RequestID, Question: asked(s), Claims: claims, Evidence: evidence})
	if err != nil && !isFailure(err) {
		return graph.Result[State]{}, err
	}
	if err != nil || len(judged.Verdicts) != len(claims) {
		judged.Verdicts = labelByWords(claims, verdictsByWords(claims, evidence, asked(s)), shownFrom)
		judged.Basis = judgedByWords
	}
	kept := decideClaims(claims, judged.Verdicts, s.OriginalQuery, draft.Shown)
	changes := slices.Concat(judgement.changes(), []graph.Change[State]{
		modelUses.Set(judged.Uses), notes.Set(append(judged.Remarks, kept.remarks()...)),
	})
	switch {
	case kept.stated == 0 && kept.refused:
		declined, err := f.decline(ctx, s, []string{"abstained: the model says that the sources don't tell"})
		return graph.Update(append(changes, declined...)...), err
	case kept.stated == 0:
		return f.unsupported(ctx, s, changes)
	}
	answer, cited := write(read, kept.decisions, s.SearchResults, draft.Shown)
	return graph.Update(append(changes,
		answerText.Set(f.guard(s).Clean(answer)), note.Set(withLanguages(kept.note(noteFor(s), judged.Basis), s, cited)), citations.Set(cited),
	)...), nil
}

// unsupported replaces a text of which nothing is supported by quotes, or declines.
func (f *Flow) unsupported(ctx context.Context, s State, changes []graph.Change[State]) (graph.Result[State], error) {
	changes = append(changes, notes.Set([]string{"no sentence that the model wrote is supported by what it cites"}))
	made := f.quotes.extract(s)
	if made.Abstained != "" {
		s.ResponseResults.Fallback = string(flows.Unsupported)
		declined, err := f.decline(ctx, s, []string{"abstained: " + made.Abstained})
		return graph.Update(append(changes, declined...)...), err
	}
	s.ResponseResults = made.Draft
	s.ResponseResults.Fallback = string(flows.Unsupported)
	quoted, err := f.verifyQuotes(ctx, s)
	return graph.Update(append(changes, quoted...)...), err
}

// withTexts gives the evidence with the texts that the index has now; a passage that is
// gone has none.
func withTexts(evidence []retrieve.Evidence, current map[int]string) []retrieve.Evidence {
	fresh := slices.Clone(evidence)
	for i := range fresh {
		fresh[i].Passage.Text = current[i]
	}
	return fresh
}

// decided is what becomes of a reply's claims.
type decided struct {
	decisions []reply.Decision
	speaker   phrases.Speaker // of the asker's language
	stated    int             // claims that stay
	marked    int
	removed   int
	told      bool // the removal is told in its place
	refused   bool // something says what the sources don't tell
}

// decideClaims keeps what is supported, marks what is in part, and removes the rest. A claim
// that cites nothing is given the source that supports it.
func decideClaims(claims []claim, verdicts []support.Label, question string, shown []int) decided {
	made := decided{decisions: make([]reply.Decision, len(claims)), speaker: phrases.In(language.Detect(question).Or(language.English))}
	for i, c := range claims {
		d := &made.decisions[i]
		made.refused = made.refused || c.AboutSources
		switch verdicts[i] {
		case support.Unsupported:
			d.Remove = true
			made.removed++
			continue
		case support.Partly:
			d.Remark = "*(" + made.speaker.Text(phrases.PartlyInSource) + ")*"
			made.marked++
		}
		if !c.asserts() {
			continue
		}
		made.stated++
		if !c.Own && len(c.Cites) > 0 && c.Next < 0 {
			d.Add = []int{slices.Index(shown, c.Cites[0]) + 1}
		}
	}
	made.tellInPlace(claims, question)
	return made
}

// tellInPlace says in the place of the first removed claim that alone speaks of a part of the
// question that something was left out there.
func (d *decided) tellInPlace(claims []claim, question string) {
	if d.removed == 0 || d.stated == 0 {
		return
	}
	var kept []string
	for i, c := range claims {
		if !d.decisions[i].Remove && c.asserts() {
			kept = append(kept, c.Text)
		}
	}
	answered := support.Of(kept...)
	for i, c := range claims {
		if !d.decisions[i].Remove || c.Kind != reply.Sentence && c.Kind != reply.Item {
			continue
		}
		said := support.Of(c.Text)
		for term := range support.Of(question) {
			if said.Has(term) && !answered.Has(term) && !lexical.IsFiller(term) && !lexical.IsStop(term) {
				d.decisions[i].Instead = "*(" + d.speaker.Text(phrases.RemovedHere) + ")*"
				d.told = true
				return
			}
		}
	}
}

// note adds to what is said below an answer how its claims were checked, and what was removed
// without a word in its place.
func (d decided) note(said string, by basis) string {
	lines := []string{said}
	if by == judgedByWords {
		lines = append(lines, d.speaker.Text(phrases.WordsCompared))
	}
	if d.removed > 0 && !d.told {
		lines = append(lines, d.speaker.Count(phrases.StatementsRemoved, d.removed))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// remarks are for the trace.
func (d decided) remarks() []string {
	var remarks []string
	if d.removed > 0 {
		remarks = append(remarks, fmt.Sprintf("removed %d statements that their sources don't support", d.removed))
	}
	if d.marked > 0 {
		remarks = append(remarks, fmt.Sprintf("marked %d statements that their sources support in part", d.marked))
	}
	return remarks
}

// write puts what stays of a reply together, the sources numbered in the order in which they
// are cited.
func write(read reply.Reply, decisions []reply.Decision, evidence []retrieve.Evidence, shown []int) (answer string, cited []citation) {
	numbers := numbering{evidence: evidence}
	answer = read.Write(decisions, func(source int) int { return numbers.of(shown[source-1]) })
	return answer, numbers.cited
}
