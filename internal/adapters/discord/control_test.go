package discord

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

func TestRetryAndStop(t *testing.T) {
	w := newTeam(t, nil)
	tries := 0
	w.bot.On("flaky", func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		if tries++; tries == 1 {
			return conversation.Reply(ctx, chat.Reply{Run: "run-1", Outcome: chat.Failure, Text: "It failed."})
		}
		return conversation.Reply(ctx, chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "It works."})
	})
	w.bot.On("how do I roll back?", chattest.Asks(chattest.Question()))
	asked := w.Say(w.ann, w.general, bot+"flaky")
	w.wait(t)
	failed, _ := w.Last(asked.ID)
	for _, by := range []string{w.ben, w.ann, w.ann} {
		w.Press(by, failed.ID, "Retry")
		w.wait(t)
	}
	w.Say(w.ann, asked.ID, "how do I roll back?")
	w.wait(t)
	question, _ := w.Last(asked.ID)
	for _, by := range []string{w.ben, w.ann} {
		w.Press(by, question.ID, "Stop")
		w.wait(t)
	}
	w.clean(t)
	golden(t, "retry", w.Show(w.general))
}

// TestWhatIsNotHeard has messages that are not for Cairn, and events that are malformed.
func TestWhatIsNotHeard(t *testing.T) {
	w := newTeam(t, nil)
	w.Say(w.ann, w.general, "hello everybody")
	w.Say(w.ann, w.general, "<@"+w.ben+"> what is this?")
	thread := w.StartThread(w.ann, w.Say(w.ann, w.general, "a thread of ours").ID, "ours")
	w.Say(w.ben, thread, "is this for us?")
	w.settle(t)
	w.adapter.servers.remembered.Store(&[]string{"1", w.guild.ID})
	for _, data := range []string{``, `{`, `[]`, `null`, `{"id":1}`, `{"author":null}`, `{"id":"1","channel_id":"2","guild_id":"4","author":{"id":"3"},"member":null,"mentions":[{}]}`} {
		for _, event := range []string{"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "INTERACTION_CREATE", "GUILD_CREATE", "THREAD_CREATE", "READY"} {
			if err := w.adapter.dispatcher.takeDispatch(t.Context(), gateway.Dispatch{Type: event, Data: []byte(data)}); err != nil {
				t.Errorf("%s %s: %v", event, data, err)
			}
		}
	}
	w.clean(t)
	if heard := w.bot.Messages(); len(heard) != 0 {
		t.Errorf("heard %+v", heard)
	}
	if said := w.answered(); said != 0 {
		t.Errorf("the bot said %d things", said)
	}
}

// TestComponentsOfUnknownShapes has a reply to the bot's message, in which Discord shows
// something new.
func TestComponentsOfUnknownShapes(t *testing.T) {
	found, err := translateEvent("MESSAGE_CREATE", []byte(`{"id":"1","channel_id":"2","guild_id":"4","author":{"id":"3"},"content":"and two","type":19,
		"components":[{"type":"new"},7],"referenced_message":{"id":"5","author":{"id":"`+recordedBot+`","bot":true},
		"components":[{"type":99,"options":"all"},{"type":1,"components":[{"type":2,"custom_id":"none:~k1.01.2s"}]}]}}`), recordedIdentity())
	if err != nil || found.kind != kindSaid || !found.called || found.root != "100" {
		t.Errorf("read as %+v, %v", found, err)
	}
}

// TestACommandThatCannotBeTakenDown has the store fail after Discord was told to wait.
func TestACommandThatCannotBeTakenDown(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.FailNext(context.DeadlineExceeded)
	asked := w.Slash(w.ann, w.general, "cairn ask", discordtest.Option{Name: "question", Value: "one"})
	w.settle(t)
	if len(w.feed.failed) != 1 {
		t.Errorf("the gateway heard of %v", w.feed.failed)
	}
	// The gateway hands it over again.
	if err := w.adapter.dispatcher.takeDispatch(t.Context(), gateway.Dispatch{Type: "INTERACTION_CREATE", Data: asked.Payload}); err != nil {
		t.Error(err)
	}
	golden(t, "again", w.Show(w.general))
}

