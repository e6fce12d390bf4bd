package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// marksOf reads the mark of a message of the fake's.
func marksOf(t *testing.T, message discordtest.Message) (mark, bool) {
	t.Helper()
	var rows []component
	if len(message.Components) > 0 {
		if err := json.Unmarshal(message.Components, &rows); err != nil {
			t.Fatal(err)
		}
	}
	return markOf(rows)
}

// in gives the messages of a channel, none of a thread that was not started.
func (w *team) in(channel string) []discordtest.Message {
	if channel != w.general && !slices.Contains(w.Threads(w.general), channel) {
		return nil
	}
	return w.Messages(channel)
}

// Seen gives the texts of the bot's posts in a thread.
func (w *team) Seen(t *testing.T, thread chat.ThreadID) []string {
	at, err := parseThread(thread)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, message := range w.in(at.channel) {
		m, ok := marksOf(t, message)
		if message.Author == discordtest.Bot && !message.Deleted && ok && m.root == at.root {
			texts = append(texts, message.Content)
		}
	}
	return texts
}

// Left gives how many drafts stand in a thread.
func (w *team) Left(t *testing.T, thread chat.ThreadID) int {
	at, err := parseThread(thread)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, message := range w.in(at.channel) {
		if m, ok := marksOf(t, message); message.Author == discordtest.Bot && !message.Deleted && (!ok || m.isDraft()) {
			left++
		}
	}
	return left
}

// room is a conversation: in a thread that is not started yet, or in place.
func (w *team) room(style settings.ReplyStyle) chattest.PosterRoom {
	asked := w.Say(w.ann, w.general, "hello")
	at := where{guild: w.guild.ID, channel: w.general, kind: textChannel, message: asked.ID}
	return chattest.PosterRoom{
		Poster: w.adapter, Reader: w, Thread: at.placeIn("", style).threadID(), To: source{channel: w.general, message: asked.ID}.messageID(),
	}
}

func TestPoster(t *testing.T) {
	for _, style := range []settings.ReplyStyle{settings.ReplyInThread, settings.ReplyInPlace} {
		t.Run(string(style), func(t *testing.T) {
			chattest.TestPoster(t, func(t *testing.T) (chattest.PosterRoom, chat.Poster) {
				w := newTeam(t, nil)
				return w.room(style), w.process(t, w.adapter.options)
			})
		})
	}
}

func TestDrafter(t *testing.T) {
	for _, style := range []settings.ReplyStyle{settings.ReplyInThread, settings.ReplyInPlace} {
		t.Run(string(style), func(t *testing.T) {
			chattest.TestDrafter(t, func(t *testing.T) (chattest.DrafterRoom, chat.Drafter) {
				w := newTeam(t, nil)
				return chattest.DrafterRoom{PosterRoom: w.room(style), Drafter: w.adapter, Left: w.Left}, w.process(t, w.adapter.options)
			})
		})
	}
}

func TestFetcher(t *testing.T) {
	chattest.TestFetcher(t, func(t *testing.T, content []byte) chattest.FetcherRoom {
		w := newTeam(t, nil)
		w.Post(w.ann, w.DM(w.ann), discordtest.Posting{Text: "what is this?", Files: []discordtest.File{{Name: "invoice.pdf", Media: "application/pdf", Content: content}}})
		w.settle(t)
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

func post1(text string) chat.Post {
	return chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}}
}

// TestWhatIsPostedTwiceIsThereOnce has a worker die between the post and its note of it:
// another one posts again, soon or long after.
func TestWhatIsPostedTwiceIsThereOnce(t *testing.T) {
	for name, after := range map[string]time.Duration{"at once": 0, "later than Discord knows the nonce": time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, nil)
			room := w.room(settings.ReplyInPlace)
			long := post1(chattest.Long(4000))
			long.To = room.To
			first, err := w.adapter.Post(t.Context(), room.Thread, "KEY000000000000000000001", long)
			if err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(after)
			short := post1("x")
			for range 2 {
				if _, err := w.process(t, w.adapter.options).Post(t.Context(), room.Thread, "KEY000000000000000000002", short); err != nil {
					t.Fatal(err)
				}
				w.clock.Advance(after)
			}
			again := w.process(t, w.adapter.options)
			if got, err := again.Post(t.Context(), room.Thread, "KEY000000000000000000001", long); got != first || err != nil {
				t.Errorf("posted again it is %s, %v, want %s", got, err, first)
			}
			for range 2 {
				if got, found, err := again.Find(t.Context(), room.Thread, "KEY000000000000000000001"); got != first || !found || err != nil {
					t.Errorf("found %s, %v, %v; want %s", got, found, err, first)
				}
				if _, found, err := again.Find(t.Context(), room.Thread, "KEY000000000000000000002"); !found || err != nil {
					t.Errorf("found %v, %v", found, err)
				}
				if seen := w.Seen(t, room.Thread); len(seen) != 4 {
					t.Errorf("people see %d messages, want 4", len(seen))
				}
			}
		})
	}
}

