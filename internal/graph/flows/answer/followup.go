package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/words"
	"cairn/internal/knowledge/support"
	"cairn/internal/shorten"
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
