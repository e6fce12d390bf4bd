package embedded

import (
	"testing"
	"time"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/indextest"
)

func TestAnIndexFromBeforeIngestStatesIsTakenOn(t *testing.T) {
	options := Options{Dir: t.TempDir(), Embedder: indextest.Embedder, Dimension: indextest.Dimension}
	made, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.write.ExecContext(t.Context(), "DROP TABLE ingest"); err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	options.ReadOnly = true
	if states := statesOf(t, options); len(states) != 0 {
		t.Errorf("read: %+v", states)
	}
	options.ReadOnly = false
	writer, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.SaveIngest(t.Context(), index.IngestState{Source: "docs", Began: time.Now()}); err != nil {
		t.Error(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	options.ReadOnly = true
	if states := statesOf(t, options); len(states) != 1 || states[0].Source != "docs" {
		t.Errorf("read after a writer came: %+v", states)
	}
}

func statesOf(t *testing.T, options Options) []index.IngestState {
	t.Helper()
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	states, err := x.IngestStates(t.Context())
	if err != nil {
		t.Error(err)
	}
	if err := x.SaveIngest(t.Context(), index.IngestState{Source: "docs", Began: time.Now()}); (err == nil) == options.ReadOnly {
		t.Errorf("saving while read-only %v: %v", options.ReadOnly, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return states
}
