package slack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// Seen gives what notifications show of the bot's messages: all of a short one. Files are
// messages of their own.
func (w *team) Seen(_ *testing.T, thread chat.ThreadID) []string {
	var texts []string
	for _, message := range w.Messages(w.general) {
		at := place{team: slacktest.Team, channel: w.general, root: message.ThreadTS, whole: message.ThreadTS == ""}
		if message.User == slacktest.Bot && !message.Deleted && at.threadID() == thread && len(message.Files) == 0 {
			texts = append(texts, message.Text)
		}
	}
	return texts
}

// Left gives how many drafts stand in the thread: messages without a key, and a status.
func (w *team) Left(_ *testing.T, thread chat.ThreadID) int {
	at, err := parseThread(thread)
	if err != nil {
		return -1
	}
	left := 0
	if w.Status(at.channel, at.root) != "" {
		left++
	}
	for _, message := range w.Messages(at.channel) {
		if message.User == slacktest.Bot && !message.Deleted && message.ThreadTS == at.root && len(message.Metadata) == 0 {
			left++
		}
	}
	return left
}

// process is another adapter in the same workspace.
func (w *team) process(t *testing.T) *Adapter {
	t.Helper()
	again, err := New(w.adapter.options)
	if err != nil {
		t.Fatal(err)
	}
	again.clock.now = w.clock.Now
	again.clock.wait = func(_ context.Context, d time.Duration) error { w.clock.Advance(d); return nil }
	return again
}

// room is a thread in a workspace.
func (w *team) room() chattest.PosterRoom {
	root := w.ann.Says(w.general, "", "hello")
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	return chattest.PosterRoom{Poster: w.adapter, Reader: w, Thread: thread, To: chat.MessageID(root), Pass: w.clock.Advance}
}

func TestPoster(t *testing.T) {
	chattest.TestPoster(t, func(t *testing.T) (chattest.PosterRoom, chat.Poster) {
		w := newTeam(t, false)
		return w.room(), w.process(t)
	})
}

// TestPosterInAChannel posts in a channel itself, where each post begins a thread.
func TestPosterInAChannel(t *testing.T) {
	chattest.TestPoster(t, func(t *testing.T) (chattest.PosterRoom, chat.Poster) {
		w := newTeam(t, false)
		room := w.room()
		room.Thread = place{team: slacktest.Team, channel: w.general, whole: true}.threadID()
		return room, w.process(t)
	})
}

func TestDrafter(t *testing.T) {
	chattest.TestDrafter(t, func(t *testing.T) (chattest.DrafterRoom, chat.Drafter) {
		w := newTeam(t, false)
		return chattest.DrafterRoom{PosterRoom: w.room(), Drafter: w.adapter, Left: w.Left}, w.process(t)
	})
}

func TestTidier(t *testing.T) {
	chattest.TestTidier(t, func(t *testing.T) (chattest.DrafterRoom, chat.Poster) {
		w := newTeam(t, false)
		return chattest.DrafterRoom{PosterRoom: w.room(), Drafter: w.adapter, Left: w.Left}, w.process(t)
	})
}

// TestOneLookTellsOfAllThreadsOfAChannel asks of many threads whether something was posted.
func TestOneLookTellsOfAllThreadsOfAChannel(t *testing.T) {
	w := newTeam(t, false)
	var rooms []chattest.PosterRoom
	for range 20 {
		rooms = append(rooms, w.room())
	}
	if _, err := w.adapter.Post(t.Context(), rooms[3].Thread, "k", room1("one")); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	for i, room := range rooms {
		absent, err := w.adapter.IsAbsent(t.Context(), room.Thread, room.To, time.Second)
		if err != nil || absent == (i == 3) {
			t.Errorf("in thread %d nothing was posted: %v, %v", i, absent, err)
		}
	}
	if looks := len(w.Calls("conversations.history")); looks != 1 {
		t.Errorf("Slack was asked %d times", looks)
	}
	if _, err := w.adapter.Post(t.Context(), rooms[5].Thread, "k2", room1("two")); err != nil {
		t.Fatal(err)
	}
	later := w.ann.Says(w.general, strings.Split(string(rooms[5].Thread), ":")[3], "and more?")
	w.clock.Advance(10 * time.Second)
	for to, want := range map[chat.MessageID]bool{rooms[5].To: false, chat.MessageID(later): true, "": false} {
		if absent, err := w.adapter.IsAbsent(t.Context(), rooms[5].Thread, to, 0); err != nil || absent != want {
			t.Errorf("after %q nothing was posted: %v, %v", to, absent, err)
		}
	}
}

// TestAThreadIsReadWhereItsChannelCannotBe has many looks at channels before this one: Find is
// asked, whose limit is another one.
func TestAThreadIsReadWhereItsChannelCannotBe(t *testing.T) {
	w := newTeam(t, false)
	room := w.room()
	at, err := parseThread(room.Thread)
	if err != nil {
		t.Fatal(err)
	}
	look := turn{team: at.team, method: readHistory}
	if err := w.adapter.pace.turns.Hold(t.Context(), look.asPaceRequest(w.clock.Now()), time.Minute); err != nil {
		t.Fatal(err)
	}
	if absent, err := w.adapter.IsAbsent(t.Context(), room.Thread, room.To, time.Second); absent || err != nil {
		t.Errorf("while its channel can't be looked at, nothing was posted: %v, %v", absent, err)
	}
	if _, found, err := w.adapter.Find(t.Context(), room.Thread, "k"); found || err != nil {
		t.Errorf("Find gives %v, %v", found, err)
	}
	if looks := len(w.Calls("conversations.history")); looks != 0 {
		t.Errorf("its channel was looked at %d times", looks)
	}
}

