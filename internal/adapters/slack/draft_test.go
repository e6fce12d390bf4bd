package slack

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// drafted is a team in which a draft has begun.
func drafted(t *testing.T) (*team, chat.Draft, chat.ThreadID) {
	t.Helper()
	w := newTeam(t, false)
	root := w.ann.Says(w.general, "", "how do I roll back a release?")
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	draft, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: thread, To: chat.MessageID(root), Asker: "U0ANN"})
	if err != nil {
		t.Fatal(err)
	}
	return w, draft, thread
}

// streams adds tokens to a draft, a second and a half after one another.
func (w *team) streams(t *testing.T, draft chat.Draft, tokens ...string) {
	t.Helper()
	for _, token := range tokens {
		w.clock.Advance(1500 * time.Millisecond)
		if err := draft.Stream(t.Context(), chat.Token{Run: "run-1", Text: token}); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *team) finishes(t *testing.T, draft chat.Draft, thread chat.ThreadID) {
	t.Helper()
	reply := chattest.Answer()
	id, err := draft.Finish(t.Context(), "k1", chat.Post{Reply: &reply})
	if err != nil {
		t.Fatal(err)
	}
	if found, is, err := w.adapter.Find(t.Context(), thread, "k1"); !is || found != id || err != nil {
		t.Errorf("found %s, %v, %v; want %s", found, is, err, id)
	}
	posted := 0
	for _, message := range w.Messages(w.general) {
		if message.User == slacktest.Bot && !message.Deleted {
			posted++
		}
		if message.Streaming && !message.Deleted && message.Edits == 0 {
			t.Errorf("an unfinished stream was left: %+v", message)
		}
	}
	if posted != 1 {
		t.Errorf("%d messages", posted)
	}
	if status := w.Status(w.general, strings.Split(string(thread), ":")[3]); status != "" {
		t.Errorf("a status was left: %s", status)
	}
}

func TestADraftIsStreamed(t *testing.T) {
	w, draft, thread := drafted(t)
	var story strings.Builder
	for _, step := range chattest.Steps()[:4] {
		if err := draft.Progress(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	story.WriteString(w.Show(w.general))
	w.streams(t, draft, "A release is ", "rolled back with **one** command <", "!channel> <@U0BEN>")
	if err := draft.Progress(t.Context(), chattest.Steps()[5]); err != nil {
		t.Fatal(err)
	}
	story.WriteString(w.Show(w.general))
	w.finishes(t, draft, thread)
	w.clean(t)
	golden(t, "draft", story.String()+w.Show(w.general))
}

func TestAStreamThatDiedIsFinished(t *testing.T) {
	w, draft, thread := drafted(t)
	w.streams(t, draft, "A release ")
	w.clock.Advance(10 * time.Minute)
	w.streams(t, draft, "is rolled ", "back")
	w.finishes(t, draft, thread)
}

// TestAStreamInAChannelIsStopped by Slack's own Stop, which ends the stream at once.
func TestAStreamInAChannelIsStopped(t *testing.T) {
	w, draft, thread := drafted(t)
	root := strings.Split(string(thread), ":")[3]
	w.streams(t, draft, "A release ", "is rolled ")
	if w.Session(w.general, root) != "processing" || !w.ann.StopsSession(w.general, root) {
		t.Fatal("Slack offers no Stop")
	}
	w.streams(t, draft, "back")
	w.finishes(t, draft, thread)
	if got := w.Session(w.general, root); got != "active" {
		t.Errorf("the session is %q", got)
	}
}

// TestASessionBearsTheThreadsTitle also where it began without one.
func TestASessionBearsTheThreadsTitle(t *testing.T) {
	for _, begun := range []bool{false, true} {
		w := newTeam(t, false)
		root := w.ann.Says(w.general, "", "how do I roll back?")
		thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
		s, err := w.adapter.senderFor(t.Context(), thread)
		if err != nil {
			t.Fatal(err)
		}
		if begun {
			s.setSessionStatus(t.Context(), sessionActive)
		}
		draft, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: thread, To: chat.MessageID(root), Asker: "U0ANN", Title: strings.Repeat("Roll back\n", 60)})
		if err != nil {
			t.Fatal(err)
		}
		w.streams(t, draft, "A release ", "is rolled ")
		if got := w.SessionTitle(w.general, root); !strings.HasPrefix(got, "Roll back Roll back") || len([]rune(got)) > maxSessionTitle {
			t.Errorf("begun %t: the title is %q", begun, got)
		}
		w.clean(t)
	}
}

// TestADraftTellsWhatMayBeLeft: only a call that may have made a message, or that did not take one
// away, has the thread tidied.
func TestADraftTellsWhatMayBeLeft(t *testing.T) {
	for name, of := range map[string]struct {
		method string
		want   bool
	}{
		"a stream that is not known to begin":      {"chat.startStream", true},
		"a message that is not taken away":         {"chat.delete", true},
		"a status line that is not known to stand": {"assistant.threads.setStatus", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, draft, _ := drafted(t)
			w.Fail(of.method, slacktest.Fault{Status: http.StatusInternalServerError})
			err := errors.Join(draft.Progress(t.Context(), chat.Progress{Run: "run-1", Step: "read", Description: "Reading", Status: chat.Running}),
				draft.Stream(t.Context(), chat.Token{Run: "run-1", Text: "A release is rolled back."}), draft.Close(t.Context()))
			if err == nil {
				t.Error("nothing failed")
			}
			if got := draft.Unsettled(); got != of.want {
				t.Errorf("unsettled is %v", got)
			}
		})
	}
}