// roleList answers what roles a server has.
type roleList struct{ asked int }

func (r *roleList) RoundTrip(request *http.Request) (*http.Response, error) {
	r.asked++
	body := `[{"id":"8","name":"@everyone"},{"id":"` + recordedRole + `","tags":{"bot_id":"` + recordedBot + `"}}]`
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: request}, nil
}

// TestAMentionOfTheBotsRole has people call the role that Discord made for the bot.
func TestAMentionOfTheBotsRole(t *testing.T) {
	store, roles, bot := newKept(t), &roleList{}, &counting{}
	adapter, err := New(Options{
		Token: "t", Settings: store, Tickets: store, Gateway: &feed{}, Logger: slog.New(slog.DiscardHandler), Client: &http.Client{Transport: roles},
		Servers: map[string][]string{"8": nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	adapter.self.Store(&self{user: recordedBot, application: recordedBot})
	adapter.running.Fill(&interact.Handler{Bot: bot})
	for i, role := range []string{recordedRole, recordedRole, "99"} {
		data := fmt.Appendf(nil, `{"id":"%d","channel_id":"7","channel_type":0,"guild_id":"8","content":"<@&%s> hello","author":{"id":"9"},"mention_roles":["%s"]}`, 100+i, role, role)
		if err := adapter.dispatcher.takeDispatch(t.Context(), gateway.Dispatch{Type: "MESSAGE_CREATE", Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if bot.taken.Load() != 2 || roles.asked != 1 {
		t.Errorf("%d messages reached the bot, want 2; the roles were asked for %d times", bot.taken.Load(), roles.asked)
	}
}

// TestAHintToOnePerson has the bot say something to one who pressed, to one who gave a
// command, and to one who wrote.
func TestAHintToOnePerson(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("which?", chattest.Asks(chattest.Question()))
	asked := w.Say(w.ann, w.general, bot+"which?")
	w.wait(t)
	question, _ := w.Last(asked.ID)
	press := w.Press(w.ben, question.ID, "The API")
	w.wait(t)
	thread := place{guild: w.guild.ID, channel: asked.ID}.threadID()
	hint := func(key chat.PostKey, to chat.MessageID) {
		t.Helper()
		post := chat.Post{To: to, Only: chat.UserID(w.ben), Reply: &chat.Reply{Outcome: chat.Noticed, Text: "Nothing was done: " + string(key)}}
		if _, err := w.process(t, w.adapter.options).Post(t.Context(), thread, key, post); err != nil {
			t.Error(err)
		}
		w.clock.Advance(20 * time.Second)
	}
	hint("by a press", source{channel: asked.ID, interaction: press.ID}.messageID())
	written := w.Say(w.ben, asked.ID, "the web shop")
	w.settle(t)
	hint("in writing", source{channel: asked.ID, message: written.ID}.messageID())
	w.clock.Advance(20 * time.Minute)
	hint("too late", source{channel: asked.ID, interaction: press.ID}.messageID())
	w.clean(t)
	golden(t, "hints", w.Show(w.general))
}

// TestALineInPrivateIsNotSaidInTheThread has Ben told something about a message of his: in
// Discord that can be in their direct conversation alone.
func TestALineInPrivateIsNotSaidInTheThread(t *testing.T) {
	w := newTeam(t, nil)
	asked := w.Say(w.ben, w.general, bot+"one")
	w.settle(t)
	before := w.Show(w.general)
	at := where{guild: w.guild.ID, channel: w.general, kind: textChannel, message: asked.ID}
	post := chat.Post{
		To: source{channel: w.general, message: asked.ID}.messageID(), Only: chat.UserID(w.ben), Private: true,
		Reply: &chat.Reply{Outcome: chat.Noticed, Text: "Nothing was done."},
	}
	if _, err := w.adapter.Post(t.Context(), at.placeIn("", settings.ReplyInThread).threadID(), "k-private", post); err != nil {
		t.Fatal(err)
	}
	if got := w.Show(w.general); got != before {
		t.Errorf("all see\n%s", got)
	}
	if got := w.Show(w.DM(w.ben)); !strings.Contains(got, "Nothing was done.") {
		t.Errorf("Ben sees\n%s", got)
	}
	w.clean(t)
}
