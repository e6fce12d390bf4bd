package chattest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Client is a person who uses an adapter, in one thread.
type Client interface {
	// Send writes a message and does not wait.
	Send(t *testing.T, text string)
	// Say writes a message, waits until the bot is done with it, and gives all that
	// the person can read of what was said to it.
	Say(t *testing.T, text string) (shown string)
	// Choose takes the choice with a number, from 1, of the question that was asked
	// last, and goes on like Say.
	Choose(t *testing.T, number int) (shown string)
}

// Open makes an adapter, and a client who can use it once it runs.
type Open func(t *testing.T, transcripts chat.Transcripts) (chat.Adapter, Client)

// TestAdapter checks an adapter against the contract. Messages of the client may hold
// any text of one line.
func TestAdapter(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *Bot, Client){
		"messages arrive whole":         testMessages,
		"text arrives as written":       testText,
		"replies are shown":             testReplies,
		"choices are pressed":           testChoice,
		"free text answers":             testFreeText,
		"failures are told":             testFailure,
		"hostile text harms nothing":    testHostile,
		"a thread's messages take turn": testOrder,
		"drafts give way to the answer": testDraft,
		"what is for others is refused": testForbidden,
	} {
		t.Run(name, func(t *testing.T) {
			bot := &Bot{}
			client, _ := startAdapter(t, open, bot)
			test(t, bot, client)
		})
	}
	t.Run("stopping cancels the run", func(t *testing.T) { testStop(t, open) })
}

// startAdapter runs an adapter until the test ends, or stop is called, which gives what Run
// returned.
func startAdapter(t *testing.T, open Open, bot *Bot) (client Client, stop func() error) {
	t.Helper()
	adapter, client := open(t, bot)
	if adapter.Name() == "" {
		t.Fatal("the adapter has no name")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var err error
	go func() {
		defer close(ended)
		err = adapter.Run(ctx, bot)
	}()
	stop = func() error {
		cancel()
		<-ended
		return err
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Run = %v after ctx ended, want nil", err)
		}
	})
	return client, stop
}

func testMessages(t *testing.T, bot *Bot, client Client) {
	client.Say(t, "first")
	client.Say(t, "second")
	messages := bot.Messages()
	if len(messages) != 2 {
		t.Fatalf("%d messages arrived, want 2", len(messages))
	}
	for _, m := range messages {
		if m.ID == "" || m.Thread == "" || m.Author == "" || m.At.IsZero() || m.Answers != nil {
			t.Errorf("message %+v lacks id, thread, author or time, or answers what was not asked", m)
		}
	}
	if messages[0].Text != "first" || messages[1].Text != "second" {
		t.Errorf("texts are %q and %q", messages[0].Text, messages[1].Text)
	}
	if messages[0].ID == messages[1].ID {
		t.Errorf("both messages have id %s", messages[0].ID)
	}
	if messages[0].Thread != messages[1].Thread {
		t.Errorf("one conversation has threads %s and %s", messages[0].Thread, messages[1].Thread)
	}
}

func testText(t *testing.T, bot *Bot, client Client) {
	texts := []string{"回滚？", "كيف ألغي الإصدار؟", "👩‍👩‍👧‍👦 & <b>1 < 2</b> \"quoted\" 'too' %41 +", Long(100_000)}
	for _, text := range texts {
		client.Say(t, text)
	}
	client.Say(t, "broken \xff bytes")
	messages := bot.Messages()
	if len(messages) != len(texts)+1 {
		t.Fatalf("%d messages arrived, want %d", len(messages), len(texts)+1)
	}
	for i, text := range texts {
		if messages[i].Text != strings.TrimSpace(text) {
			t.Errorf("%.60q arrived as %.60q", text, messages[i].Text)
		}
	}
	if last := messages[len(texts)].Text; !utf8.ValidString(last) || !strings.Contains(last, "broken") {
		t.Errorf("broken UTF-8 arrived as %q", last)
	}
}

func testReplies(t *testing.T, bot *Bot, client Client) {
	bot.On("answer", InTurn(Reports(Steps()...), Says(Answer())))
	bot.On("abstain", Says(Abstained()))
	bot.On("fail", Says(Failed()))
	expectParts(t, client.Say(t, "answer"), "one command", "release managers", "Quoted from the documents",
		"Deploying the API", "Time limits", "changed 3 weeks ago", "after it was read")
	expectParts(t, client.Say(t, "abstain"), "do not say who owns", "Dashboards")
	expectParts(t, client.Say(t, "fail"), "could not be read", string(Failed().Run))
}

