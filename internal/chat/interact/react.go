package interact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Reaction is a reaction to an answer, that somebody put there or took away.
type Reaction struct {
	Run     chat.RunID // Controls.Rating of the answer
	By      chat.UserID
	Verdict chat.Verdict // Up or Down
	Removed bool
	// IsHere tells whether a thread is where the reaction is.
	IsHere func(chat.ThreadID) bool
	To     ReasonOfferer
}

// ReasonOfferer asks one person, without being asked for anything.
type ReasonOfferer interface {
	// OfferReason shows the person alone line and a button of SayWhy about the run. Where the
	// platform can't, it shows nothing; that is no error.
	OfferReason(ctx context.Context, run chat.RunID, line string, button Button) error
}

// reactions are what says that an answer helped, or did not: as emoji, and by the names that
// platforms have for them.
var reactions = map[string]chat.Verdict{
	"👍": chat.Up, "+1": chat.Up, "thumbsup": chat.Up,
	"✅": chat.Up, "white_check_mark": chat.Up,
	"✔": chat.Up, "heavy_check_mark": chat.Up,
	"💯": chat.Up, "100": chat.Up,
	"❤": chat.Up, "heart": chat.Up,
	"🙌": chat.Up, "raised_hands": chat.Up,
	"👎": chat.Down, "-1": chat.Down, "thumbsdown": chat.Down,
	"❌": chat.Down, "x": chat.Down,
}

// isVariant tells what changes the look of an emoji alone: tones of skin, and the variation
// selector.
func isVariant(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF || r == 0xFE0F }

// ReadReaction tells what a reaction says of an answer; chat.Unrated for one that rates nothing.
// emoji is the emoji itself, or its name.
func ReadReaction(emoji string) chat.Verdict {
	name, _, _ := strings.Cut(emoji, "::") // Slack's way to write a tone
	name = strings.Map(func(r rune) rune {
		if isVariant(r) {
			return -1
		}
		return r
	}, name)
	return reactions[name]
}

// React keeps what a reaction says of an answer as the person's rating. A rating by a button stands,
// whatever becomes of reactions that say the same.
func (c *Controller) React(ctx context.Context, bot *Handler, reaction Reaction) error {
	err := checkRun(ctx, bot, reaction.Run, reaction.IsHere)
	if err == nil {
		err = c.saveReaction(ctx, bot, reaction)
	}
	if words, ok := Refusal(err); ok { // nobody asked for anything
		c.Skip(ctx, "a reaction that is refused: "+words)
		return nil
	}
	return err
}

func (c *Controller) saveReaction(ctx context.Context, bot *Handler, reaction Reaction) error {
	before, err := findRating(ctx, bot, reaction.Run, reaction.By)
	if err != nil {
		return err
	}
	rating := chat.Rating{By: reaction.By, Verdict: reaction.Verdict, ByReaction: true, At: c.options.Now()}
	switch {
	case reaction.Removed && before.ByReaction && before.Verdict == reaction.Verdict:
		rating.Verdict = chat.Unrated
		return bot.Rate(ctx, reaction.Run, rating)
	case reaction.Removed, before.Verdict == reaction.Verdict:
		c.Skip(ctx, "a reaction that changes no rating")
		return nil
	}
	if err := bot.Rate(ctx, reaction.Run, rating); err != nil || reaction.Verdict != chat.Down {
		return err
	}
	return reaction.To.OfferReason(ctx, reaction.Run, "You marked an answer of mine as not helpful. What was wrong with it?",
		Button{Verb: SayWhy, About: string(reaction.Run), Label: "Say why"})
}

// findRating gives what a person thinks of an answer so far; the zero Rating for nothing.
func findRating(ctx context.Context, bot *Handler, run chat.RunID, by chat.UserID) (chat.Rating, error) {
	given, err := bot.RatingsOf(ctx, run)
	if err != nil {
		return chat.Rating{}, fmt.Errorf("look for a rating of run %s: %w", run, err)
	}
	if at := slices.IndexFunc(given, func(r chat.Rating) bool { return r.By == by }); at >= 0 {
		return given[at], nil
	}
	return chat.Rating{}, nil
}

// checkComplaint refuses a press about why a run's answer did not help where it is of another place,
// unless the person rated the answer so: they are asked wherever they can be asked alone.
func checkComplaint(ctx context.Context, bot *Handler, press Press) error {
	run := chat.RunID(press.About)
	refused := checkRun(ctx, bot, run, press.IsHere)
	if !errors.Is(refused, chat.ErrUnknownRun) {
		return refused
	}
	given, err := findRating(ctx, bot, run, press.By)
	switch {
	case err != nil:
		return err
	case given.Verdict == chat.Down:
		return nil
	}
	return refused
}
