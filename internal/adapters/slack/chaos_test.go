package slack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
)

// fault is a random way for a call to go wrong, or none.
func fault(random *rand.Rand) (slacktest.Fault, bool) {
	switch random.IntN(8) {
	case 0:
		return slacktest.Fault{Status: 500}, true
	case 1:
		return slacktest.Fault{Status: 503, Done: true}, true
	case 2:
		return slacktest.Fault{Status: 429, RetryAfter: time.Duration(1+random.IntN(60)) * time.Second}, true
	case 3:
		return slacktest.Fault{Error: "internal_error", Done: random.IntN(2) == 0}, true
	}
	return slacktest.Fault{}, false
}

// deliver posts as the bot's outbox does: what may have been posted is looked for
// before it is posted again, each time by another process.
func (w *team) deliver(t *testing.T, thread chat.ThreadID, key chat.PostKey, post chat.Post) {
	t.Helper()
	unknown := false
	tells := func(err error) { // no secret, and nothing of what is said
		if err == nil {
			return
		}
		for _, secret := range []string{slacktest.BotToken, post.Reply.Text[:min(40, len(post.Reply.Text))]} {
			if len(secret) > 10 && strings.Contains(err.Error(), secret) {
				t.Errorf("%q is in the error %v", secret, err)
			}
		}
	}
	for range 60 {
		process, err := New(w.adapter.options)
		if err != nil {
			t.Fatal(err)
		}
		process.clock.now = w.clock.Now
		process.clock.wait = func(_ context.Context, d time.Duration) error { w.clock.Advance(d); return nil }
		if unknown {
			_, found, err := process.Find(t.Context(), thread, key)
			tells(err)
			if found && err == nil {
				return
			}
			if err != nil {
				w.clock.Advance(time.Minute)
				continue
			}
		}
		_, err = process.Post(t.Context(), thread, key, post)
		tells(err)
		var later *chat.RetryAfterError
		switch {
		case err == nil:
			return
		case errors.As(err, &later):
			w.clock.Advance(later.After)
		default:
			unknown = true
			w.clock.Advance(5 * time.Second)
		}
	}
	t.Errorf("%s was never posted", key)
}

func TestWhateverFailsThereIsOneAnswer(t *testing.T) {
	w := newTeam(t, false)
	random := rand.New(rand.NewPCG(7, 7))
	root := w.ann.Says(w.general, "", "hello")
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	texts := []string{"short", strings.Repeat(chattest.Long(3000)+"\n\n", 5), chattest.Long(30000)}
	wanted := []string{"1 and 0 files", "3 and 0 files", "1 and 1 files", "1 and 1 files"}
	const posts = 18
	for n := range posts {
		for _, method := range []string{"chat.postMessage", "conversations.replies", "files.getUploadURLExternal", "files.completeUploadExternal"} {
			for range random.IntN(4) {
				if goes, wrong := fault(random); wrong {
					w.Fail(method, goes)
				}
			}
		}
		kind := n % len(wanted)
		reply := chat.Reply{Run: "r", Outcome: chat.Answered, Text: texts[kind%len(texts)]}
		if kind == len(texts) {
			reply.Documents = chattest.Documents("answer.md", "# Notes")
		}
		w.deliver(t, thread, chat.PostKey(fmt.Sprintf("key%03d", n)), chat.Post{Reply: &reply})
	}
	if strings.Contains(w.log.String(), slacktest.BotToken) || strings.Contains(w.log.String(), chattest.Long(30000)[:40]) {
		t.Error("a secret, or what was said, is in the log")
	}
	for n := range posts {
		key, notes, files := fmt.Sprintf("key%03d", n), 0, 0
		for _, message := range w.Messages(w.general) {
			if strings.Contains(string(message.Metadata), key) {
				notes++
			}
			for _, file := range message.Files {
				if file.Name == fileName("answer.md", chat.PostKey(key)) {
					files++
				}
			}
		}
		if got := fmt.Sprintf("%d and %d files", notes, files); got != wanted[n%len(wanted)] {
			t.Errorf("%s: %s, want %s", key, got, wanted[n%len(wanted)])
		}
	}
}

// quiet is a bot to which nothing is too much.
type quiet struct {
	posttest.Bot
	heard chan<- string // gets the texts; nil: nobody does
}

func (q *quiet) Handle(_ context.Context, message chat.Message, _ chat.Conversation) error {
	if q.heard != nil {
		q.heard <- message.Text
	}
	return nil
}

// BenchmarkEvent is an event from its signature to its acknowledgement, but for what
// the bot does to make it durable.
func BenchmarkEvent(b *testing.B) {
	server := slacktest.New(slacktest.Options{})
	defer server.Close()
	w := &team{Server: server}
	adapter, err := New(w.options(server))
	if err != nil {
		b.Fatal(err)
	}
	bot, err := interact.NewHandler("Slack", &quiet{})
	if err != nil {
		b.Fatal(err)
	}
	adapter.running.Fill(bot)
	handler := adapter.Handler()
	body := recorded(b, "streaming")["aiMention"]
	for i := 0; b.Loop(); i++ {
		one := []byte(strings.NewReplacer("Ev0A6CPRGKL3", fmt.Sprint("Ev", i), "1767406613.568609", fmt.Sprintf("1767406613.%06d", i)).Replace(string(body)))
		request := httptest.NewRequest("POST", "/events", strings.NewReader(string(one)))
		request.Header = server.Sign(one)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != 200 {
			b.Fatal(recorder.Code)
		}
	}
}
