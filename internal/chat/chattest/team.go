package chattest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Person is somebody of a Team.
type Person string

// The people of a Team. Ben is the one who is called where a person is asked for, and manages
// the place.
const (
	Ann Person = "Ann"
	Ben Person = "Ben"
)

// Team is a place on a platform with an adapter in it, and people who use it. All of them see
// one channel; a conversation begins there by a mention of the bot. No method waits for the
// bot.
type Team interface {
	// Mention has a person ask the bot in the channel, which begins a conversation.
	Mention(t *testing.T, who Person, text string)
	// Say has a person write in that conversation, without a mention.
	Say(t *testing.T, who Person, text string)
	// Command has a person ask in the channel so that they alone see the answer, or change
	// settings: "admin off".
	Command(t *testing.T, who Person, text string)
	// Edit has a person change their last message; for text "" they delete it.
	Edit(t *testing.T, who Person, text string)
	TeamControls
	TeamView
}

// TeamControls is what people of a Team do beside writing.
type TeamControls interface {
	// Press has a person press the latest button with a label that they see, or take the entry
	// of a menu; false where they see none.
	Press(t *testing.T, who Person, label string) bool
	// PressAgain has a person press the button that they pressed last once more, as it was: their
	// screen does not show yet what came of it.
	PressAgain(t *testing.T, who Person)
	// React has a person react to the bot's last message in that conversation, or take the reaction
	// back.
	React(t *testing.T, who Person, emoji string, on bool)
	// Fill has a person write into the form that is open to them, and send it.
	Fill(t *testing.T, who Person, text string)
}

// TeamView is what can be seen of a Team.
type TeamView interface {
	// Seen gives all that a person sees, as text: messages, forms and what is shown to them
	// alone, with the labels of buttons in square brackets.
	Seen(t *testing.T, who Person) string
	// Await waits until something holds, asking it again whenever something changed.
	Await(ctx context.Context, holds func() bool) error
}

// OpenTeam makes a team with a bot that answers as Play says, and gives what it keeps of
// ratings.
type OpenTeam func(t *testing.T) (team Team, ratings func(t *testing.T) []chat.Rating)

// What the bot of a Team is asked.
const (
	AskAnswered  = "how do I roll back a release?"
	AskAbstained = "who owns the billing dashboard?"
	AskMeant     = "how do I roll it back?"
	AskFailing   = "which index is broken?" // fails, and is answered when it is tried again
	AskEndless   = "how long is eternity?"  // works until it is stopped
)

// TestTeam checks an adapter of a platform with buttons, and what people do by it, with a bot
// behind it.
func TestTeam(t *testing.T, open OpenTeam) {
	for _, test := range []struct {
		name string
		tell func(s *story, t *testing.T)
	}{
		{"a question is answered with its sources", (*story).tellAnswer},
		{"a thread goes on without mentions", (*story).tellFollowUp},
		{"a question is asked back and answered", (*story).tellQuestion},
		{"a question is answered in other words", (*story).tellWords},
		{"a question is for who asked", (*story).tellOthers},
		{"ratings are kept with their reason", (*story).tellRatings},
		{"a reaction to an answer is a rating", (*story).tellReactions},
		{"a person is asked for once, takes it and settles it", (*story).tellHelp},
		{"a private answer is shared", (*story).tellShare},
		{"why and all sources are shown to who presses", (*story).tellWhy},
		{"a failed run is tried again", (*story).tellRetry},
		{"a run is stopped", (*story).tellStop},
		{"who manages the place turns the bot off and on", (*story).tellManage},
		{"an edit is answered anew, and a deleted question taken back", (*story).tellEdit},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.tell(newStory(t, open), t)
		})
	}
}

// story is what a team lives through.
type story struct {
	Team
	ratings func(t *testing.T) []chat.Rating
}

func newStory(t *testing.T, open OpenTeam) *story {
	team, ratings := open(t)
	return &story{team, ratings}
}

// seeWithin is how long people wait for what the bot does.
const seeWithin = 30 * time.Second

// expectSeen waits until a person sees all parts.
func (s *story) expectSeen(t *testing.T, who Person, parts ...string) {
	t.Helper()
	s.expect(t, fmt.Sprintf("%s sees %q", who, parts), func() bool {
		seen := s.Seen(t, who)
		for _, part := range parts {
			if !strings.Contains(seen, part) {
				return false
			}
		}
		return true
	})
}

// expectGone waits until a person does not see a part any more.
func (s *story) expectGone(t *testing.T, who Person, part string) {
	t.Helper()
	s.expect(t, fmt.Sprintf("%s sees no %q", who, part), func() bool { return !strings.Contains(s.Seen(t, who), part) })
}

func (s *story) expect(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), seeWithin)
	defer cancel()
	if err := s.Await(ctx, holds); err != nil {
		t.Fatalf("not within %s: %s. Ann sees:\n%s\nBen sees:\n%s", seeWithin, what, s.Seen(t, Ann), s.Seen(t, Ben))
	}
}

