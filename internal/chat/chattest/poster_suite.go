package chattest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Reader is what people see of a platform.
type Reader interface {
	// Seen gives the texts of the messages that the bot posted in a thread, in order.
	Seen(t *testing.T, thread chat.ThreadID) []string
}

// PosterRoom is a thread to post in, and the poster and the eyes to do it with.
type PosterRoom struct {
	Poster chat.Poster
	Reader Reader
	Thread chat.ThreadID // an empty one
	To     chat.MessageID
	// Pass lets time go by where the platform's limits make posts wait; nil: they don't.
	Pass func(d time.Duration)
}

// TestPoster checks a chat.Poster. again gives another poster on the same platform, as
// another process has it.
func TestPoster(t *testing.T, open func(t *testing.T) (room PosterRoom, again chat.Poster)) {
	for name, test := range map[string]func(*testing.T, PosterRoom, chat.Poster){
		"what is posted is found by its key": testFound,
		"what is not posted is not found":    testNotFound,
		"a message is edited in place":       testEdited,
		"what is gone can't be edited":       testEditGone,
		"a context that ended posts nothing": testPostEnded,
		"many post at once":                  testPostAtOnce,
		"a message is retracted":             testRetracted,
		"what is gone is retracted":          testRetractGone,
	} {
		t.Run(name, func(t *testing.T) {
			room, again := open(t)
			test(t, room, again)
		})
	}
}

func (r PosterRoom) mustPost(t *testing.T, key chat.PostKey, text string) chat.MessageID {
	t.Helper()
	id, err := r.Poster.Post(t.Context(), r.Thread, key, r.newReply(text))
	if err != nil || id == "" {
		t.Fatalf("Post = %q, %v", id, err)
	}
	return id
}

func (r PosterRoom) newReply(text string) chat.Post {
	return chat.Post{To: r.To, Reply: &chat.Reply{Outcome: chat.Answered, Text: text}}
}

func (r PosterRoom) expectShown(t *testing.T, want ...string) {
	t.Helper()
	if got := r.Reader.Seen(t, r.Thread); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("people see %q, want %q", got, want)
	}
}

func postKey(n int) chat.PostKey { return chat.PostKey(fmt.Sprintf("KEY%021d", n)) }

func testFound(t *testing.T, room PosterRoom, again chat.Poster) {
	first, second := room.mustPost(t, postKey(1), "one"), room.mustPost(t, postKey(2), "two")
	if first == second {
		t.Errorf("both messages have the id %s", first)
	}
	for i, want := range []chat.MessageID{first, second} {
		if got, found, err := again.Find(t.Context(), room.Thread, postKey(i+1)); got != want || !found || err != nil {
			t.Errorf("Find = %q, %v, %v, want %q", got, found, err, want)
		}
	}
	room.expectShown(t, "one", "two")
}

func testNotFound(t *testing.T, room PosterRoom, again chat.Poster) {
	room.mustPost(t, postKey(1), "one")
	if got, found, err := again.Find(t.Context(), room.Thread, postKey(2)); got != "" || found || err != nil {
		t.Errorf("Find = %q, %v, %v for what was not posted", got, found, err)
	}
}

func testEdited(t *testing.T, room PosterRoom, again chat.Poster) {
	id := room.mustPost(t, postKey(1), "one")
	room.mustPost(t, postKey(2), "two")
	for range 2 { // an edit can be repeated
		if err := again.Edit(t.Context(), room.Thread, id, room.newReply("uno")); err != nil {
			t.Fatal(err)
		}
	}
	room.expectShown(t, "uno", "two")
	if got, found, err := again.Find(t.Context(), room.Thread, postKey(1)); got != id || !found || err != nil {
		t.Errorf("after the edit Find = %q, %v, %v, want %q", got, found, err, id)
	}
}

func testEditGone(t *testing.T, room PosterRoom, _ chat.Poster) {
	id := room.mustPost(t, postKey(1), "one")
	if err := room.Poster.Edit(t.Context(), room.Thread, id+"9", room.newReply("uno")); !errors.Is(err, chat.ErrGone) {
		t.Errorf("the edit of a message that is not there gives %v", err)
	}
}

func testPostEnded(t *testing.T, room PosterRoom, _ chat.Poster) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := room.Poster.Post(ctx, room.Thread, postKey(1), room.newReply("one")); err == nil {
		t.Errorf("Post = %q after its context had ended", id)
	}
	room.expectShown(t)
}

func testPostAtOnce(t *testing.T, room PosterRoom, again chat.Poster) {
	const posts = 8
	var posting sync.WaitGroup
	for i := range posts {
		poster := room.Poster
		if i%2 == 1 {
			poster = again
		}
		posting.Go(func() {
			_, err := poster.Post(t.Context(), room.Thread, postKey(i), room.newReply("x"))
			for limited, ok := errors.AsType[*chat.RetryAfterError](err); ok && room.Pass != nil; limited, ok = errors.AsType[*chat.RetryAfterError](err) {
				room.Pass(limited.After)
				_, err = poster.Post(t.Context(), room.Thread, postKey(i), room.newReply("x"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	posting.Wait()
	if seen := room.Reader.Seen(t, room.Thread); len(seen) != posts {
		t.Errorf("people see %d messages, want %d", len(seen), posts)
	}
}

func testRetracted(t *testing.T, room PosterRoom, again chat.Poster) {
	first := room.mustPost(t, postKey(1), "one")
	room.mustPost(t, postKey(2), "two")
	for range 2 { // it can be repeated
		if err := again.Retract(t.Context(), room.Thread, first); err != nil {
			t.Fatal(err)
		}
	}
	room.expectShown(t, "two")
	if got, found, err := again.Find(t.Context(), room.Thread, postKey(1)); found || err != nil {
		t.Errorf("after it was retracted Find = %q, %v, %v", got, found, err)
	}
	if err := room.Poster.Edit(t.Context(), room.Thread, first, room.newReply("uno")); !errors.Is(err, chat.ErrGone) {
		t.Errorf("the edit of what was retracted gives %v", err)
	}
}

func testRetractGone(t *testing.T, room PosterRoom, _ chat.Poster) {
	id := room.mustPost(t, postKey(1), "one")
	if err := room.Poster.Retract(t.Context(), room.Thread, id+"9"); err != nil {
		t.Errorf("to retract a message that is not there gives %v", err)
	}
	room.expectShown(t, "one")
}
