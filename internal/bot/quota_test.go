package bot_test

import (
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// limited is an office whose people have limits, each in a channel of the first letter of
// the thread.
func limited(t *testing.T, limits quota.Limits, cost func(run string) float64) *office {
	t.Helper()
	dir := t.TempDir()
	kept := quota.OpenSQLite(sqlitetest.Open(t, dir))
	return openWith(t, dir, func(options *bot.Options) {
		options.Adapters = map[string]chat.Poster{"test": nil, "free": nil}
		options.Quota = quota.New(quota.Options{Limits: limits, Counts: kept, Cost: cost, Channel: func(message chat.Message) (string, bool) {
			_, local, _ := strings.Cut(string(message.Thread), ":")
			return local[:1], message.Thread.Adapter() != "free"
		}})
	})
}

// says has a person say something in a thread, and gives what is said to it.
func (o *office) says(by chat.UserID, thread, text string) string {
	o.t.Helper()
	said := &heard{}
	message := chat.Message{ID: chat.MessageID(rand.Text()), Thread: chat.ThreadID(thread), Author: by, Text: text}
	if err := o.bot.Handle(o.t.Context(), message, said); err != nil {
		o.t.Fatal(err)
	}
	var texts []string
	for _, question := range said.questions {
		texts = append(texts, question.Text)
	}
	for _, reply := range said.replies {
		texts = append(texts, reply.Text)
	}
	return strings.Join(texts, ", ")
}

const (
	asIsOne   = "which is as many as I may take from one person. Please ask again in"
	asIsPlace = "which is as many as I may take in one place. Please ask again in"
)

func TestQuestionsOfOnePersonAreLimited(t *testing.T) {
	o := limited(t, quota.Limits{UserQuestions: 2}, nil)
	for _, text := range []string{"echo one", "echo two"} {
		if got := o.says("ann", "test:a1", text); got != strings.TrimPrefix(text, "echo ") {
			t.Fatalf("%q got %q", text, got)
		}
	}
	for _, thread := range []string{"test:a1", "test:b1"} {
		got := o.says("ann", thread, "echo three")
		if !strings.Contains(got, "You have asked 2 questions within an hour") || !strings.Contains(got, asIsOne) || !strings.HasSuffix(got, " UTC.") {
			t.Errorf("in %s got %q", thread, got)
		}
	}
	if got := o.says("bob", "test:a1", "echo four"); got != "four" {
		t.Errorf("bob got %q", got)
	}
	if got := o.says("ann", "free:a1", "echo five"); got != "five" {
		t.Errorf("where nothing is limited: %q", got)
	}
	// What is refused is no run, and is told once when it is delivered again.
	again := chat.Message{ID: "again", Thread: "test:c1", Author: "ann", Text: "echo six"}
	for range 2 {
		said := &heard{}
		if err := o.bot.Handle(t.Context(), again, said); err != nil {
			t.Fatal(err)
		}
		if len(said.replies) != 1 || said.replies[0].Run != "" || said.replies[0].Outcome != chat.Noticed {
			t.Errorf("said %+v", said.replies)
		}
	}
	if turns, err := o.bot.Transcript(t.Context(), "test:c1"); err != nil || len(turns) != 2 {
		t.Errorf("the thread has %+v, %v", turns, err)
	}
}

func TestQuestionsOfOneChannelAreLimited(t *testing.T) {
	o := limited(t, quota.Limits{ChannelQuestions: 2}, nil)
	o.says("ann", "test:a1", "echo one")
	o.says("bob", "test:a2", "echo two")
	if got := o.says("cem", "test:a3", "echo three"); !strings.Contains(got, asIsPlace) {
		t.Errorf("got %q", got)
	}
	if got := o.says("cem", "test:b1", "echo three"); got != "three" {
		t.Errorf("in another channel: %q", got)
	}
}

// Whoever has used up what they may ask can still answer, stop, and ask how things stand.
func TestWhatIsNeverLimited(t *testing.T) {
	o := limited(t, quota.Limits{UserQuestions: 1}, nil)
	if got := o.says("ann", "test:a1", "paint the wall"); got != "Which color?" {
		t.Fatalf("got %q", got)
	}
	if got := o.says("ann", "test:a2", "echo two"); !strings.Contains(got, asIsOne) {
		t.Fatalf("got %q", got)
	}
	for text, want := range map[string]string{"/cairn help": "Commands", "/cairn status": "waits for an answer", "/cairn sources": "no list"} {
		if got := o.says("ann", "test:a1", text); !strings.Contains(got, want) {
			t.Errorf("%q got %q", text, got)
		}
	}
	if got := o.says("ann", "test:a2", "stop"); got != "There is nothing to stop." {
		t.Errorf("got %q", got)
	}
	if got := o.says("ann", "test:a1", "blue"); got != "painted b" {
		t.Errorf("the answer got %q", got)
	}
}

func TestCostsOfOnePersonAreLimited(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	// A run costs nothing before it works, and 0.6 after it.
	cost := func(run string) float64 {
		mu.Lock()
		defer mu.Unlock()
		asked[run]++
		return float64((asked[run]-1)%2) * .6
	}
	o := limited(t, quota.Limits{UserCost: 1, ChannelCost: 1.3}, cost)
	for _, text := range []string{"echo one", "echo two"} {
		if got := o.says("ann", "test:a1", text); got != strings.TrimPrefix(text, "echo ") {
			t.Fatalf("%q got %q", text, got)
		}
	}
	if got := o.says("ann", "test:b1", "echo three"); !strings.Contains(got, "Answers to you have cost as much today as they may. Please ask again in") {
		t.Errorf("got %q", got)
	}
	if got := o.says("bob", "test:a1", "echo four"); got != "four" {
		t.Errorf("got %q", got)
	}
	if got := o.says("bob", "test:a1", "echo five"); !strings.Contains(got, "Answers in this place have cost as much") {
		t.Errorf("got %q", got)
	}
}
