package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/agent"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/prompts"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/sentence"
	"cairn/internal/knowledge/support"
	"cairn/internal/llm"
)

// partlyMark stands behind a sentence that its source supports in part.
const partlyMark = " *(only partly in the source)*"

// verifyWritten checks a text that a model wrote, sentence by sentence.
func (f *Flow) verifyWritten(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	draft := s.ResponseResults
	text, claims := claimsOf(draft.Written, draft.Shown)
	current, err := f.current(ctx, s, draft.Shown)
	if err != nil {
		return graph.Result[State]{}, err
	}
	evidence := withTexts(s.SearchResults, current)
	attribute(claims, evidence, draft.Shown)
	done, err := assign[analysis](ctx, f, step, assigned{
		to: answerGeneration, requests: []agent.Payload{claimsRequest{Run: s.RequestID, Claims: claims, Evidence: evidence}}, urgent: true,
	})
	if err != nil {
		return graph.Result[State]{}, err
	}
	judged, failure := only[claimsResponse](done)
	if failure != nil || len(judged.Verdicts) != len(claims) {
		judged.Verdicts = byWords(claims, evidence)
	}
	kept, remarks := remaining(claims, judged.Verdicts)
	changes := slices.Concat(used(done), lost(failure), []graph.Change[State]{
		modelUses.Set(judged.Uses), notes.Set(append(judged.Remarks, remarks...)),
	})
	if !slices.Contains(judged.Verdicts, support.Supported) && !slices.Contains(judged.Verdicts, support.Partly) || len(kept) == 0 {
		return f.unsupported(ctx, s, changes)
	}
	answer, cited := rewrite(text, s.SearchResults, kept)
	return graph.Update(append(changes,
		answerText.Set(f.guard(s).Clean(answer)), note.Set(withLanguages(noteFor(s), s, cited)), citations.Set(cited),
	)...), nil
}

// unsupported replaces a text of which nothing is supported by quotes, or declines.
func (f *Flow) unsupported(ctx context.Context, s State, changes []graph.Change[State]) (graph.Result[State], error) {
	changes = append(changes, notes.Set([]string{"no sentence that the model wrote is supported by what it cites"}))
	made := f.extract(s)
	if made.Abstained != "" {
		declined, err := f.decline(ctx, s, []string{"abstained: " + made.Abstained})
		return graph.Update(append(changes, declined...)...), err
	}
	s.ResponseResults = made.Draft
	s.ResponseResults.Fallback = unsupportedText
	quoted, err := f.verifyQuotes(ctx, s)
	return graph.Update(append(changes, quoted...)...), err
}

// unsupportedText is the reason for quoting where a model wrote what no source says.
const unsupportedText = "unsupported"

// withTexts gives the evidence with the texts that the index has now; a passage that is
// gone has none.
func withTexts(evidence []retrieve.Evidence, current map[int]string) []retrieve.Evidence {
	fresh := slices.Clone(evidence)
	for i := range fresh {
		fresh[i].Passage.Text = current[i]
	}
	return fresh
}

// attribute gives claims that cite nothing the passage among the shown ones that
// supports them, if one does.
func attribute(claims []claim, evidence []retrieve.Evidence, shown []int) {
	for i := range claims {
		c := &claims[i]
		if c.Lead || len(c.Cites) > 0 {
			continue
		}
		best := 0.0
		for _, position := range shown {
			verdict := checkAgainst(c.Text, evidence, []int{position})
			if verdict.Label == support.Supported && verdict.Score > best {
				best = verdict.Score
				c.Cites = []int{position}
			}
		}
	}
}

// checkAgainst checks a claim by its words against passages and where they stand.
func checkAgainst(text string, evidence []retrieve.Evidence, positions []int) support.Verdict {
	var sentences []string
	for _, position := range positions {
		e := evidence[position]
		if e.Passage.Text == "" {
			continue
		}
		sentences = append(sentences, e.Document.Title+" "+strings.Join(e.Passage.Headings, " "))
		for _, part := range sentence.Split(e.Passage.Text) {
			sentences = append(sentences, part.Text)
		}
	}
	return support.Check(text, sentences)
}

// byWords judges claims by their words alone.
func byWords(claims []claim, evidence []retrieve.Evidence) []support.Label {
	verdicts := make([]support.Label, len(claims))
	for i, c := range claims {
		switch {
		case c.Lead:
			verdicts[i] = ""
		case len(c.Cites) == 0:
			verdicts[i] = support.Unsupported
		default:
			verdicts[i] = checkAgainst(c.Text, evidence, c.Cites).Label
		}
	}
	return verdicts
}

// judge is AnswerGeneration's other work: whether passages support statements. Words
// settle what they can; a model, where there is one, judges the rest.
func (f *Flow) judge(ctx context.Context, _ *agent.Task, request claimsRequest) (claimsResponse, error) {
	judged := claimsResponse{Verdicts: byWords(request.Claims, request.Evidence)}
	var doubtful []int
	for i, c := range request.Claims {
		if !c.Lead && len(c.Cites) > 0 && judged.Verdicts[i] != support.Supported {
			doubtful = append(doubtful, i)
		}
	}
	if f.models.Verify == nil || len(doubtful) == 0 {
		return judged, nil
	}
	told, use, err := f.askVerdicts(ctx, request, doubtful)
	if err != nil {
		return claimsResponse{}, err
	}
	judged.Uses = []flows.ModelUse{use}
	if ctx.Err() != nil {
		return claimsResponse{}, fmt.Errorf("judge the answer: %w", ctx.Err())
	}
	if use.Failure != "" {
		judged.Remarks = []string{"judged by words alone, for the model failed: " + use.Failure}
		return judged, nil
	}
	for i, label := range told {
		judged.Verdicts[i] = label
	}
	return judged, nil
}

