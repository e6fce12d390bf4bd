package chattest

import (
	"context"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Controller is what a Client does beside writing. Each method waits until it is done.
type Controller interface {
	// Stop ends what works in the thread, or drops the question that waits there, and
	// gives what the person can read of it.
	Stop(t *testing.T) (shown string)
	// Retry goes on with the run that failed last, and gives what was said to it.
	Retry(t *testing.T) (shown string)
	// Rate gives the last answer a thumb, or takes it back.
	Rate(t *testing.T, verdict chat.Verdict)
	// Why gives what is shown of how the last answer, or failure, came about.
	Why(t *testing.T) (shown string)
}

// OpenControls makes an adapter that offers the bot's controls, and a client who can
// use both once it runs.
type OpenControls func(t *testing.T, bot *Bot) (chat.Adapter, Client, Controller)

// TestControls checks an adapter that offers chat.Controls.
func TestControls(t *testing.T, open OpenControls) {
	for name, test := range map[string]func(*testing.T, *Bot, Client, Controller){
		"stop ends what works":       testStopWork,
		"stop drops a question":      testStopQuestion,
		"a failed run is gone on":    testRetry,
		"thumbs are kept":            testRate,
		"why is told":                testWhy,
		"why is told of a failure":   testWhyFailed,
		"nothing to stop is no harm": testStopNothing,
	} {
		t.Run(name, func(t *testing.T) {
			bot := &Bot{}
			var controls Controller
			client, _ := startAdapter(t, func(t *testing.T, _ chat.Transcripts) (adapter chat.Adapter, client Client) {
				adapter, client, controls = open(t, bot)
				return adapter, client
			}, bot)
			test(t, bot, client, controls)
		})
	}
}

func testStopWork(t *testing.T, bot *Bot, client Client, controls Controller) {
	begun := make(chan struct{})
	bot.On("forever", InTurn(
		Reports(chat.Progress{Run: "run-7f40", Step: "search", Description: "Searching", Status: chat.Running}),
		func(context.Context, chat.Message, chat.Conversation) error {
			close(begun)
			return nil
		}, Until(nil)))
	client.Send(t, "forever")
	<-begun
	expectParts(t, controls.Stop(t), "Stopped.")
	expectParts(t, client.Say(t, "still there?"), "You said: still there?")
}

func testStopQuestion(t *testing.T, bot *Bot, client Client, controls Controller) {
	bot.On("roll back", Asks(Question()))
	client.Say(t, "roll back")
	controls.Stop(t)
	turns, err := bot.Transcript(t.Context(), bot.Messages()[0].Thread)
	if err != nil {
		t.Fatal(err)
	}
	asked := slices.IndexFunc(turns, func(turn chat.Turn) bool { return turn.Question != nil })
	if asked < 0 || turns[asked].Answer == "" {
		t.Errorf("the question is open still in %+v", turns)
	}
}

func testStopNothing(t *testing.T, _ *Bot, client Client, controls Controller) {
	client.Say(t, "hello")
	controls.Stop(t)
	expectParts(t, client.Say(t, "still there?"), "You said: still there?")
}

func testRetry(t *testing.T, bot *Bot, client Client, controls Controller) {
	bot.On("break", Says(Failed()))
	expectParts(t, client.Say(t, "break"), "could not be read")
	repaired := Failed()
	repaired.Outcome, repaired.Text = chat.Answered, "Now it could."
	bot.On("break", InTurn(Reports(Steps()...), Says(repaired)))
	expectParts(t, controls.Retry(t), "Now it could.")
	if got := len(bot.Messages()); got != 1 {
		t.Errorf("a retry makes %d messages of one", got)
	}
}

func testRate(t *testing.T, bot *Bot, client Client, controls Controller) {
	bot.On("answer", Says(Answer()))
	client.Say(t, "answer")
	for _, verdict := range []chat.Verdict{chat.Up, chat.Down} {
		controls.Rate(t, verdict)
		kept := bot.Ratings(Answer().Run)
		if len(kept) != 1 || kept[0].Verdict != verdict || kept[0].By != bot.Messages()[0].Author {
			t.Errorf("after a thumb %s the ratings are %+v", verdict, kept)
		}
	}
}

func testWhy(t *testing.T, bot *Bot, client Client, controls Controller) {
	bot.On("answer", Says(Answer()))
	client.Say(t, "answer")
	expectParts(t, controls.Why(t), "parallel_processing", "how do I roll back a release", "Can I roll forward?",
		"HybridSearch", "large-2", "1830", "no answer within 5s", "coverage", "one question, no comparison")
}

func testWhyFailed(t *testing.T, bot *Bot, client Client, controls Controller) {
	bot.On("break", Says(Failed()))
	client.Say(t, "break")
	expectParts(t, controls.Why(t), "query_understanding", "parallel_processing")
}
