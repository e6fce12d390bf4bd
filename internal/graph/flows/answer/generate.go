package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/agent"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/sentence"
	"cairn/internal/knowledge/support"
	"cairn/internal/llm/guard"
)

// size is how much an answer of some depth says.
type size struct {
	passages   int     // at most that many are quoted from
	characters int     // quoted at most, more or less
	floor      float64 // a passage's score against the best one's, to be quoted at all
}

var sizes = map[flows.Depth]size{
	flows.Brief:         {passages: 2, characters: 400, floor: 0.8},
	flows.Detailed:      {passages: 5, characters: 1400, floor: 0.6},
	flows.Comprehensive: {passages: 12, characters: 4500, floor: 0.35},
}

// generate makes the draft of an answer and streams it. Without AnswerGeneration it
// quotes itself.
func (f *Flow) generate(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	done, err := assign[response](ctx, f, step, assigned{
		to: answerGeneration, requests: []agent.Payload{draftRequest{State: s}}, urgent: true,
		progress: func(update agent.Payload) {
			if next, ok := update.(piece); ok {
				step.Emit(next.Text)
			}
		},
	})
	if err != nil {
		return graph.Result[State]{}, err
	}
	made, failure := only[draftResponse](done)
	if failure != nil {
		made = f.extract(s)
	}
	if made.Abstained != "" {
		made.Remarks = append(made.Remarks, "abstained: "+made.Abstained)
	}
	return graph.Update(slices.Concat(used(done), lost(failure), []graph.Change[State]{
		abstained.Set(made.Abstained != ""),
		responseResults.Set(made.Draft),
		modelUses.Set(made.Uses),
		notes.Set(made.Remarks),
	})...), nil
}

// draft is AnswerGeneration's work: the model writes where there is one, and where it
// can't, or there is none, sentences are quoted.
func (f *Flow) draft(ctx context.Context, task *agent.Task, request draftRequest) (draftResponse, error) {
	s := request.State
	out := guard.NewStream(f.guard(s), func(text string) { task.Progress(piece{Text: text}) })
	if f.models.Answer == nil || len(s.SearchResults) == 0 {
		made := f.extract(s)
		text, _ := compose(s.SearchResults, made.Draft)
		out.Write(text)
		out.Close()
		return made, nil
	}
	return f.write(ctx, s, out)
}

// extract quotes. It abstains where the evidence does not bear on the question.
func (f *Flow) extract(s State) draftResponse {
	if reason := unanswerable(s); reason != "" {
		return draftResponse{Abstained: reason}
	}
	return draftResponse{Draft: quote(s, f.documents)}
}

// quote makes the draft of an answer from the evidence.
func quote(s State, documents int) Draft {
	wanted := sizes[s.Depth]
	var picked []Sentence
	left := wanted.characters
	ranked := rankSentences(s, wanted, documents)
	taken := make(map[[2]int]bool)
	for _, candidate := range ranked {
		if left <= 0 {
			break
		}
		for _, unit := range candidate.with() {
			key := [2]int{unit.Evidence, unit.Position}
			if taken[key] || repeats(unit, picked) || tooLong(unit, left, picked) {
				continue
			}
			taken[key] = true
			picked = append(picked, unit)
			left -= len(unit.Text)
		}
	}
	slices.SortStableFunc(picked, func(a, b Sentence) int {
		return cmp.Or(cmp.Compare(a.Evidence, b.Evidence), cmp.Compare(a.Position, b.Position))
	})
	return Draft{Sentences: picked}
}

// tooLong says whether a block would take much more room than is left.
func tooLong(unit Sentence, left int, picked []Sentence) bool {
	return unit.Block && len(picked) > 0 && len(unit.Text) > left+spareRoom
}

// spareRoom is how many characters a last block may go over an answer's size.
const spareRoom = 300

// candidate is a sentence of a passage with what belongs to it.
type candidate struct {
	Sentence
	passage []Sentence
}

// with gives the sentence and what it can't be read without: what a colon announces,
// what announces a block, and the header of a table's row.
func (c candidate) with() []Sentence {
	units := []Sentence{c.Sentence}
	at := c.Position
	if isRow(c.Text) {
		header := at
		for header > 0 && isRow(c.passage[header-1].Text) {
			header--
		}
		return append(units, c.passage[header])
	}
	if c.Block && at > 0 && announces(c.passage[at-1].Text) {
		units = append(units, c.passage[at-1])
	}
	if announces(c.Text) {
		for next := at + 1; next < len(c.passage) && c.passage[next].Block && next-at <= maxAnnounced; next++ {
			units = append(units, c.passage[next])
		}
	}
	return units
}

// maxAnnounced is how many list items or blocks a colon brings along.
const maxAnnounced = 8

