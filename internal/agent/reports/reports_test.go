package reports_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/agent/reports"
)

// memory is a store that fails when it is told to.
type memory struct {
	mu     sync.Mutex
	saved  []reports.Report
	gone   []string
	broken bool
}

func (m *memory) Save(_ context.Context, report reports.Report) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errors.New("the store is down")
	}
	m.saved = append(m.saved, report)
	return nil
}

func (m *memory) List(context.Context) ([]reports.Report, error) { return m.saved, nil }

func (m *memory) Remove(ctx context.Context, process string) error {
	m.gone = append(m.gone, process)
	return ctx.Err()
}

func TestAProcessReportsUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		store := &memory{}
		var log bytes.Buffer
		ended := make(chan struct{})
		states := []agent.Status{{
			Name: "HybridSearch", State: agent.StateStuck, Running: 2, Problem: errors.New("no heartbeats"),
			Counts: agent.Counts{Accepted: 9, Completed: 3, Failed: 1, TimedOut: 2, Cancelled: 1},
		}}
		go func() {
			defer close(ended)
			reports.Run(ctx, store, "host-1", func() []agent.Status { return states }, slog.New(slog.NewTextHandler(&log, nil)))
		}()
		time.Sleep(2*reports.Interval + time.Second) //nolint:forbidigo // on the bubble's clock
		store.mu.Lock()
		store.broken = true
		store.mu.Unlock()
		time.Sleep(reports.Interval) //nolint:forbidigo // likewise
		stop()
		<-ended
		if len(store.saved) != 3 || !slices.Equal(store.gone, []string{"host-1"}) {
			t.Fatalf("saved %d reports, removed %q", len(store.saved), store.gone)
		}
		want := reports.Agent{Name: "HybridSearch", State: agent.StateStuck, Running: 2, Completed: 3, Failed: 3, Problem: "no heartbeats"}
		if got := store.saved[2].Agents; len(got) != 1 || got[0] != want || !got[0].IsUnwell() {
			t.Errorf("reported %+v, want %+v", got, want)
		}
		if strings.Count(log.String(), "the store is down") != 1 {
			t.Errorf("the log is %q", log.String())
		}
	})
}

func TestStoredReportsAreRead(t *testing.T) {
	body, err := os.ReadFile("testdata/report1.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := reports.DecodeAll([][]byte{body, []byte(`{"version": 2}`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Process != "host-1" || len(all[0].Agents) != 1 || all[0].Agents[0].Completed != 12 {
		t.Errorf("read %+v", all)
	}
	if encoded, err := reports.Encode(all[0]); err != nil || string(encoded) != strings.TrimSpace(string(body)) {
		t.Errorf("encoded %s, %v", encoded, err)
	}
	if _, err := reports.DecodeAll([][]byte{[]byte("{")}); err == nil {
		t.Error("a broken report is no error")
	}
}
