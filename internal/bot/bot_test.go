package bot_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/store"
)

// asking is a small real flow: it asks which color is meant, and answers with it.
type asking struct{ graph *graph.Compiled[state] }

type state struct{ Text, Color string }

var (
	text  = graph.Replace("text", func(s *state) *string { return &s.Text })
	color = graph.Replace("color", func(s *state) *string { return &s.Color })
)

var errBroken = errors.New("the store is on fire at 10.0.0.7")

func newAsking(t testing.TB) *asking {
	g := graph.New("paint", 1, text, color)
	g.Node("ask", func(_ context.Context, step graph.Step[state]) (graph.Result[state], error) {
		if step.State.Text == "break" {
			return graph.Result[state]{}, errBroken
		}
		answer, answered := step.Answer("color")
		if !answered {
			question := graph.Question{
				Key: "color", Text: "Which color?", FreeText: step.State.Text != "paint from the choices",
				Choices: []graph.Choice{{ID: "r", Label: "Red"}, {ID: "b", Label: "Blue"}},
			}
			if step.State.Text == "paint for anyone" {
				question.Who = graph.Thread
			}
			return graph.Ask[state](question), nil
		}
		if answer.Text == "break it" {
			return graph.Result[state]{}, errBroken
		}
		return graph.Update(color.Set(answer.Choice + answer.Text)), nil
	}, graph.Policy{Asks: true})
	g.Start("ask")
	g.Edge("ask", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return &asking{graph: compiled}
}

func (a *asking) Name() string       { return "paint" }
func (a *asking) Shape() graph.Shape { return a.graph.Shape() }

func (a *asking) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return outcome(a.graph.Start(ctx, request.Run, state{Text: request.Text}, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func (a *asking) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	return outcome(a.graph.Resume(ctx, run, answers, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func outcome(run graph.Outcome[state], err error) (flows.Outcome, error) {
	if err != nil {
		return flows.Outcome{}, err
	}
	if run.Status == graph.Waiting {
		return flows.Outcome{Kind: flows.Asked, Question: &run.Questions[0]}, nil
	}
	return flows.Outcome{Kind: flows.Answered, Text: "painted " + run.State.Color}, nil
}

// heard is a chat.Conversation that keeps what the bot says.
type heard struct {
	replies   []chat.Reply
	questions []chat.Question
	progress  []chat.Progress
}

func (h *heard) Progress(_ context.Context, p chat.Progress) error {
	h.progress = append(h.progress, p)
	return nil
}

func (h *heard) Reply(_ context.Context, r chat.Reply) error {
	h.replies = append(h.replies, r)
	return nil
}

func (h *heard) Ask(_ context.Context, q chat.Question) error {
	h.questions = append(h.questions, q)
	return nil
}

// office is a bot with a worker over real stores in one directory, which a restart finds
// again.
type office struct {
	t       testing.TB
	bot     *bot.Bot
	log     *logged
	db      *sqlite.DB
	store   session.Store
	queue   *embedded.Store
	records store.Records
	leave   context.CancelFunc
	working sync.WaitGroup
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func open(t testing.TB, dir string, more ...flows.Flow) *office {
	t.Helper()
	return openWith(t, dir, func(*bot.Options) {}, more...)
}

// openWith opens an office whose bot has other options.
func openWith(t testing.TB, dir string, change func(*bot.Options), more ...flows.Flow) *office {
	t.Helper()
	o := &office{t: t, log: &logged{}}
	var err error
	if o.db, err = sqlite.OpenData(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if o.queue, err = embedded.Open(t.Context(), o.db, runs.Options{}); err != nil {
		t.Fatal(err)
	}
	o.store, o.records = o.queue.Sessions(), o.queue.Records()
	echoes, err := echo.New()
	if err != nil {
		t.Fatal(err)
	}
	options := bot.Options{
		Store: o.queue, Flows: append(more, newAsking(t), echoes),
		Adapters: map[string]chat.Poster{"test": nil}, Logger: slog.New(slog.NewTextHandler(o.log, nil)),
	}
	change(&options)
	if o.bot, err = bot.New(options); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(context.Background())
	o.leave = leave
	o.working.Go(func() { o.bot.Work(ctx) })
	t.Cleanup(o.close)
	return o
}

func (o *office) close() {
	if o.store == nil {
		return
	}
	o.leave()
	o.working.Wait()
	if err := o.db.Close(); err != nil {
		o.t.Error(err)
	}
	o.store = nil
}

// next makes a message of ann's in the thread that all tests talk in.
func (o *office) next(text string) chat.Message {
	return chat.Message{ID: chat.MessageID(rand.Text()), Thread: "test:1", Author: "ann", Text: text}
}

func (o *office) say(message chat.Message) *heard {
	o.t.Helper()
	filled := o.next(message.Text)
	filled.Answers = message.Answers
	said := &heard{}
	if err := o.bot.Handle(o.t.Context(), filled, said); err != nil {
		o.t.Fatal(err)
	}
	return said
}

// record is the run's, and its statuses in a row.
func (o *office) record(run chat.RunID) (record runs.Record, statuses string) {
	o.t.Helper()
	record, err := o.records.Load(o.t.Context(), run)
	if err != nil {
		o.t.Fatal(err)
	}
	var passed []string
	for _, transition := range record.Transitions {
		passed = append(passed, string(transition.To))
		if transition.Reason == "" || transition.At.IsZero() {
			o.t.Errorf("a transition of run %s lacks its reason or time: %+v", run, transition)
		}
	}
	return record, strings.Join(passed, " ")
}

func (o *office) transcript() []chat.Turn {
	o.t.Helper()
	turns, err := o.bot.Transcript(o.t.Context(), "test:1")
	if err != nil {
		o.t.Fatal(err)
	}
	return turns
}

func (o *office) text(text string) *heard { return o.say(chat.Message{Text: text}) }

func newOffice(t testing.TB) *office {
	t.Helper()
	return open(t, t.TempDir())
}

func TestAReplyResumesTheRunThatAsked(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply func(asked chat.Question) chat.Message
		want  string
	}{
		{"in its own words", func(chat.Question) chat.Message { return chat.Message{Text: "a dark green"} }, "painted a dark green"},
		{"by the label of a choice", func(chat.Question) chat.Message { return chat.Message{Text: "blue"} }, "painted b"},
		{"by a press", func(q chat.Question) chat.Message {
			return chat.Message{Answers: &chat.Press{Question: q.ID, Choice: "r"}}
		}, "painted r"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newOffice(t)
			asked := o.text("paint the wall").questions
			if len(asked) != 1 || asked[0].Asker != "ann" || len(asked[0].Choices) != 2 {
				t.Fatalf("asked %+v", asked)
			}
			said := o.say(test.reply(asked[0]))
			if len(said.replies) != 1 || said.replies[0].Text != test.want {
				t.Fatalf("replied %+v, want %q", said.replies, test.want)
			}
			if said.replies[0].Run != asked[0].Run {
				t.Errorf("run %s answered what run %s asked", said.replies[0].Run, asked[0].Run)
			}
		})
	}
}

func TestAQuestionSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir)
	before.text("paint the wall")
	before.close()
	said := open(t, dir).text("red")
	if len(said.replies) != 1 || said.replies[0].Text != "painted r" {
		t.Errorf("after the restart: %+v", said.replies)
	}
}

func TestNeverMindEndsTheRun(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint the wall").questions[0]
	if said := o.text("never mind"); len(said.replies) != 1 || len(said.questions) != 0 {
		t.Fatalf("said %+v", said)
	}
	late := o.say(chat.Message{Answers: &chat.Press{Question: asked.ID, Choice: "r"}})
	if len(late.replies) != 1 || !strings.Contains(late.replies[0].Text, "no longer open") {
		t.Errorf("a late press got %+v", late.replies)
	}
}

func TestAQuestionOfItsOwnClosesTheOldOne(t *testing.T) {
	o := newOffice(t)
	o.text("paint the wall")
	said := o.text("where is the coffee machine downstairs?")
	if len(said.questions) != 1 {
		t.Fatalf("a new question started no run: %+v", said)
	}
	turns := o.transcript()
	if turns[1].Answer != "left open" {
		t.Errorf("the old question shows %q", turns[1].Answer)
	}
}

func TestACommandReachesItsFlow(t *testing.T) {
	o := newOffice(t)
	if said := o.text("echo hello there"); said.replies[0].Text != "hello there" {
		t.Errorf("echo said %+v", said.replies)
	}
	if said := o.text("  \n "); !strings.Contains(said.replies[0].Text, "Ask me") {
		t.Errorf("an empty message got %+v", said.replies)
	}
}

func TestAFailureNamesItsRunAndHidesItsCause(t *testing.T) {
	o := newOffice(t)
	said := o.text("break")
	reply := said.replies[0]
	if reply.Outcome != chat.Failure || !strings.Contains(reply.Text, string(reply.Run)) {
		t.Errorf("replied %+v", reply)
	}
	if strings.Contains(reply.Text, "10.0.0.7") || !strings.Contains(o.log.String(), "10.0.0.7") {
		t.Errorf("the cause belongs in the log (%s), not in the reply (%s)", o.log, reply.Text)
	}
	if strings.Contains(o.log.String(), "break") {
		t.Error("the log holds the message")
	}
}

func TestTheTranscriptHoldsBothSides(t *testing.T) {
	o := newOffice(t)
	o.text("paint the wall")
	o.text("red")
	turns := o.transcript()
	if len(turns) != 4 || turns[0].Text != "paint the wall" || turns[1].Answer != "Red" || turns[3].Reply.Text != "painted r" {
		t.Errorf("transcript %+v", turns)
	}
	for i, turn := range turns {
		if turn.Message == "" {
			t.Errorf("turn %d does not say which message it belongs to", i)
		}
	}
	if turns[0].Author != "ann" || turns[1].AnsweredBy != "ann" {
		t.Errorf("the transcript does not tell who wrote and who answered: %+v", turns)
	}
}

// TestThreadsAreServedInOrder sends many messages into one thread at once: each is
// handled, none beside another.
func TestThreadsAreServedInOrder(t *testing.T) {
	o := newOffice(t)
	var busy sync.Mutex
	var sending sync.WaitGroup
	for i := range 16 {
		sending.Go(func() {
			said := &watching{busy: &busy}
			err := o.bot.Handle(t.Context(), chat.Message{ID: chat.MessageID(fmt.Sprint(i)), Thread: "test:1", Text: "echo x"}, said)
			if err != nil || said.overlapped {
				t.Errorf("%v, overlapped: %v", err, said.overlapped)
			}
		})
	}
	sending.Wait()
	if turns := o.transcript(); len(turns) != 32 {
		t.Errorf("%d turns", len(turns))
	}
}

// watching is a chat.Conversation that notices another one at work.
type watching struct {
	heard
	busy       *sync.Mutex
	overlapped bool
}

func (w *watching) Reply(ctx context.Context, r chat.Reply) error {
	if !w.busy.TryLock() {
		w.overlapped = true
		return nil
	}
	defer w.busy.Unlock()
	return w.heard.Reply(ctx, r)
}
