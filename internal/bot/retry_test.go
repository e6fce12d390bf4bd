package bot_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
)

func (o *office) retry(run chat.RunID) *heard {
	o.t.Helper()
	said := &heard{}
	if err := o.bot.Retry(o.t.Context(), run, "ann", said); err != nil {
		o.t.Fatal(err)
	}
	return said
}

func TestRetryRunsNoFinishedNodeAgain(t *testing.T) {
	dir, j := t.TempDir(), newJob(t)
	before := open(t, dir, j)
	j.fails()
	failed := before.text("dig").replies[0]
	if _, statuses := before.record(failed.Run); statuses != "queued running failed" {
		t.Errorf("the run was %s", statuses)
	}
	before.close()

	o := open(t, dir, j) // after a restart
	j.succeeds()
	reply := o.retry(failed.Run).replies[0]
	if reply.Text != "did dig" || reply.Run != failed.Run {
		t.Errorf("replied %+v", reply)
	}
	if ran := j.times(); ran != [3]int{1, 2, 1} {
		t.Errorf("the nodes ran %v times", ran)
	}
	record, statuses := o.record(failed.Run)
	if statuses != "queued running failed running done" || record.Transitions[2].Reason != `node "work" failed` {
		t.Errorf("the run was %s: %+v", statuses, record.Transitions)
	}
	var steps []string
	for _, step := range record.Trace.Steps {
		steps = append(steps, step.Node+" "+string(step.Status))
	}
	if got := strings.Join(steps, ", "); got != "prepare completed, work failed, work completed, finish completed" {
		t.Errorf("steps %s", got)
	}
	turns := o.transcript()
	if len(turns) != 2 || turns[1].Reply.Text != "did dig" || turns[1].Message != turns[0].Message {
		t.Errorf("the failure line stands beside the answer: %+v", turns)
	}
}

func TestRetryGoesOnWithAStoppedRun(t *testing.T) {
	o, j := works(t)
	begun := j.blocks()
	working := o.begin(t.Context(), "dig")
	<-begun
	if _, err := o.bot.Stop(t.Context(), "test:1", "ann"); err != nil {
		t.Fatal(err)
	}
	stopped := working.reply(t)
	j.succeeds()
	if reply := o.retry(stopped.Run).replies[0]; reply.Text != "did dig" || j.times() != [3]int{1, 2, 1} {
		t.Errorf("replied %+v after %v", reply, j.times())
	}
}

func TestRetryWithoutACheckpointStartsAgain(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	o.text("one")
	j.prepare = func() error { return errBroken }
	failed := o.say(chat.Message{Text: "two"}).replies[0]
	j.prepare = nil
	o.text("three")
	if reply := o.retry(failed.Run).replies[0]; reply.Text != "did two" {
		t.Errorf("replied %+v", reply)
	}
	first, again := j.requests[1], j.requests[3]
	if !reflect.DeepEqual(again, first) || len(again.History) != 2 {
		t.Errorf("it was started again with %+v, at first with %+v", again, first)
	}
	if history := j.requests[2].History; len(history) != 3 {
		t.Errorf("the failure line is part of the history: %+v", history)
	}
}

func TestRetryOfAnAnswerGoesWhereItFailed(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint the wall").questions[0]
	broken := o.text("break it").replies[0]
	if broken.Run != asked.Run || broken.Outcome != chat.Failure {
		t.Fatalf("replied %+v", broken)
	}
	turns := o.transcript()
	failedAt := turns[len(turns)-1].Message
	o.retry(broken.Run) // fails again
	turns = o.transcript()
	if last := turns[len(turns)-1]; last.Message != failedAt || len(turns) != 4 {
		t.Errorf("the transcript is %+v", turns)
	}
}