// verifyTokens bounds the sources that a model judges by.
const verifyTokens = 8000

// askVerdicts asks the model about claims; the result is by claim.
func (f *Flow) askVerdicts(ctx context.Context, request claimsRequest, doubtful []int) (map[int]support.Label, flows.ModelUse, error) {
	var cited []int
	for _, i := range doubtful {
		cited = distinctCites(append(cited, request.Claims[i].Cites...))
	}
	asked := make([]retrieve.Evidence, len(cited))
	for n, position := range cited {
		asked[n] = request.Evidence[position]
	}
	shown, _ := f.shown(f.models.Verify, asked, sizeOfContext{passages: len(asked), tokens: verifyTokens})
	prompt := prompts.Verify{Sources: shown}
	for n, i := range doubtful {
		var numbers []string
		for _, position := range request.Claims[i].Cites {
			numbers = append(numbers, fmt.Sprint(slices.Index(cited, position)+1))
		}
		prompt.Statements = append(prompt.Statements, prompts.Statement{
			Number: n + 1, Cites: strings.Join(numbers, ", "), Text: request.Claims[i].Text,
		})
	}
	messages, err := prompt.Messages()
	if err != nil {
		return nil, flows.ModelUse{}, err
	}
	type reply struct {
		Verdicts []struct {
			Statement int    `json:"statement"`
			Support   string `json:"support"`
		} `json:"verdicts"`
	}
	told, use := flows.ConsultFor[reply](ctx, roleVerify, f.models.Verify, llm.Request{Run: request.Run, Messages: messages, Schema: &prompts.VerifySchema})
	verdicts := make(map[int]support.Label)
	for _, v := range told.Verdicts {
		if label, known := labels[v.Support]; known && v.Statement >= 1 && v.Statement <= len(doubtful) {
			verdicts[doubtful[v.Statement-1]] = label
		}
	}
	return verdicts, use, nil
}

var labels = map[string]support.Label{"full": support.Supported, "partial": support.Partly, "none": support.Unsupported}

// judgedClaim is a claim that stays, and how well it is supported.
type judgedClaim struct {
	claim
	partly bool
}

// remaining gives what of an answer stays. A lead stays where something that it leads
// to does.
func remaining(claims []claim, verdicts []support.Label) (kept []judgedClaim, remarks []string) {
	removed, marked := 0, 0
	followed := false
	for i := len(claims) - 1; i >= 0; i-- {
		switch {
		case claims[i].Lead && followed:
			kept = append(kept, judgedClaim{claim: claims[i]})
			continue
		case claims[i].Lead:
			continue
		case verdicts[i] == support.Unsupported:
			removed++
			followed = followed && i > 0 && !claims[i-1].Lead
			continue
		case verdicts[i] == support.Partly:
			marked++
		}
		kept = append(kept, judgedClaim{claim: claims[i], partly: verdicts[i] == support.Partly})
		followed = true
	}
	slices.Reverse(kept)
	if removed > 0 {
		remarks = append(remarks, fmt.Sprintf("removed %d statements that their sources don't support", removed))
	}
	if marked > 0 {
		remarks = append(remarks, fmt.Sprintf("marked %d statements that their sources support in part", marked))
	}
	return kept, remarks
}

// rewrite puts what stays of a text together again, the sources numbered in the order
// in which they are cited.
func rewrite(text string, evidence []retrieve.Evidence, kept []judgedClaim) (answer string, cited []citation) {
	var b strings.Builder
	numbers := numbering{evidence: evidence}
	before := 0
	for i, c := range kept {
		if i > 0 {
			b.WriteString(between(text, before, c.Start))
		}
		b.WriteString(renumbered(text[c.Start:c.End], c, &numbers))
		before = c.End
	}
	return b.String(), numbers.cited
}

// between gives the white space that stood between two places, whatever was taken out
// from there.
func between(text string, from, to int) string {
	gap := text[from:to]
	if strings.TrimSpace(gap) == "" {
		return gap
	}
	switch {
	case strings.Contains(gap, "\n\n"):
		return "\n\n"
	case strings.Contains(gap, "\n"):
		return "\n"
	}
	return " "
}

// renumbered writes a claim with the numbers of its sources behind it.
func renumbered(original string, c judgedClaim, numbers *numbering) string {
	if c.Lead {
		return original
	}
	var written []int
	for _, position := range c.Cites {
		written = append(written, numbers.of(position))
	}
	slices.Sort(written)
	written = slices.Compact(written)
	var mark strings.Builder
	for _, number := range written {
		fmt.Fprintf(&mark, "[%d]", number)
	}
	if c.partly {
		mark.WriteString(partlyMark)
	}
	if isFence(c.Text) {
		return c.Text + "\n\n" + strings.TrimSpace(mark.String())
	}
	return withMarks(strings.TrimRight(marks.ReplaceAllString(original, ""), " \n"), mark.String())
}

// withMarks puts marks in front of the end of a sentence, or into the last cell of a
// table's row.
func withMarks(text, mark string) string {
	if mark == "" {
		return text
	}
	if isRow(text) && strings.HasSuffix(text, "|") {
		return strings.TrimRight(strings.TrimSuffix(text, "|"), " ") + " " + mark + " |"
	}
	end := len(strings.TrimRight(text, ".!?"))
	return text[:end] + " " + strings.TrimSpace(mark) + text[end:]
}