// TestAPostThatIsCutShortIsCompleted has Discord fail in the middle of a long answer.
func TestAPostThatIsCutShortIsCompleted(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	dying := w.adapter.options
	dying.Client = &http.Client{Transport: &failing{next: dying.Client.Transport, after: 1}}
	_, err := w.process(t, dying).Post(t.Context(), room.Thread, "KEY000000000000000000001", post1(chattest.Long(4000)))
	if err == nil || errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) {
		t.Fatalf("posted in spite of Discord: %v", err)
	}
	again := w.process(t, w.adapter.options)
	if _, found, err := again.Find(t.Context(), room.Thread, "KEY000000000000000000001"); found || err != nil {
		t.Errorf("half a post is found: %v, %v", found, err)
	}
	if _, err := again.Post(t.Context(), room.Thread, "KEY000000000000000000001", post1(chattest.Long(4000))); err != nil {
		t.Fatal(err)
	}
	if seen := w.Seen(t, room.Thread); len(seen) != 3 || !strings.HasPrefix(strings.Join(strings.Fields(strings.Join(seen, " ")), " "), strings.TrimSpace(chattest.Long(4000))) {
		t.Errorf("people see %q", seen)
	}
}

// failing is a connection that fails for good after some messages were posted.
type failing struct {
	next  http.RoundTripper
	after int
}

func (f *failing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost {
		if f.after == 0 {
			return nil, errors.New("the connection is gone")
		}
		f.after--
	}
	return f.next.RoundTrip(request)
}

func TestWhatDiscordsRefusalsMean(t *testing.T) {
	for name, test := range map[string]struct {
		status, code int
		want         error
	}{
		"no access":       {403, 50001, chat.ErrGone},
		"no permission":   {403, 50013, chat.ErrGone},
		"no channel":      {404, 10003, chat.ErrGone},
		"no message":      {404, 10008, chat.ErrGone},
		"locked":          {400, 160005, chat.ErrGone},
		"a bad form":      {400, 50035, chat.ErrRefused},
		"empty":           {400, 50006, chat.ErrRefused},
		"too large":       {413, 40005, chat.ErrRefused},
		"out of order":    {500, 0, nil},
		"no token":        {401, 0, nil},
		"too many, of us": {503, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := classifyError("post", &discordgo.RESTError{
				Response: &http.Response{StatusCode: test.status}, Message: &discordgo.APIErrorMessage{Code: test.code},
			})
			for _, is := range []error{chat.ErrGone, chat.ErrRefused} {
				if errors.Is(err, is) != (is == test.want) { //nolint:errorlint // which of the two is wanted
					t.Errorf("the error is %v", err)
				}
			}
			if !isStatus(err, test.status) || test.code != 0 && !isCode(err, test.code) {
				t.Errorf("%v has lost its status or code", err)
			}
		})
	}
}