// expectNot fails where a person sees a part now.
func (s *story) expectNot(t *testing.T, who Person, part string) {
	t.Helper()
	if seen := s.Seen(t, who); strings.Contains(seen, part) {
		t.Errorf("%s sees %q:\n%s", who, part, seen)
	}
}

func (s *story) mustPress(t *testing.T, who Person, label string) {
	t.Helper()
	if !s.Press(t, who, label) {
		t.Fatalf("%s sees no button %q:\n%s", who, label, s.Seen(t, who))
	}
}

func (s *story) tellAnswer(t *testing.T) {
	s.Mention(t, Ann, AskAnswered)
	s.expectSeen(t, Ben, "one command", "Deploying the API", "[Helpful]", "[Not helpful]")
	s.Mention(t, Ben, AskAbstained)
	s.expectSeen(t, Ann, "do not say who owns", "[Ask a human]")
}

func (s *story) tellFollowUp(t *testing.T) {
	s.Mention(t, Ann, AskAnswered)
	s.expectSeen(t, Ann, "one command", "[Helpful]")
	s.Say(t, Ben, "thanks!")
	s.Say(t, Ben, "let me look")
	s.Say(t, Ann, "and on staging?")
	s.expectSeen(t, Ben, "You said: and on staging?")
	s.Say(t, Ben, "does it need a window?")
	s.expectSeen(t, Ann, "You said: does it need a window?")
	for _, silent := range []string{"You said: thanks!", "You said: let me look"} {
		s.expectNot(t, Ann, silent)
	}
}

func (s *story) tellQuestion(t *testing.T) {
	s.Mention(t, Ann, AskMeant)
	s.expectSeen(t, Ben, "do you mean", "[The API]")
	s.mustPress(t, Ann, "The API")
	s.expectSeen(t, Ben, "You chose api")
	s.expectGone(t, Ann, "[The API]")
	s.PressAgain(t, Ann)
	s.expectSeen(t, Ann, "no longer open")
	s.expectNot(t, Ben, "no longer open")
}

func (s *story) tellWords(t *testing.T) {
	s.Mention(t, Ann, AskMeant)
	s.expectSeen(t, Ann, "do you mean", "[The API]")
	s.Say(t, Ann, "the one of the web shop")
	s.expectSeen(t, Ben, "You meant the one of the web shop")
	s.expectGone(t, Ann, "[The API]")
}

func (s *story) tellOthers(t *testing.T) {
	s.Mention(t, Ann, AskMeant)
	s.expectSeen(t, Ben, "do you mean", "[The API]")
	s.mustPress(t, Ben, "The API")
	s.expectSeen(t, Ben, chat.ErrForbidden.Error())
	s.expectNot(t, Ann, chat.ErrForbidden.Error())
	s.mustPress(t, Ann, "A database migration")
	s.expectSeen(t, Ben, "You chose database")
	s.expectNot(t, Ben, "You chose api")
}

func (s *story) tellRatings(t *testing.T) {
	s.Mention(t, Ann, AskAnswered)
	s.expectSeen(t, Ben, "[Helpful]")
	s.mustPress(t, Ben, "Helpful")
	s.mustPress(t, Ann, "Not helpful")
	s.expect(t, "both ratings are kept", func() bool { return len(s.ratings(t)) == 2 })
	s.Fill(t, Ann, "It is out of date.")
	s.expect(t, "the reason is kept", func() bool {
		kept := map[chat.Verdict]string{}
		for _, rating := range s.ratings(t) {
			kept[rating.Verdict] += rating.Reason + "."
		}
		return len(kept) == 2 && kept[chat.Up] == "." && kept[chat.Down] == "It is out of date.."
	})
}

func (s *story) tellReactions(t *testing.T) {
	s.Mention(t, Ann, AskAnswered)
	s.expectSeen(t, Ben, "[Helpful]")
	s.React(t, Ben, "👍", true)
	s.expectRatings(t, "a thumb up is kept", chat.Up)
	s.React(t, Ben, "👍", false)
	s.expectRatings(t, "the rating goes with the reaction")
	s.mustPress(t, Ben, "Helpful")
	s.expectRatings(t, "the button counts", chat.Up)
	for _, on := range []bool{true, false} {
		s.React(t, Ben, "👍", on)
		s.React(t, Ben, "👀", on)
	}
	s.React(t, Ann, "👎", true)
	s.expectSeen(t, Ann, "[Say why]")
	s.expectNot(t, Ben, "[Say why]")
	s.expectRatings(t, "the button's rating stands, and counts once", chat.Down, chat.Up)
	s.mustPress(t, Ann, "Say why")
	s.Fill(t, Ann, "It is out of date.")
	s.expect(t, "the reason is kept", func() bool {
		return slices.ContainsFunc(s.ratings(t), func(r chat.Rating) bool { return r.Verdict == chat.Down && r.Reason == "It is out of date." })
	})
	s.Mention(t, Ann, AskAbstained)
	s.expectSeen(t, Ben, "do not say who owns")
	s.React(t, Ben, "👎", true)
	s.Mention(t, Ben, AskAnswered)
	s.expect(t, "both are answered", func() bool { return strings.Count(s.Seen(t, Ben), "[Helpful]") == 2 })
	s.React(t, Ben, "👎", true)
	s.expectRatings(t, "answers alone are rated", chat.Down, chat.Down, chat.Up)
}

