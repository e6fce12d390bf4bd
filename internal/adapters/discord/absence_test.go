package discord

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

const (
	reads    = "GET /channels/{channel}/messages"
	lists    = "GET /guilds/{guild}/threads/active"
	asks     = "GET /channels/{channel}/messages/{message}"
	starts   = "POST /channels/{channel}/messages/{message}/threads"
	outageBy = http.StatusInternalServerError
)

// looks counts the requests by which Discord was asked what stands in conversations.
func (w *team) looks() int { return len(w.Requests(reads)) + len(w.Requests(lists)) }

// TestOneLookTellsOfManyConversations asks of many conversations, as after an outage, whether
// something was posted in them, and has them tidied: Discord is asked once for each.
func TestOneLookTellsOfManyConversations(t *testing.T) {
	for _, style := range []settings.ReplyStyle{settings.ReplyInThread, settings.ReplyInPlace} {
		t.Run(string(style), func(t *testing.T) {
			w := newTeam(t, nil)
			var rooms []chattest.PosterRoom
			var known [][]chat.MessageID
			for i := range 20 {
				room := w.room(style)
				rooms, known = append(rooms, room), append(known, []chat.MessageID{room.To})
				if i%2 == 0 {
					continue
				}
				posted, err := w.adapter.Post(t.Context(), room.Thread, postKey(i), about(room, "one"))
				if err != nil {
					t.Fatal(err)
				}
				known[i] = append(known[i], posted)
			}
			for i, room := range rooms[:10] { // the threads of the others are there, with nothing in them
				if r, err := w.adapter.openRoom(t.Context(), room.Thread, room.To); err != nil || i%2 == 0 && r.startThread(t.Context()) != nil {
					t.Fatal("the thread is not started")
				}
			}
			w.clock.Advance(time.Minute)
			before := w.looks()
			for i, room := range rooms[:10] {
				absent, err := w.adapter.IsAbsent(t.Context(), room.Thread, room.To, time.Second)
				if err != nil || absent != (i%2 == 0) {
					t.Errorf("in conversation %d nothing was posted: %v, %v", i, absent, err)
				}
			}
			if looked := w.looks() - before; looked != 1 {
				t.Errorf("Discord was asked %d times what was posted", looked)
			}
			w.clock.Advance(time.Minute)
			before = w.looks()
			tidy := func(i int) {
				t.Helper()
				late := chat.Late{To: rooms[i].To, Age: 45 * time.Second, Known: known[i]}
				if err := w.adapter.Tidy(t.Context(), rooms[i].Thread, late); err != nil {
					t.Error(err)
				}
			}
			for i := range 10 {
				tidy(i)
			}
			if looked := w.looks() - before; looked != 1 {
				t.Errorf("Discord was asked %d times what came late", looked)
			}
			w.clock.Advance(15 * time.Minute) // Discord has forgotten the nonce
			if _, err := w.process(t, w.adapter.options).Post(t.Context(), rooms[1].Thread, postKey(1), about(rooms[1], "one")); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Minute)
			tidy(1)
			if seen := w.Seen(t, rooms[1].Thread); len(seen) != 1 {
				t.Errorf("after tidying people see %q", seen)
			}
		})
	}
}

// TestOneLookTellsOfThreadsThatWereNotStarted asks of many threads that were not started, as after
// a restart of the store, and of one that was archived after it was.
func TestOneLookTellsOfThreadsThatWereNotStarted(t *testing.T) {
	w := newTeam(t, nil)
	archived := w.room(settings.ReplyInThread)
	if _, err := w.adapter.Post(t.Context(), archived.Thread, lateKey, about(archived, "one")); err != nil {
		t.Fatal(err)
	}
	w.Archive(w.Threads(w.general)[0], true, false)
	var rooms []chattest.PosterRoom
	for range 20 {
		rooms = append(rooms, w.room(settings.ReplyInThread))
	}
	w.clock.Advance(time.Minute)
	for i, room := range rooms {
		if absent, err := w.adapter.IsAbsent(t.Context(), room.Thread, room.To, time.Second); err != nil || !absent {
			t.Errorf("in thread %d nothing was posted: %v, %v", i, absent, err)
		}
	}
	if absent, err := w.adapter.IsAbsent(t.Context(), archived.Thread, archived.To, time.Second); err != nil || absent {
		t.Errorf("in an archived thread nothing was posted: %v, %v", absent, err)
	}
	if looked := w.looks(); looked != 2 { // at the server and at the channel
		t.Errorf("Discord was asked %d times what was posted", looked)
	}
}

