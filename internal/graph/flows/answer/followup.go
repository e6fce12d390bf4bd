package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// refer resolves what the question leaves to the thread.
func (r *inquiry) refer(ctx context.Context, turns []flows.Turn) error {
	referent, leans := words.LeansOn(r.text)
	switch {
	case r.around != "":
		return r.lean(ctx, r.around, "")
	case len(turns) == 0:
		if !words.DescribesReferent(r.text) {
			r.unresolved = referent
		}
		return nil
	}
	if !leans && len(r.profile.Terms) > 2 {
		return nil
	}
	before, answered := lastTurns(turns)
	return r.lean(ctx, before, answered)
}

// lean searches also by what was said before the question, of which the bot's part counts
// less.
func (r *inquiry) lean(ctx context.Context, before, answered string) error {
	r.followUp = true
	weights := newWeights()
	for _, term := range r.searched {
		weights.raise(term.Text, term.Weight)
	}
	said := tellingTerms(before, isFiller)
	weights.raiseAll(said, userTurnWeight)
	weights.raiseAll(tellingTerms(answered, isFiller), botTurnWeight)
	r.searched = weights.terms()
	r.whole = words.WriteOut(before) + " " + r.long
	r.remarks = append(r.remarks, "read as a follow-up to: "+before)
	around := support.Profile{}
	for _, word := range said {
		around.Terms = append(around.Terms, word.terms...)
	}
	if err := around.Weigh(ctx, r.index); err != nil {
		return fmt.Errorf("look up the thread's words: %w", err)
	}
	for _, term := range around.Terms {
		term.IDF *= userTurnWeight
		r.leanedOn = append(r.leanedOn, term)
	}
	return nil
}

// lastTurns gives what the person said last, and the bot: the message that the bot replied to last,
// with those behind its reply, such as "nice, trying", and with earlier ones where it tells little.
func lastTurns(turns []flows.Turn) (person, bot string) {
	var said []string
	for _, turn := range slices.Backward(turns) {
		switch {
		case turn.Role == flows.Assistant && bot == "":
			bot = opening(turn.Text)
		case turn.Role == flows.User:
			said = append(said, turn.Text)
		}
		enough := bot != "" && turn.Role == flows.User && words.Telling(strings.Join(said, " ")) >= subjectWords
		if enough || len(said) == maxSaid {
			break
		}
	}
	slices.Reverse(said)
	return bounded(strings.Join(said, " ")), bot
}

const (
	// maxSaid is how many messages a follow-up leans on at most.
	maxSaid = 3
	// subjectWords is how many telling words they have, where the thread has as many.
	subjectWords = 2
)

// opening is the beginning of an answer, which says what it is about; the rest of a
// long one would drown the question.
func opening(text string) string {
	return shorten.Head(bounded(text), maxOpening)
}

// citedBefore gives the passages that the bot's last turn cites, for a question that only points
// back: "since when?", "and how do I undo that?".
func citedBefore(meant understanding, turns []flows.Turn) []knowledge.PassageID {
	if !meant.FollowUp || countThings(meant.Profile) > 1 {
		return nil
	}
	for _, turn := range slices.Backward(turns) {
		if turn.Role == flows.Assistant {
			return turn.Cited
		}
	}
	return nil
}

// withCited adds the passages that were just cited to what a search found for a question that only
// points back, each taken to be as good as the best: what else they are tells their order.
func (f *Flow) withCited(ctx context.Context, meant understanding, turns []flows.Turn, evidence []retrieve.Evidence) ([]retrieve.Evidence, error) {
	var missing []knowledge.PassageID
	for _, id := range citedBefore(meant, turns) {
		if !slices.ContainsFunc(evidence, func(e retrieve.Evidence) bool { return e.Passage.ID == id }) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return evidence, nil
	}
	found, err := f.index.Passages(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("read the passages that were just cited: %w", err)
	}
	best := 1.0
	if len(evidence) > 0 {
		best = evidence[0].Score
	}
	joined := slices.Clone(evidence)
	for _, cited := range found {
		joined = append(joined, retrieve.Evidence{Document: cited.Document, Passage: cited.Passage, Score: best})
	}
	return joined, nil
}

// asideOfCited is what other evidence counts where the passages that were just cited go first.
const asideOfCited = 0.8

// preferCited lets the passages go first that were just cited, where a question only points back
// and they hold as much of its own words as what would be first.
func preferCited(meant understanding, turns []flows.Turn, evidence []retrieve.Evidence) []retrieve.Evidence {
	cited := citedBefore(meant, turns)
	if len(cited) == 0 || len(evidence) == 0 {
		return evidence
	}
	best, held := evidence[0].Score, meant.Profile.Coverage(termsOf(evidence[0]))
	goesFirst := func(e retrieve.Evidence) bool {
		return slices.Contains(cited, e.Passage.ID) && meant.Profile.Coverage(termsOf(e)) >= held
	}
	if !slices.ContainsFunc(evidence, goesFirst) {
		return evidence
	}
	preferred := slices.Clone(evidence)
	for i, e := range preferred {
		preferred[i].Score = e.Score * asideOfCited
		if goesFirst(e) {
			preferred[i].Score = max(asideOfCited*best, e.Score)
		}
	}
	slices.SortStableFunc(preferred, func(a, b retrieve.Evidence) int {
		if first := goesFirst(a); first != goesFirst(b) {
			if first {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Score, a.Score)
	})
	return preferred
}
