package answer

import (
	"context"
	"fmt"
	"slices"

	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/words"
	"cairn/internal/knowledge/support"
)

// refer resolves what the question leaves to the thread.
func (r *inquiry) refer(ctx context.Context, turns []flows.Turn) error {
	referent, leans := words.LeansOn(r.text)
	switch {
	case r.around != "":
		return r.lean(ctx, r.around, "")
	case len(turns) == 0:
		r.unresolved = referent
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

// subjectWords is how many telling words a message has at least that a follow-up may lean on, where
// one of the thread has as many: "nice, trying" tells nothing of what was spoken of.
const subjectWords = 2

// lastTurns gives the person's last message that tells what it is about, and the bot's last one.
func lastTurns(turns []flows.Turn) (person, bot string) {
	for _, turn := range slices.Backward(turns) {
		if turn.Role == flows.User && words.Telling(person) < subjectWords {
			if text := bounded(turn.Text); person == "" || words.Telling(text) >= subjectWords {
				person = text
			}
		}
		if turn.Role == flows.Assistant && bot == "" {
			bot = opening(turn.Text)
		}
	}
	return person, bot
}

// opening is the beginning of an answer, which says what it is about; the rest of a
// long one would drown the question.
func opening(text string) string {
	runes := []rune(bounded(text))
	return string(runes[:min(len(runes), maxOpening)])
}
