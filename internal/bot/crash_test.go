package bot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/racetest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
	"github.com/cairn-bot/cairn/internal/store"
)

// street is a place of several bots, one for each process, over the same stores.
type street struct {
	t        *testing.T
	queue    *embedded.Store
	records  store.Records
	platform *chattest.Platform
	catalog  chat.Catalog
	poster   chat.Poster // in place of the platform; nil: none
	flows    []flows.Flow
	access   bot.Access
	library  bot.Library
	check    bot.Check
	openers  map[string]chat.PrivateOpener
	curation *bot.Curation
	working  sync.WaitGroup
}

const (
	streetTTL  = time.Second
	streetTidy = 2 * time.Second
)

var quietLogger = slog.New(slog.DiscardHandler)

func newStreet(t *testing.T, more ...flows.Flow) *street {
	t.Helper()
	db := sqlitetest.Open(t, t.TempDir())
	s := &street{t: t, platform: &chattest.Platform{}}
	var err error
	if s.queue, err = embedded.Open(t.Context(), db, runs.Options{LeaseTTL: streetTTL}); err != nil {
		t.Fatal(err)
	}
	s.records = s.queue.Records()
	echoes, err := echo.New()
	if err != nil {
		t.Fatal(err)
	}
	s.flows = slices.Concat(more, []flows.Flow{newAsking(t), echoes})
	t.Cleanup(s.working.Wait)
	return s
}