func TestRetriesThatAreRefused(t *testing.T) {
	o, j := works(t)
	j.fails()
	failed := o.text("dig").replies[0].Run
	j.succeeds()
	done := o.text("rest").replies[0].Run
	for _, test := range []struct {
		run  chat.RunID
		by   chat.UserID
		want error
	}{{failed, "eve", chat.ErrForbidden}, {"run-nobody", "ann", chat.ErrUnknownRun}, {done, "ann", chat.ErrRunOver}} {
		said := &heard{}
		if err := o.bot.Retry(t.Context(), test.run, test.by, said); !errors.Is(err, test.want) || len(said.replies) > 0 {
			t.Errorf("%s by %s: %v, %+v; want %v", test.run, test.by, err, said.replies, test.want)
		}
	}
}

func TestOfTwoRetriesOneGoesOn(t *testing.T) {
	o, j := works(t)
	j.fails()
	failed := o.text("dig").replies[0].Run
	j.succeeds()
	var trying sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		trying.Go(func() { errs[i] = o.bot.Retry(t.Context(), failed, "ann", &heard{}) })
	}
	trying.Wait()
	if over := slices.IndexFunc(errs, func(err error) bool { return errors.Is(err, chat.ErrRunOver) }); over < 0 || errs[1-over] != nil {
		t.Errorf("the retries gave %v", errs)
	}
	if j.times() != [3]int{1, 2, 1} {
		t.Errorf("the nodes ran %v times", j.times())
	}
}

func TestEveryRunCanBeExplained(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	reply := o.text("dig").replies[0]
	trace, err := o.bot.Explain(t.Context(), reply.Run)
	if err != nil || !reflect.DeepEqual(trace, reply.Trace) {
		t.Errorf("explained %+v, %v, replied %+v", trace, err, reply.Trace)
	}
	if trace.Notes[0] != "routed by intent: nothing says that it is for another flow" {
		t.Errorf("the first note is %q", trace.Notes[0])
	}
	for _, got := range []string{fmt.Sprint(trace.Agents), fmt.Sprint(trace.Models), fmt.Sprint(trace.Inputs), fmt.Sprint(trace.Queries), fmt.Sprint(trace.Notes[1:])} {
		want := fmt.Sprint(jobTrace.Agents, jobTrace.Models, jobTrace.Inputs, jobTrace.Queries, jobTrace.Notes)
		if !strings.Contains(want, got) {
			t.Errorf("%s is not of %s", got, want)
		}
	}
	if trace.Flow != "job" || len(trace.Steps) != 3 || trace.Took <= 0 || len(trace.Evidence) != 1 {
		t.Errorf("trace %+v", trace)
	}
	j.fails()
	failed := o.text("dig").replies[0]
	if trace, err := o.bot.Explain(t.Context(), failed.Run); err != nil || len(trace.Steps) != 2 || trace.Steps[1].Status != chat.Failed {
		t.Errorf("the failed run is explained by %+v, %v", trace, err)
	}
	if _, err := o.bot.Explain(t.Context(), "run-nobody"); !errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("an unknown run gives %v", err)
	}
}

func TestAWaitingRunIsRecorded(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint the wall").questions[0]
	record, statuses := o.record(asked.Run)
	if statuses != "queued running waiting" || record.Author != "ann" || record.Request != "paint the wall" || record.Message == "" {
		t.Errorf("%s: %+v", statuses, record)
	}
	if steps := record.Trace.Steps; len(steps) != 1 || steps[0].Status != chat.Pending {
		t.Errorf("steps %+v", steps)
	}
	o.text("red")
	record, statuses = o.record(asked.Run)
	if statuses != "queued running waiting running done" {
		t.Errorf("the run was %s", statuses)
	}
	if steps := record.Trace.Steps; len(steps) != 1 || steps[0].Status != chat.Completed {
		t.Errorf("steps %+v", steps)
	}
}