// expectRatings waits until these ratings are kept, in the order of their verdicts.
func (s *story) expectRatings(t *testing.T, what string, want ...chat.Verdict) {
	t.Helper()
	s.expect(t, what, func() bool {
		var kept []chat.Verdict
		for _, rating := range s.ratings(t) {
			kept = append(kept, rating.Verdict)
		}
		slices.Sort(kept)
		return slices.Equal(kept, want)
	})
}

func (s *story) tellHelp(t *testing.T) {
	s.Mention(t, Ann, AskAbstained)
	s.expectSeen(t, Ann, "[Ask a human]")
	s.mustPress(t, Ann, "Ask a human")
	s.expectSeen(t, Ben, "would like a person to look at this", AskAbstained, "couldn't find an answer", "[I’ll take it]", "[Resolved]")
	s.mustPress(t, Ann, "Ask a human")
	s.expectSeen(t, Ann, "Somebody was called already")
	s.mustPress(t, Ben, "I’ll take it")
	s.expectSeen(t, Ann, "takes care of this", "[Resolved]")
	s.expectGone(t, Ann, "[I’ll take it]")
	s.mustPress(t, Ben, "Resolved")
	s.expectSeen(t, Ann, "✓ Resolved by")
	s.expectGone(t, Ann, "[Resolved]")
	if times := strings.Count(s.Seen(t, Ann), "Resolved by"); times != 1 {
		t.Errorf("a person was called %d times:\n%s", times, s.Seen(t, Ann))
	}
}

func (s *story) tellShare(t *testing.T) {
	s.Command(t, Ann, AskAnswered)
	s.expectSeen(t, Ann, "one command", "Share in channel")
	s.expectNot(t, Ben, "one command")
	s.mustPress(t, Ann, "Share in channel")
	s.expectSeen(t, Ben, "one command", "Deploying the API")
	if strings.Contains(s.Seen(t, Ben), "Share in channel") {
		t.Error("what all see can be shared again")
	}
}

func (s *story) tellWhy(t *testing.T) {
	s.Mention(t, Ann, AskAnswered)
	s.expectSeen(t, Ben, "[Helpful]")
	s.mustPress(t, Ben, "Why")
	s.expectSeen(t, Ben, "Searched for", "Pages used", "Rolling back")
	s.expectNot(t, Ann, "Searched for")
	s.mustPress(t, Ann, "All sources")
	s.expectSeen(t, Ann, "Runbook: failed releases", "changed since")
}

func (s *story) tellRetry(t *testing.T) {
	s.Mention(t, Ann, AskFailing)
	s.expectSeen(t, Ben, "[Retry]", "[What happened]")
	s.mustPress(t, Ben, "Retry")
	s.expectSeen(t, Ben, chat.ErrForbidden.Error())
	s.mustPress(t, Ann, "Retry")
	s.expectSeen(t, Ben, "none is broken any more")
}

func (s *story) tellStop(t *testing.T) {
	s.Mention(t, Ann, AskEndless)
	s.expectSeen(t, Ann, "[Stop]")
	s.mustPress(t, Ann, "Stop")
	s.expectSeen(t, Ben, "Stopped.")
	s.expectGone(t, Ann, "[Stop]")
}

func (s *story) tellManage(t *testing.T) {
	s.Command(t, Ben, "admin off")
	s.expectSeen(t, Ben, "Cairn is off")
	s.Command(t, Ann, AskAnswered)
	s.expectSeen(t, Ann, "I am off in this channel")
	s.Command(t, Ben, "admin on")
	s.expectSeen(t, Ben, "Cairn is on")
	s.Mention(t, Ann, AskAnswered)
	s.expectSeen(t, Ben, "one command")
}

func (s *story) tellEdit(t *testing.T) {
	s.Mention(t, Ann, "what is a runbook?")
	s.expectSeen(t, Ben, "You said: what is a runbook?")
	s.Edit(t, Ann, "what is a playbook?")
	s.expectSeen(t, Ben, "You said: what is a playbook?")
	s.expectGone(t, Ben, "You said: what is a runbook?")
	s.Edit(t, Ann, "")
	s.expectGone(t, Ben, "You said: what is a playbook?")
}