func announces(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), ":") }

// rankSentences scores the sentences of the passages worth quoting, best first.
func rankSentences(s State, wanted size, documents int) []candidate {
	var ranked []candidate
	quoted := make(map[knowledge.DocumentID]bool)
	for i, e := range s.SearchResults[:min(len(s.SearchResults), wanted.passages)] {
		if e.Score < wanted.floor*s.SearchResults[0].Score {
			break
		}
		if !quoted[e.Document.ID] && len(quoted) == documents {
			continue
		}
		quoted[e.Document.ID] = true
		ranked = append(ranked, passageSentences(s, i, e)...)
	}
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(b.Score, a.Score) })
	return ranked
}

// passageSentences scores the sentences of one passage: by how much of the question
// they hold themselves, with what stands around them counting less, and by the
// passage they stand in.
func passageSentences(s State, at int, e retrieve.Evidence) []candidate {
	split := sentence.Split(e.Passage.Text)
	units := make([]Sentence, len(split))
	covered := make([]float64, len(split))
	for i, part := range split {
		units[i] = Sentence{Text: part.Text, Evidence: at, Position: i, Block: part.Block}
		covered[i] = s.Profile.Coverage(support.Of(part.Text))
	}
	heading := s.Profile.Coverage(support.Of(e.Document.Title, strings.Join(e.Passage.Headings, " ")))
	ranked := make([]candidate, len(split))
	for i := range units {
		around := neighbours(covered, i)
		score := e.Score * (0.3 + 0.3*heading + covered[i] + 0.4*around + bonus(s.Intent, units[i]))
		units[i].Score = score
	}
	for i := range units {
		ranked[i] = candidate{Sentence: units[i], passage: units}
	}
	return ranked
}

func neighbours(covered []float64, i int) float64 {
	around := 0.0
	if i > 0 {
		around = covered[i-1]
	}
	if i+1 < len(covered) {
		around = max(around, covered[i+1])
	}
	return around
}

// bonus favours the form of sentence that a kind of question is answered by.
func bonus(intent Intent, unit Sentence) float64 {
	switch {
	case unit.Position == 0 && intent == Definition:
		return 0.4
	case unit.Position == 0:
		return 0.1
	case intent == List && unit.Block:
		return 0.2
	case (intent == HowTo || intent == Lookup) && strings.Contains(unit.Text, "`"):
		return 0.15
	}
	return 0
}

// repeats says whether a sentence says what one already picked says.
func repeats(unit Sentence, picked []Sentence) bool {
	set := support.Of(unit.Text)
	if len(set) == 0 {
		return true
	}
	for _, p := range picked {
		shared := 0
		other := support.Of(p.Text)
		for term := range set {
			if other.Has(term) {
				shared++
			}
		}
		if float64(shared) >= 0.85*float64(max(len(set), len(other))) {
			return true
		}
	}
	return false
}

// compose writes a verified draft out: the quotes of a passage together, each with
// the number of its source. It returns the citations in the order of their numbers.
func compose(evidence []retrieve.Evidence, draft Draft) (text string, cited []citation) {
	var b strings.Builder
	numbers := numbering{evidence: evidence}
	units := draft.Sentences
	for i, unit := range units {
		number := numbers.of(unit.Evidence)
		if i > 0 {
			b.WriteString(separator(units[i-1], unit))
		}
		b.WriteString(strings.TrimRight(unit.Text, " \n"))
		if i+1 == len(units) || !sameTable(unit, units[i+1]) {
			b.WriteString(mark(unit, number))
		}
	}
	return b.String(), numbers.cited
}

// separator is a space between sentences that run on, a line between items of a list
// and rows of a table, and an empty line everywhere else.
func separator(before, unit Sentence) string {
	runsOn := before.Evidence == unit.Evidence && before.Position+1 == unit.Position
	switch {
	case runsOn && !before.Block && !unit.Block:
		return " "
	case runsOn && isItem(before.Text) && isItem(unit.Text), sameTable(before, unit):
		return "\n"
	default:
		return "\n\n"
	}
}

func isItem(text string) bool { return sentence.ItemMarker(text) > 0 }

func isRow(text string) bool { return strings.HasPrefix(text, "|") }

func sameTable(a, b Sentence) bool {
	return a.Evidence == b.Evidence && isRow(a.Text) && isRow(b.Text)
}

// mark is the number of a source as it stands behind a quote, or below a block that
// takes nothing behind it.
func mark(unit Sentence, number int) string {
	if unit.Block && !isItem(unit.Text) {
		return fmt.Sprintf("\n\n[%d]", number)
	}
	return fmt.Sprintf(" [%d]", number)
}