func testChoice(t *testing.T, bot *Bot, client Client) {
	bot.On("roll back", Asks(Question()))
	expectParts(t, client.Say(t, "roll back"), "do you mean", "The API", "docs/mobile/releases.md", "Infrastructure (Terraform)")
	expectParts(t, client.Choose(t, 2), "You chose database")
	messages := bot.Messages()
	press := messages[len(messages)-1].Answers
	if press == nil || *press != (chat.Press{Question: Question().ID, Choice: "database"}) {
		t.Errorf("the press arrived as %+v", press)
	}
}

func testFreeText(t *testing.T, bot *Bot, client Client) {
	bot.On("roll back", Asks(Question()))
	client.Say(t, "roll back")
	expectParts(t, client.Say(t, "the one of the web shop"), "You said: the one of the web shop")
	messages := bot.Messages()
	if last := messages[len(messages)-1]; last.Answers != nil {
		t.Errorf("free text arrived as the press %+v", *last.Answers)
	}
}

func testFailure(t *testing.T, bot *Bot, client Client) {
	bot.On("break", Fails(errors.New("the index is gone")))
	before := client.Say(t, "hello")
	if told := client.Say(t, "break"); told == "" || told == before {
		t.Error("nobody was told that the message could not be handled")
	}
	expectParts(t, client.Say(t, "again"), "You said: again")
}

func testHostile(t *testing.T, bot *Bot, client Client) {
	bot.On("hostile", InTurn(
		Reports(chat.Progress{Run: Evil, Step: Evil, Description: Evil, Status: chat.Running}),
		Streams(chat.Token{Run: Evil, Text: Evil}, chat.Token{Run: Evil, Text: Evil, Restart: true}),
		Says(Hostile()), Asks(HostileQuestion())))
	expectParts(t, client.Say(t, "hostile"), "<script>alert(1)</script>")
	expectParts(t, client.Choose(t, 1), "You chose")
	expectParts(t, client.Say(t, "still there?"), "You said: still there?")
}

func testOrder(t *testing.T, bot *Bot, client Client) {
	gate := make(chan struct{})
	begun := make(chan struct{})
	bot.On("slow", InTurn(func(context.Context, chat.Message, chat.Conversation) error {
		close(begun)
		return nil
	}, Until(gate), Says(chat.Reply{Outcome: chat.Answered, Text: "done at last"})))
	client.Send(t, "slow")
	<-begun
	client.Send(t, "quick")
	close(gate)
	client.Say(t, "last")
	var texts []string
	for _, m := range bot.Messages() {
		texts = append(texts, m.Text)
	}
	if got := strings.Join(texts, ", "); got != "slow, quick, last" {
		t.Errorf("messages came as %s", got)
	}
}

func testDraft(t *testing.T, bot *Bot, client Client) {
	bot.On("answer", InTurn(
		Reports(Steps()[:4]...),
		Streams(chat.Token{Text: "A release is **rol"}, chat.Token{Text: "led forward"}, chat.Token{Restart: true}, chat.Token{Text: "On **one"}, chat.Token{Text: " draft** [1"}),
		Says(Answer())))
	shown := client.Say(t, "answer")
	expectParts(t, shown, "one command", "release managers", "Deploying the API")
	for _, draft := range []string{"led forward", "draft"} {
		if strings.Contains(shown, draft) {
			t.Errorf("the draft %q still stands after the answer in:\n%s", draft, shown)
		}
	}
}

func testForbidden(t *testing.T, bot *Bot, client Client) {
	bot.On("not mine", Fails(chat.ErrForbidden))
	expectParts(t, client.Say(t, "not mine"), chat.ErrForbidden.Error())
	expectParts(t, client.Say(t, "again"), "You said: again")
}

func testStop(t *testing.T, open Open) {
	bot := &Bot{}
	begun := make(chan struct{})
	var cancelled error
	bot.On("forever", func(ctx context.Context, _ chat.Message, _ chat.Conversation) error {
		close(begun)
		<-ctx.Done()
		cancelled = ctx.Err()
		return cancelled
	})
	client, stop := startAdapter(t, open, bot)
	client.Send(t, "forever")
	<-begun
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if cancelled == nil {
		t.Error("Run returned while a message was handled")
	}
}

func expectParts(t *testing.T, shown string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is not shown in:\n%s", part, shown)
		}
	}
}