// TestThreadsOfKnownMessagesAreNotRead tidies many threads of two questions and two answers
// each: one look at the channel tells that nothing came late. Where something did, its
// thread is read.
func TestThreadsOfKnownMessagesAreNotRead(t *testing.T) {
	w := newTeam(t, false)
	const threads = 5
	type answered struct {
		room  chattest.PosterRoom
		known []chat.MessageID
	}
	var all []answered
	for i := range threads {
		room := w.room()
		known := []chat.MessageID{room.To}
		for j := range 2 {
			w.clock.Advance(2 * time.Second)
			posted, err := w.adapter.Post(t.Context(), room.Thread, chat.PostKey(fmt.Sprint("k", i, j)), room1("one"))
			if err != nil {
				t.Fatal(err)
			}
			asked := w.ann.Says(w.general, strings.Split(string(room.Thread), ":")[3], "and more?")
			known = append(known, posted, chat.MessageID(asked))
		}
		all = append(all, answered{room, known})
	}
	w.clock.Advance(time.Minute)
	tidy := func(at answered) {
		t.Helper()
		late := chat.Late{To: at.room.To, Age: 45 * time.Second, Known: at.known}
		if err := w.adapter.Tidy(t.Context(), at.room.Thread, late); err != nil {
			t.Error(err)
		}
	}
	for _, at := range all {
		tidy(at)
	}
	if looks, reads := len(w.Calls("conversations.history")), len(w.Calls("conversations.replies")); looks != 1 || reads != 0 {
		t.Errorf("%d looks at the channel, %d at threads", looks, reads)
	}
	w.clock.Advance(2 * time.Second)
	if _, err := w.process(t).Post(t.Context(), all[0].room.Thread, "k00", room1("one")); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	tidy(all[0])
	if reads := len(w.Calls("conversations.replies")); reads == 0 {
		t.Error("a thread with an unknown message was not read")
	}
}

// documents gives the files that the bot uploaded, by their titles.
func (w *team) documents(_ *testing.T, thread chat.ThreadID) []chat.Document {
	var seen []chat.Document
	for _, message := range w.Messages(w.general) {
		at := place{team: slacktest.Team, channel: w.general, root: message.ThreadTS}
		if message.User != slacktest.Bot || message.Deleted || at.threadID() != thread {
			continue
		}
		for _, file := range message.Files {
			seen = append(seen, chat.Document{Name: file.Title, Content: file.Content})
		}
	}
	return seen
}

func TestDocuments(t *testing.T) {
	for name, fault := range map[string]slacktest.Fault{
		"the upload fails":         {Status: http.StatusInternalServerError},
		"only its answer was lost": {Status: http.StatusInternalServerError, Done: true},
	} {
		t.Run(name, func(t *testing.T) {
			chattest.TestDocuments(t, func(t *testing.T) (chattest.DocumentRoom, chat.Poster) {
				w := newTeam(t, false)
				return chattest.DocumentRoom{
					PosterRoom: w.room(), Documents: w.documents, Break: func() { w.Fail("files.completeUploadExternal", fault) },
				}, w.process(t)
			})
		})
	}
}

// TestALongAnswerHasItsFileBesideTheDocuments looks at the files of an answer that is
// itself one.
func TestALongAnswerHasItsFileBesideTheDocuments(t *testing.T) {
	w := newTeam(t, false)
	room := w.room()
	post := room1(chattest.Long(30000))
	post.Reply.Documents = chattest.Documents("a.md", "# A")
	id, err := w.adapter.Post(t.Context(), room.Thread, "k1", post)
	if err != nil {
		t.Fatal(err)
	}
	files := w.documents(t, room.Thread)
	if len(files) != 2 || files[0].Name != "The whole answer" || len(files[0].Content) != 30000 || files[1].Name != "a.md" {
		t.Errorf("the files are %+v", files)
	}
	if got, found, err := w.process(t).Find(t.Context(), room.Thread, "k1"); got != id || !found || err != nil {
		t.Errorf("Find = %q, %v, %v", got, found, err)
	}
}

func TestFetcher(t *testing.T) {
	chattest.TestFetcher(t, func(t *testing.T, content []byte) chattest.FetcherRoom {
		w := newTeam(t, false)
		w.ann.Shares(w.ann.DM(), "", "what is this?", slacktest.File{Name: "invoice.pdf", Content: content})
		heard := w.bot.Messages()
		if len(heard) != 1 || len(heard[0].Files) != 1 {
			t.Fatalf("heard %+v", heard)
		}
		file := heard[0].Files[0]
		if file.Name != "invoice.pdf" || file.MediaType != "application/pdf" || file.Size != int64(len(content)) {
			t.Errorf("the file is told as %+v", file)
		}
		return chattest.FetcherRoom{Fetcher: w.adapter, Thread: heard[0].Thread, File: file}
	})
}

func TestOfWhatWasPostedTwiceTheLaterGoes(t *testing.T) {
	w := newTeam(t, false)
	room := w.room()
	first, err := w.adapter.Post(t.Context(), room.Thread, "k1", room1("once"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.process(t).Post(t.Context(), room.Thread, "k1", room1("once")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, found, err := w.adapter.Find(t.Context(), room.Thread, "k1"); got != first || !found || err != nil {
			t.Errorf("found %s, %v, %v; want %s", got, found, err, first)
		}
		if seen := w.Seen(t, room.Thread); len(seen) != 1 {
			t.Errorf("people see %q", seen)
		}
	}
}
