package runs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

func TestMoveIsBounded(t *testing.T) {
	var record runs.Record
	if record.Status() != "" {
		t.Errorf("a new record is %s", record.Status())
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range runs.MaxTransitions {
		record.Move(runs.Failed, at.Add(time.Duration(i)), "")
	}
	record.Move(runs.Running, at, "tried again")
	if record.Status() != runs.Running || len(record.Transitions) != runs.MaxTransitions {
		t.Errorf("%s with %d transitions", record.Status(), len(record.Transitions))
	}
	if first := record.Transitions[0].At; !first.Equal(at.Add(1)) {
		t.Errorf("the first transition kept is of %s, want the second one", first)
	}
}

func TestPassForgetsWhatWaited(t *testing.T) {
	step := func(node string, status chat.StepStatus) chat.TraceStep {
		return chat.TraceStep{Node: node, Status: status}
	}
	var record runs.Record
	record.Pass([]chat.TraceStep{step("a", chat.Completed), step("ask", chat.Pending)})
	record.Pass([]chat.TraceStep{step("ask", chat.Completed), step("b", chat.Failed)})
	record.Pass([]chat.TraceStep{step("b", chat.Completed)})
	want := []chat.TraceStep{step("a", chat.Completed), step("ask", chat.Completed), step("b", chat.Failed), step("b", chat.Completed)}
	if !slices.Equal(record.Trace.Steps, want) {
		t.Errorf("steps %+v, want %+v", record.Trace.Steps, want)
	}
	record.Pass(make([]chat.TraceStep, 2*runs.MaxSteps))
	if got := len(record.Trace.Steps); got != runs.MaxSteps {
		t.Errorf("%d steps are kept, want %d", got, runs.MaxSteps)
	}
}