// process is a bot with a fate.
func (s *street) process(of *fate) *bot.Bot {
	s.t.Helper()
	var poster chat.Poster = mortalPoster{s.platform, of}
	if s.poster != nil {
		poster = s.poster
	}
	made, err := bot.New(bot.Options{
		Store: mortalRuns{s.queue, of}, Flows: s.flows, Logger: quietLogger,
		Adapters: map[string]chat.Poster{"test": nil, "platform": poster},
		Parallel: 1, LeaseTTL: streetTTL, LookAfter: streetTTL, TidyAfter: streetTidy, EditWindow: time.Minute, ReadFile: readText, Catalog: s.catalog,
		Access: s.access, Library: s.library, Check: s.check, Openers: s.openers, Withdraw: bot.WithdrawClosed, ComposeDigest: composeDigest, Curation: s.curation,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// works has a process work until stop is called, or it dies.
func (s *street) works(of *fate) (stop func()) {
	worker := s.process(of)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.working.Go(func() {
		defer close(ended)
		worker.Work(ctx)
	})
	s.working.Go(func() {
		select {
		case <-of.died:
			if of.thaw == nil {
				cancel()
			}
		case <-ctx.Done():
		}
	})
	return func() {
		cancel()
		<-ended
	}
}

// story is what happens in one thread: first undisturbed, then with a worker that dies.
type story struct {
	name   string
	before []string // said and answered before
	then   func(front *front)
	flow   func(t *testing.T) flows.Flow // that takes plain messages; nil: asking
	// maybe are lines that are seen or not: it depends on how far a run was that came to
	// nothing.
	maybe []string
}

// surely leaves out of what is seen the lines that may be missing.
func (s story) surely(seen string) string {
	lines := slices.DeleteFunc(strings.Split(seen, "\n"), func(line string) bool { return slices.Contains(s.maybe, line) })
	return strings.Join(lines, "\n")
}

// front is a person at a process that lives, which works at nothing.
type front struct {
	*street
	bot    *bot.Bot
	thread chat.ThreadID
	said   int
	asked  []string // what was replied or asked, in order
}

// say hands a message over and waits for what is said to it.
func (f *front) say(text string) *heard {
	f.t.Helper()
	f.said++
	said := &heard{}
	message := chat.Message{ID: chat.MessageID(fmt.Sprint("m", f.said)), Thread: f.thread, Author: "ann", Text: text, At: time.Now()}
	if err := f.bot.Handle(f.t.Context(), message, said); err != nil {
		f.t.Errorf("%q got %v", text, err)
	}
	f.hear(said)
	return said
}

func (f *front) hear(said *heard) {
	for _, reply := range said.replies {
		f.asked = append(f.asked, reply.Text)
	}
	for _, question := range said.questions {
		f.asked = append(f.asked, question.Text)
	}
}

// seen is all that people can see of the thread, and what is remembered of its runs.
func (f *front) seen() string {
	f.t.Helper()
	var seen []string
	var ids []string // of runs, in order: their names differ from thread to thread
	anonymous := func(text string) string {
		for _, id := range ids {
			text = strings.ReplaceAll(text, id, "RUN")
		}
		return text
	}
	turns, err := f.bot.Transcript(f.t.Context(), f.thread)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, turn := range turns {
		switch {
		case turn.Reply != nil:
			ids = append(ids, string(turn.Reply.Run))
			seen = append(seen, fmt.Sprintf("%s: reply %s%s", turn.Message, turn.Reply.Text, documents(*turn.Reply)))
		case turn.Question != nil:
			ids = append(ids, string(turn.Question.Run))
			seen = append(seen, fmt.Sprintf("%s: question %s (%s)", turn.Message, turn.Question.Text, turn.Answer))
		default:
			seen = append(seen, fmt.Sprintf("%s: said %s", turn.Message, turn.Text))
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	for _, posted := range f.platform.Posted(f.thread) {
		text := "posted "
		if posted.Post.Reply != nil {
			text += posted.Post.Reply.Text + documents(*posted.Post.Reply)
		} else {
			text += posted.Post.Question.Text + " (" + posted.Post.Answer + ")"
		}
		seen = append(seen, text)
	}
	for _, left := range f.platform.Drafts(f.thread) {
		seen = append(seen, fmt.Sprintf("a draft is left over: %q", left.Text))
	}
	records, err := f.records.List(f.t.Context(), runs.Filter{Thread: f.thread}, 100)
	if err != nil {
		f.t.Fatal(err)
	}
	var ends []string
	for _, record := range records {
		ends = append(ends, "run "+record.Request+" is "+string(record.Status()))
	}
	slices.Sort(ends)
	seen = append(append(seen, f.asked...), ends...)
	return anonymous(strings.Join(seen, "\n"))
}

// documents tells what goes with a reply.
func documents(reply chat.Reply) string {
	said := ""
	for _, document := range reply.Documents {
		content := "not kept"
		if document.Kept() {
			content = string(document.Content)
		}
		said += fmt.Sprintf(" + %s, %s, %d bytes: %s", document.Name, document.MediaType, document.Size, content)
	}
	return said
}

// pass lets time go by on the bubble's clock.
func pass(d time.Duration) { <-time.After(d) }

// quiet waits until the thread has no more to do, and was tidied where it was to be.
func (f *front) quiet() {
	f.t.Helper()
	for since := time.Now(); time.Since(since) < 2*streetTidy; pass(100 * time.Millisecond) {
		state, err := f.queue.State(f.t.Context(), f.thread)
		if err != nil {
			f.t.Fatal(err)
		}
		if state.Queued > 0 {
			since = time.Now()
		}
	}
}

// live tells a story in a thread, with a worker of that fate and then one that lives.
func (s *street) live(story story, thread chat.ThreadID, of *fate) string {
	f := &front{street: s, bot: s.process(newFate(0, false)), thread: thread}
	stop := s.works(newFate(0, false))
	for _, text := range story.before {
		f.say(text)
	}
	f.quiet()
	stop()
	stopMortal := s.works(of)
	saviour := make(chan func(), 1)
	ended := make(chan struct{})
	s.working.Go(func() {
		select {
		case <-of.died:
			saviour <- s.works(newFate(0, false))
		case <-ended:
			saviour <- func() {}
		}
	})
	story.then(f)
	f.quiet()
	close(ended)
	(<-saviour)()
	if of.thaw != nil {
		close(of.thaw)
	}
	stopMortal()
	return f.seen()
}

var stories = []story{
	{name: "a plain answer", then: func(f *front) { f.say("echo hello") }},
	{name: "a question", then: func(f *front) { f.say("paint the wall") }},
	{name: "an answer to a question", before: []string{"paint the wall"}, then: func(f *front) { f.say("red") }},
	{name: "a question is dropped", before: []string{"paint the wall"}, then: func(f *front) { f.say("never mind") }},
	{name: "a question is superseded", before: []string{"paint the wall"}, then: func(f *front) { f.say("echo hello") }},
	{name: "a failure", then: func(f *front) { f.say("break") }},
	{name: "a retry that fails again", before: []string{"break"}, then: func(f *front) {
		turns, err := f.bot.Transcript(f.t.Context(), f.thread)
		if err != nil {
			f.t.Fatal(err)
		}
		said := &heard{}
		if err := f.bot.Retry(f.t.Context(), turns[1].Reply.Run, "ann", said); err != nil {
			f.t.Error(err)
		}
		f.hear(said)
	}},
	{name: "nothing to stop", then: func(f *front) { f.say("stop") }},
	{name: "a stop", flow: func(t *testing.T) flows.Flow {
		j := newJob(t)
		j.work = func(ctx context.Context, _ graph.Step[state]) error {
			<-ctx.Done()
			return ctx.Err()
		}
		return j
	}, then: func(f *front) {
		var digging sync.WaitGroup
		digging.Go(func() { f.say("dig") })
		synctest.Wait()
		if stopped, err := f.bot.Stop(f.t.Context(), f.thread, "ann"); !stopped || err != nil {
			f.t.Errorf("Stop = %v, %v", stopped, err)
		}
		digging.Wait()
	}},
	{name: "an answer with a document", flow: writes, then: func(f *front) { f.say("write this") }},
	{name: "two in a row", then: func(f *front) {
		f.say("echo one")
		f.say("echo two")
	}},
}

// writes is a flow that makes a document of what it was asked.
func writes(t *testing.T) flows.Flow {
	j := newJob(t)
	j.succeeds()
	j.files = func(text string) []flows.File {
		return []flows.File{{Name: "notes.md", MediaType: "text/markdown", Content: []byte("# " + text)}}
	}
	return j
}

func (s story) flowsOf(t *testing.T) []flows.Flow {
	if s.flow == nil {
		return nil
	}
	return []flows.Flow{s.flow(t)}
}

// TestCrashAtEveryCall kills a worker at each call of a store or the platform, before
// and after it is done, and lets another go on: what people see, and what is
// remembered, is the same as if nothing had happened.
func TestCrashAtEveryCall(t *testing.T) {
	everywhere(t, newFate, stories, "test", "platform")
	everywhere(t, newFate, changeStories, "platform")
	everywhere(t, newFate, []story{digestStory}, "platform")
}

// TestZombieAtEveryCall stops a worker at each call for longer than its lease, lets
// another finish, and wakes the first: it changes nothing any more.
func TestZombieAtEveryCall(t *testing.T) {
	everywhere(t, func(at int, after bool) *fate {
		of := newFate(at, after)
		of.thaw = make(chan struct{})
		return of
	}, slices.Concat(changeStories, stories, []story{digestStory}), "platform")
}

func everywhere(t *testing.T, fated func(at int, after bool) *fate, stories []story, adapters ...string) {
	for _, adapter := range adapters {
		for _, story := range stories {
			t.Run(adapter+"/"+story.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { crashEverywhere(t, adapter, story, fated) })
			})
		}
	}
}

func crashEverywhere(t *testing.T, adapter string, story story, fated func(at int, after bool) *fate) {
	s := newStreet(t, story.flowsOf(t)...)
	want := s.live(story, chat.NewThreadID(adapter, "undisturbed"), newFate(0, false))
	for at := 1; ; at += racetest.Stride {
		for _, after := range []bool{false, true} {
			of := fated(at, after)
			got := s.live(story, chat.NewThreadID(adapter, fmt.Sprint(at, after)), of)
			if !of.dead() {
				if at < 4 { // to claim, and two commits
					t.Errorf("only %d calls were met", at-1)
				}
				return
			}
			if story.surely(got) != story.surely(want) {
				t.Errorf("struck at call %d (%s, done: %v), it is seen:\n%s\n\nundisturbed:\n%s", at, of.last, after, got, want)
			}
		}
	}
}

// TestIntakeCrashAtEveryCall kills an intake at each of its calls; the platform, which got
// no answer, delivers again to another one.
func TestIntakeCrashAtEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		defer s.works(newFate(0, false))()
		for _, text := range []string{"echo hello", "stop"} {
			for at, struck := 1, true; struck; at += racetest.Stride {
				struck = false
				for _, after := range []bool{false, true} {
					f := s.front("platform", fmt.Sprint(text, at, after))
					of := newFate(at, after)
					message := chat.Message{ID: "m1", Thread: f.thread, Author: "ann", Text: text, At: time.Now()}
					for _, intake := range []*bot.Bot{s.process(of), f.bot} {
						err := intake.Handle(t.Context(), message, nil)
						if died := of.dead() && intake != f.bot; died != errors.Is(err, errDead) {
							t.Errorf("%q got %v", text, err)
						}
					}
					f.quiet()
					if posted := s.platform.Posted(f.thread); len(posted) != 1 {
						t.Errorf("intake dead at call %d (%s, done: %v) of %q: posted %+v", at, of.last, after, text, posted)
					}
					struck = struck || of.dead()
				}
			}
		}
	})
}
