package reports_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/agent/reports"
)

// Place is where reports are kept.
type Place struct {
	// Open returns a store there, as a process of its own has it.
	Open func(t *testing.T) reports.Store
	// Expire lets so much time pass that the report of a process is gone.
	Expire func(t *testing.T, process string)
}

// testStore runs the suite, each part in an empty place.
func testStore(t *testing.T, empty func(t *testing.T) Place) {
	for name, test := range map[string]func(t *testing.T, at Place){
		"the last report of each process is listed": testLastReports,
		"a report is gone after its time":           testExpiry,
		"a process that ends is removed":            testRemoval,
	} {
		t.Run(name, func(t *testing.T) { test(t, empty(t)) })
	}
}

func newReport(process string, states ...agent.State) reports.Report {
	report := reports.Report{Process: process, At: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)}
	for i, state := range states {
		a := reports.Agent{Name: agent.Name("Agent" + string(rune('A'+i))), State: state, Running: i, Waiting: 2, Completed: 30, Failed: 4}
		if state == agent.StateStuck {
			a.Problem = "1 of 5 slots are held"
		}
		report.Agents = append(report.Agents, a)
	}
	return report
}

func mustSave(t *testing.T, store reports.Store, report reports.Report) {
	t.Helper()
	if err := store.Save(t.Context(), report); err != nil {
		t.Fatal(err)
	}
}

func expectListed(t *testing.T, store reports.Store, want ...reports.Report) {
	t.Helper()
	got, err := store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("listed %+v, want %+v", got, want)
	}
}

func testLastReports(t *testing.T, at Place) {
	first, second := at.Open(t), at.Open(t)
	expectListed(t, first)
	mustSave(t, second, newReport("b-2", agent.StateBusy))
	mustSave(t, first, newReport("a-1", agent.StateIdle))
	last := newReport("a-1", agent.StateBusy, agent.StateStuck)
	mustSave(t, first, last)
	expectListed(t, second, last, newReport("b-2", agent.StateBusy))
}

func testExpiry(t *testing.T, at Place) {
	store := at.Open(t)
	mustSave(t, store, newReport("a-1", agent.StateIdle))
	at.Expire(t, "a-1")
	expectListed(t, store)
	mustSave(t, store, newReport("a-1", agent.StateBusy))
	expectListed(t, store, newReport("a-1", agent.StateBusy))
}

func testRemoval(t *testing.T, at Place) {
	store := at.Open(t)
	mustSave(t, store, newReport("a-1", agent.StateIdle))
	mustSave(t, store, newReport("b-2", agent.StateIdle))
	for range 2 {
		if err := store.Remove(t.Context(), "a-1"); err != nil {
			t.Fatal(err)
		}
	}
	expectListed(t, at.Open(t), newReport("b-2", agent.StateIdle))
}