func TestADraftWithoutStreamsIsEdited(t *testing.T) {
	w, draft, thread := drafted(t)
	w.Fail("chat.startStream", slacktest.Fault{Error: "unknown_method"})
	w.streams(t, draft, "A release ", "is rolled ", "back ", "with ", "one ", "command")
	if got := w.Show(w.general); !strings.Contains(got, "A release is rolled back with one") || !strings.Contains(got, "[Stop]") {
		t.Errorf("shown: %s", got)
	}
	w.ann.Presses(w.general, "Stop")
	if edits := len(w.Calls("chat.update")); edits > 3 {
		t.Errorf("%d edits in 9 seconds", edits)
	}
	w.finishes(t, draft, thread)
	w.clean(t)
}

func TestADraftBeginsAnew(t *testing.T) {
	w, draft, thread := drafted(t)
	w.streams(t, draft, "Wrong ", "words")
	if err := draft.Stream(t.Context(), chat.Token{Restart: true, Text: "Right"}); err != nil {
		t.Fatal(err)
	}
	w.streams(t, draft, " words")
	if got := w.Show(w.general); !strings.Contains(got, "Right words") || strings.Contains(got, "Wrong") {
		t.Errorf("shown: %s", got)
	}
	w.finishes(t, draft, thread)
	w.clean(t)
}

func TestALongDraftStopsInTime(t *testing.T) {
	w, draft, thread := drafted(t)
	for range 30 {
		w.streams(t, draft, chattest.Long(900))
	}
	w.finishes(t, draft, thread)
	w.clean(t)
}

func TestADraftIsTakenBack(t *testing.T) {
	w, draft, _ := drafted(t)
	if err := draft.Progress(t.Context(), chattest.Steps()[0]); err != nil {
		t.Fatal(err)
	}
	w.streams(t, draft, "Some ", "words")
	if err := draft.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	golden(t, "taken-back", w.Show(w.general))
	w.clean(t)
}

func TestAWorkspaceWithoutStatusLines(t *testing.T) {
	w, draft, thread := drafted(t)
	w.Fail("assistant.threads.setStatus", slacktest.Fault{Error: "missing_scope"})
	if err := draft.Progress(t.Context(), chattest.Steps()[0]); err != nil {
		t.Fatal(err)
	}
	w.streams(t, draft, "A release ", "is")
	w.finishes(t, draft, thread)
}

// TestAStreamEndsAsTheReply: the end of the stream brings the rest of the text, the sources and the
// buttons, and nothing is updated, in channels as in direct conversations; but for what checking
// took out, and the button that stops the run where Slack has none of its own.
func TestAStreamEndsAsTheReply(t *testing.T) {
	whole := []string{"A release is ", "rolled back with ", "one"}
	for name, of := range map[string]struct {
		direct   bool
		streamed []string
		agent    slacktest.Fault // of the session, if any
		warned   bool            // the app does not hear that a session is stopped
		updates  int
	}{
		"directly":                {direct: true, streamed: whole},
		"in a channel":            {streamed: whole},
		"taken out since":         {direct: true, streamed: []string{"A release is ", "rolled back by ", "magic"}, updates: 1},
		"taken out in a channel":  {streamed: []string{"A release is ", "rolled back by ", "magic"}, updates: 1},
		"no agent":                {streamed: whole, agent: slacktest.Fault{Error: "unknown_method"}, updates: 1},
		"an agent without a stop": {streamed: whole, warned: true, updates: 1},
		"sessions at their limit": {streamed: whole, agent: slacktest.Fault{Status: 429, RetryAfter: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, false)
			direct := w.general
			if of.direct {
				direct = w.ann.DM()
			}
			root := w.ann.Says(direct, "", "how do I roll back a release?")
			thread := place{team: slacktest.Team, channel: direct, root: root}.threadID()
			if of.agent != (slacktest.Fault{}) {
				w.Fail("agents.sessions.setStatus", of.agent)
			}
			w.Unstoppable(of.warned)
			draft, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: thread, To: chat.MessageID(root), Asker: "U0ANN"})
			if err != nil {
				t.Fatal(err)
			}
			w.streams(t, draft, of.streamed...)
			if got, want := strings.Contains(w.Show(direct), "[Stop]"), of.agent.Error != "" || of.warned; got != want {
				t.Errorf("a button to stop: %v, want %v", got, want)
			}
			reply := chattest.Answer()
			reply.Text = "A release is rolled back with one command [1]. <!channel>"
			id, err := draft.Finish(t.Context(), "k1", chat.Post{Reply: &reply})
			if err != nil {
				t.Fatal(err)
			}
			if found, is, err := w.adapter.Find(t.Context(), thread, "k1"); !is || found != id || err != nil {
				t.Errorf("found %s, %v, %v; want %s", found, is, err, id)
			}
			if made := len(w.Calls("chat.update")); made != of.updates {
				t.Errorf("%d updates, want %d", made, of.updates)
			}
			shown := w.Show(direct)
			for _, want := range []string{"rolled back with one command", "Deploying the API", "[⋯ Why"} {
				if !strings.Contains(shown, want) {
					t.Errorf("%q is not in\n%s", want, shown)
				}
			}
			if strings.Contains(shown, "magic") || strings.Contains(shown, "[Stop]") {
				t.Errorf("shown: %s", shown)
			}
			if got := w.Session(direct, root); got == "processing" {
				t.Errorf("the session still works")
			}
			if of.agent == (slacktest.Fault{}) {
				w.clean(t)
			}
		})
	}
}
