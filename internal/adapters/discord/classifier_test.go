package discord

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

// regionClassifier takes for the bot's what speaks of a region.
type regionClassifier struct{ asked []string }

func (c *regionClassifier) IsForBot(_ context.Context, _ []chat.Turn, text string) (bool, error) {
	c.asked = append(c.asked, text)
	return strings.Contains(text, "region"), nil
}

func TestAModelJudgesWhereTheRulesDoNotKnow(t *testing.T) {
	classifier := &regionClassifier{}
	w := newTeam(t, func(options *Options) { options.Classifier = classifier })
	asked := w.Say(w.ann, w.general, bot+"where does it run?")
	w.wait(t)
	for _, text := range []string{"our region is north", "did you see the game?", "thanks!"} {
		w.Say(w.ben, asked.ID, text)
		w.wait(t)
	}
	var heard []string
	for _, message := range w.bot.Messages() {
		heard = append(heard, message.Text)
	}
	if got := strings.Join(heard, "|"); got != "where does it run?|our region is north" {
		t.Errorf("the bot heard %q", got)
	}
	if got := strings.Join(classifier.asked, "|"); got != "our region is north|did you see the game?" {
		t.Errorf("the model was asked about %q", got)
	}
}