func postKey(n int) chat.PostKey { return chat.PostKey(fmt.Sprintf("KEY%021d", n)) }

func about(room chattest.PosterRoom, text string) chat.Post {
	post := post1(text)
	post.To = room.To
	return post
}

// TestWhatALookDoesNotShow asks of conversations that a look tells nothing of: they are not taken
// for empty.
func TestWhatALookDoesNotShow(t *testing.T) {
	w := newTeam(t, nil)
	archived, inPlace := w.room(settings.ReplyInThread), w.room(settings.ReplyInPlace)
	for _, room := range []chattest.PosterRoom{archived, inPlace} {
		if _, err := w.adapter.Post(t.Context(), room.Thread, lateKey, about(room, "one")); err != nil {
			t.Fatal(err)
		}
	}
	w.Archive(w.Threads(w.general)[0], true, false)
	for n := range pageSize {
		w.Say(w.ann, w.general, fmt.Sprint("talk ", n))
	}
	direct := w.Say(w.ann, w.DM(w.ann), "hello")
	at := place{guild: directGuild, channel: w.DM(w.ann)}
	for name, asked := range map[string]struct {
		thread chat.ThreadID
		to     chat.MessageID
	}{
		"an archived thread":               {archived.Thread, archived.To},
		"one further up than a page":       {inPlace.Thread, inPlace.To},
		"a direct conversation":            {at.threadID(), source{channel: direct.Channel, message: direct.ID}.messageID()},
		"one that no message is told from": {inPlace.Thread, ""},
	} {
		if absent, err := w.adapter.IsAbsent(t.Context(), asked.thread, asked.to, 0); absent || err != nil {
			t.Errorf("%s: nothing was posted there: %v, %v", name, absent, err)
		}
	}
}

// TestAThreadIsStartedOnce has another process start the thread, and the start fail: that no post
// was sent is told, and what Discord counts is not asked for in vain.
func TestAThreadIsStartedOnce(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInThread)
	for route, fault := range map[string]discordtest.Fault{asks: {Status: outageBy}, starts: {Status: outageBy, Done: true}} {
		w.Fail(route, fault)
	}
	for range 2 {
		if _, err := w.adapter.Post(t.Context(), room.Thread, lateKey, about(room, "one")); !errors.Is(err, chat.ErrNotPosted) {
			t.Errorf("that the thread was not started is told by %v", err)
		}
	}
	posted, err := w.adapter.Post(t.Context(), room.Thread, lateKey, about(room, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.process(t, w.adapter.options).Post(t.Context(), room.Thread, "KEY000000000000000000002", about(room, "two")); err != nil || got == posted {
		t.Errorf("another process posted %s, %v", got, err)
	}
	if n := len(w.Requests(starts)); n != 1 {
		t.Errorf("the thread was started %d times", n)
	}
}

// TestATitleIsReadOnce has the start of a thread wait for its turn: its title is not read again.
func TestATitleIsReadOnce(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInThread)
	for range 3 {
		w.Fail(starts, discordtest.Fault{Status: http.StatusTooManyRequests, RetryAfter: 40 * time.Second})
		_, err := w.adapter.Post(t.Context(), room.Thread, lateKey, about(room, "one"))
		if _, ok := errors.AsType[*chat.RetryAfterError](err); !ok {
			t.Errorf("got %v", err)
		}
		w.clock.Advance(40 * time.Second)
	}
	if _, err := w.adapter.Post(t.Context(), room.Thread, lateKey, about(room, "one")); err != nil {
		t.Fatal(err)
	}
	if n := len(w.Requests(asks)); n != 1 {
		t.Errorf("the title was read %d times", n)
	}
}