func TestRatingsAreKept(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	run := o.text("dig").replies[0].Run
	for _, rating := range []chat.Rating{{By: "ann", Verdict: chat.Up}, {By: "bob", Verdict: chat.Up}, {By: "ann", Verdict: chat.Down, Reason: " " + strings.Repeat("é", 2000)}, {By: "bob"}} {
		if err := o.bot.Rate(t.Context(), run, rating); err != nil {
			t.Fatal(err)
		}
	}
	record, _ := o.record(run)
	if len(record.Ratings) != 1 || record.Ratings[0].By != "ann" || record.Ratings[0].Verdict != chat.Down || record.Ratings[0].At.IsZero() {
		t.Errorf("ratings %+v", record.Ratings)
	}
	given, err := o.bot.RatingsOf(t.Context(), run)
	if err != nil || len(given) != 1 || given[0].By != "ann" || given[0].Reason != strings.Repeat("é", chat.MaxReason) {
		t.Errorf("given back are %+v, %v", given, err)
	}
	if _, err := o.bot.RatingsOf(t.Context(), "run-nobody"); !errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("the ratings of an unknown run give %v", err)
	}
	if err := o.bot.Rate(t.Context(), run, chat.Rating{By: "ann", Verdict: "meh"}); err == nil || !strings.Contains(err.Error(), "meh") {
		t.Errorf("a made-up verdict gives %v", err)
	}
	if err := o.bot.Rate(t.Context(), "run-nobody", chat.Rating{By: "ann", Verdict: chat.Up}); !errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("an unknown run gives %v", err)
	}
}

func TestThreadsAreListed(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	o.text("dig a hole in the garden, as deep as you can, and then fill it up again")
	listed, err := o.bot.Threads(t.Context(), "test", "ann", 10)
	if err != nil || len(listed) != 1 || listed[0].Thread != "test:1" || listed[0].Title != "dig a hole in the garden, as deep as you can, and then fill…" {
		t.Errorf("listed %+v, %v", listed, err)
	}
	if _, err := o.bot.Threads(t.Context(), "test", "ann", 0); err == nil {
		t.Error("a limit of 0 is taken")
	}
}

func TestGraphsAreDrawn(t *testing.T) {
	o, _ := works(t)
	svg, known := o.bot.Graph("job")
	if !known || !strings.HasPrefix(svg, "<svg") || !strings.Contains(svg, `data-node="prepare"`) {
		t.Errorf("drew %v %.100s", known, svg)
	}
	for _, unknown := range []string{"", "nothing"} {
		if _, known := o.bot.Graph(unknown); known {
			t.Errorf("flow %q is known", unknown)
		}
	}
}

func TestTokensBeginAnewWithAnotherAttempt(t *testing.T) {
	token := func(node string, visit, attempt int, text string) graph.Event {
		return graph.Event{Kind: graph.Token, Run: "r", Node: node, Visit: visit, Attempt: attempt, Text: text}
	}
	got := bot.Tokens([]graph.Event{
		{Kind: graph.StepRetried, Run: "r", Node: "a", Visit: 1, Attempt: 1}, // nothing to take back
		token("a", 1, 2, "x"), token("a", 1, 2, ""), token("a", 1, 2, "y"),
		{Kind: graph.StepFinished, Run: "r", Node: "a", Visit: 1, Attempt: 2},
		token("a", 2, 1, "z"),
		{Kind: graph.StepRetried, Run: "r", Node: "b", Visit: 1, Attempt: 1},
		token("b", 1, 2, "b"),
		{Kind: graph.StepRetried, Run: "r", Node: "b", Visit: 1, Attempt: 2},
		token("b", 1, 3, "c"),
	})
	want := []chat.Token{
		{Run: "r", Text: "x"}, {Run: "r", Text: "y"}, {Run: "r", Text: "z", Restart: true},
		{Run: "r", Text: "b", Restart: true}, {Run: "r", Restart: true}, {Run: "r", Text: "c"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("streamed %+v, want %+v", got, want)
	}
}
