package discord

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

const (
	creates = "POST /channels/{channel}/messages"
	edits   = "PATCH /channels/{channel}/messages/{message}"
	lateKey = chat.PostKey("KEY000000000000000000001")
)

// late is a request whose sender is told that it failed, and that is carried out after.
var late = discordtest.Fault{Status: http.StatusBadGateway, Late: 50 * time.Millisecond}

// working is a run that works in a room.
func working(w *team, room chattest.PosterRoom) chat.Work {
	return chat.Work{Run: "run-1", Thread: room.Thread, To: room.To, Asker: chat.UserID(w.ann)}
}

// begins begins a draft and shows a first step.
func (w *team) begins(t *testing.T, room chattest.PosterRoom) chat.Draft {
	t.Helper()
	draft, err := w.adapter.Draft(t.Context(), working(w, room))
	if err != nil {
		t.Fatal(err)
	}
	w.steps(t, draft, 0)
	return draft
}

// steps shows a step, some seconds after the one before. That it failed is no matter.
func (w *team) steps(t *testing.T, draft chat.Draft, step int) {
	t.Helper()
	w.clock.Advance(4 * time.Second)
	progress := chat.Progress{Run: "run-1", Step: "work", Description: strings.Repeat("Searching ", step+1), Status: chat.Running}
	if err := draft.Progress(t.Context(), progress); err != nil {
		t.Logf("shown no further: %v", err)
	}
}

// stands fails where people see anything but one answer in the channel and its threads.
func (w *team) stands(t *testing.T, want chat.MessageID) {
	t.Helper()
	w.AwaitLate()
	standing := w.Standing(w.general)
	if len(standing) != 1 || standing[0].ID != string(want) || firstLine(standing[0].Content) != "one" {
		t.Errorf("want %s alone, which says one\n%s", want, w.Show(w.general))
	}
}

// TestAnEditThatComesLateDoesNotHideTheAnswer has Discord change a draft's message after the
// answer is there.
func TestAnEditThatComesLateDoesNotHideTheAnswer(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	draft := w.begins(t, room)
	w.Fail(edits, late)
	w.steps(t, draft, 1)
	posted, err := draft.Finish(t.Context(), lateKey, post1("one"))
	if err != nil {
		t.Fatal(err)
	}
	w.stands(t, posted)
}

// TestADraftThatComesLateIsTidiedUp has Discord make a draft's message after the answer.
func TestADraftThatComesLateIsTidiedUp(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	w.Fail(creates, late)
	draft := w.begins(t, room)
	posted, err := draft.Finish(t.Context(), lateKey, post1("one"))
	if err != nil {
		t.Fatal(err)
	}
	if !draft.Unsettled() {
		t.Error("the thread is not to be tidied")
	}
	w.AwaitLate()
	if got := w.Left(t, room.Thread); got != 1 {
		t.Fatalf("%d drafts came late", got)
	}
	for range 2 { // it can be repeated
		if err := w.process(t, w.adapter.options).Tidy(t.Context(), room.Thread, chat.Late{To: room.To, Known: []chat.MessageID{posted}}); err != nil {
			t.Error(err)
		}
		w.stands(t, posted)
	}
}

// TestAnAnswerThatComesLateIsThereOnce has Discord put the answer in the draft's place after
// it was posted once more: the one stays that the bot knows of.
func TestAnAnswerThatComesLateIsThereOnce(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	draft := w.begins(t, room)
	w.Fail(edits, late)
	if _, err := draft.Finish(t.Context(), lateKey, post1("one")); err == nil || isNotPosted(err) {
		t.Errorf("the end of the draft is known: %v", err)
	}
	posted, err := w.process(t, w.adapter.options).Post(t.Context(), room.Thread, lateKey, post1("one"))
	if err != nil {
		t.Fatal(err)
	}
	w.AwaitLate()
	if got := len(w.Standing(w.general)); got != 2 {
		t.Fatalf("%d messages stand there", got)
	}
	if err := w.adapter.Tidy(t.Context(), room.Thread, chat.Late{To: room.To, Known: []chat.MessageID{posted}}); err != nil {
		t.Error(err)
	}
	w.stands(t, posted)
}

// TestAWaitIsShownAndBecomesTheAnswer has the answer's turn come later: the draft says so,
// and the answer takes its place.
func TestAWaitIsShownAndBecomesTheAnswer(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	draft := w.begins(t, room)
	w.Fail(edits, discordtest.Fault{Status: http.StatusTooManyRequests, RetryAfter: 20 * time.Second})
	_, err := draft.Finish(t.Context(), lateKey, post1("one"))
	if later, ok := errors.AsType[*chat.RetryAfterError](err); !ok || later.After != 20*time.Second {
		t.Fatalf("the error is %v", err)
	}
	if err := draft.Wait(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := w.Show(w.general); !strings.Contains(got, "The answer is ready. Discord takes it in about 20s.") || strings.Contains(got, "[Stop]") {
		t.Errorf("people see\n%s", got)
	}
	post := post1("one")
	post.To = room.To
	posted, err := w.adapter.Post(t.Context(), room.Thread, lateKey, post)
	if err != nil {
		t.Fatal(err)
	}
	w.stands(t, posted)
	if made := len(w.Requests(creates)); made != 1 {
		t.Errorf("%d messages were made", made)
	}
}

// TestATurnThatComesLaterIsLeftToTheBot fills the limit of a channel: what is posted next is
// not sent, and says when to come back.
func TestATurnThatComesLaterIsLeftToTheBot(t *testing.T) {
	w := newTeam(t, nil)
	server := discordtest.New(t, discordtest.Options{})
	team := server.Guild("Busy")
	ann, busy := team.Member("Ann"), team.Channel("busy")
	options := w.adapter.options
	options.Now = time.Now
	options.Client = &http.Client{Transport: &fleet.Transport{
		Next: server.Client().Transport, Rates: fleet.NewMemory(), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}}
	adapter := w.process(t, options)
	for n := range 12 {
		asked := server.Say(ann, busy, "hello").ID
		at := place{guild: team.ID, channel: busy, root: asked}
		key := chat.PostKey("KEY00000000000000000000" + string(rune('A'+n)))
		_, err := adapter.Post(t.Context(), at.threadID(), key, chat.Post{To: source{channel: busy, message: asked}.messageID(), Reply: &chat.Reply{Text: "one"}})
		if n < 5 {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		// Those behind the first five in line wait for a window more.
		least := time.Second
		if n >= 10 {
			least = 5 * time.Second
		}
		later, ok := errors.AsType[*chat.RetryAfterError](err)
		if !ok || !isNotPosted(err) || later.After < least || later.After > 15*time.Second {
			t.Errorf("post %d: %v", n, err)
		}
	}
	if got := len(server.Requests(creates)); got != 5 {
		t.Errorf("%d posts were sent", got)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