func TestDiscordIsLeftAloneWhenItWantsToBe(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	w.Fail("POST /channels/{channel}/messages", discordtest.Fault{Status: 429, RetryAfter: 7 * time.Second})
	_, err := w.adapter.Post(t.Context(), room.Thread, "KEY000000000000000000001", post1("one"))
	if later, ok := errors.AsType[*chat.RetryAfterError](err); !ok || later.After != 7*time.Second {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.adapter.Post(ctx, room.Thread, "KEY000000000000000000001", post1("one")); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestWhatDiscordMadeAndDidNotTell loses the answers to requests that were carried out.
func TestWhatDiscordMadeAndDidNotTell(t *testing.T) {
	lost := discordtest.Fault{Status: 500, Done: true}
	t.Run("a post", func(t *testing.T) {
		w := newTeam(t, nil)
		room := w.room(settings.ReplyInPlace)
		w.Fail("POST /channels/{channel}/messages", lost)
		if _, err := w.adapter.Post(t.Context(), room.Thread, "KEY000000000000000000001", post1("one")); err == nil || isNotPosted(err) {
			t.Errorf("the error is %v", err)
		}
		again := w.process(t, w.adapter.options)
		id, found, err := again.Find(t.Context(), room.Thread, "KEY000000000000000000001")
		if !found || err != nil {
			t.Fatalf("found %s, %v, %v", id, found, err)
		}
		if got, err := again.Post(t.Context(), room.Thread, "KEY000000000000000000001", post1("one")); got != id || err != nil {
			t.Errorf("posted %s, %v, want %s", got, err, id)
		}
		if seen := w.Seen(t, room.Thread); len(seen) != 1 {
			t.Errorf("people see %q", seen)
		}
	})
	t.Run("a thread", func(t *testing.T) {
		w := newTeam(t, nil)
		room := w.room(settings.ReplyInThread)
		w.Fail("POST /channels/{channel}/messages/{message}/threads", lost)
		if _, err := w.adapter.Post(t.Context(), room.Thread, "KEY000000000000000000001", chat.Post{To: room.To, Reply: post1("one").Reply}); err == nil {
			t.Error("posted in a thread of which nothing is known")
		}
		if _, err := w.adapter.Post(t.Context(), room.Thread, "KEY000000000000000000001", chat.Post{To: room.To, Reply: post1("one").Reply}); err != nil {
			t.Error(err)
		}
		if seen := w.Seen(t, room.Thread); len(seen) != 1 {
			t.Errorf("people see %q", seen)
		}
	})
	t.Run("a draft", func(t *testing.T) {
		w := newTeam(t, nil)
		room := w.room(settings.ReplyInPlace)
		draft, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: room.Thread, To: room.To})
		if err != nil {
			t.Fatal(err)
		}
		w.Fail("POST /channels/{channel}/messages", lost)
		if err := draft.Progress(t.Context(), chat.Progress{Run: "run-1", Step: "a", Description: "Searching", Status: chat.Running}); err == nil {
			t.Error("nobody heard that Discord failed")
		}
		if left := w.Left(t, room.Thread); left != 1 {
			t.Fatalf("%d drafts are seen", left)
		}
		if _, err := draft.Finish(t.Context(), "KEY000000000000000000001", post1("one")); err != nil {
			t.Fatal(err)
		}
		if seen, left := w.Seen(t, room.Thread), w.Left(t, room.Thread); len(seen) != 1 || left != 0 {
			t.Errorf("people see %q and %d drafts", seen, left)
		}
	})
}

// documents gives the files of the bot's messages.
func (w *team) documents(_ *testing.T, thread chat.ThreadID) []chat.Document {
	at, err := parseThread(thread)
	if err != nil {
		return nil
	}
	var seen []chat.Document
	for _, message := range w.in(at.channel) {
		if message.Author != discordtest.Bot || message.Deleted {
			continue
		}
		for _, file := range message.Attachments {
			if file.Name == "answer.md" { // the whole of a long answer
				continue
			}
			seen = append(seen, chat.Document{Name: file.Name, Content: w.Content(file.ID)})
		}
	}
	return seen
}

func TestDocuments(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"the post fails":           {Status: http.StatusInternalServerError},
		"only its answer was lost": {Status: http.StatusInternalServerError, Done: true},
	} {
		t.Run(name, func(t *testing.T) {
			chattest.TestDocuments(t, func(t *testing.T) (chattest.DocumentRoom, chat.Poster) {
				w := newTeam(t, nil)
				return chattest.DocumentRoom{PosterRoom: w.room(settings.ReplyInPlace), Documents: w.documents, Break: func() {
					w.Fail("POST /channels/{channel}/messages", fault)
				}}, w.process(t, w.adapter.options)
			})
		})
	}
}
