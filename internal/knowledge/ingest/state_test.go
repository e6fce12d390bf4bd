package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

// state gives the one state that the index keeps.
func (p *place) state() index.IngestState {
	p.t.Helper()
	states, err := p.index.IngestStates(p.t.Context())
	if err != nil || len(states) != 1 {
		p.t.Fatalf("states %+v, %v", states, err)
	}
	return states[0]
}

func TestWhatASyncDidIsKept(t *testing.T) {
	p := open(t)
	p.write("broken.pdf", "%PDF-1.7\nthis is none")
	p.sync()
	first := p.state()
	if first.Source != "docs" || first.Seen != 3 || first.Changed != 2 || first.Passages != 3 || first.Failed != 1 || first.Reason != "" {
		t.Errorf("the first sync: %+v", first)
	}
	if len(first.Failures) != 1 || first.Failures[0].Document != "broken.pdf" || first.Failures[0].Reason == "" {
		t.Errorf("failures: %+v", first.Failures)
	}
	if first.Began.IsZero() || first.Ended.Before(first.Began) || !first.Complete.Equal(first.Ended) {
		t.Errorf("began %s, ended %s, complete %s", first.Began, first.Ended, first.Complete)
	}
	for _, name := range []string{"broken.pdf", "laptops.md"} {
		if err := os.Remove(filepath.Join(p.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.sync()
	if second := p.state(); second.Seen != 1 || second.Changed != 0 || second.Deleted != 1 || second.Failed != 0 || second.Failures != nil {
		t.Errorf("the second sync: %+v", second)
	}
}

func TestASyncThatEndedEarlyKeepsWhenTheSourceWasRead(t *testing.T) {
	p := open(t)
	p.sync()
	complete := p.state().Complete
	ctx, cancel := context.WithCancel(t.Context())
	p.write("new.md", "# New\n\nNot embedded yet.\n")
	p.reader.Observe = func(progress ingest.Progress) {
		if progress.Phase == ingest.Embedding {
			cancel()
		}
	}
	if _, err := p.reader.Sync(ctx, files.New(files.Options{Root: p.folder, Source: "docs"})); err == nil {
		t.Fatal("the sync was not interrupted")
	}
	if s := p.state(); s.Reason != "interrupted" || s.Changed != 1 || !s.Complete.Equal(complete) || s.Ended.IsZero() {
		t.Errorf("interrupted: %+v, complete before %s", s, complete)
	}
	if _, err := p.reader.Sync(t.Context(), files.New(files.Options{Root: filepath.Join(p.folder, "nowhere"), Source: "docs"})); err == nil {
		t.Fatal("a folder that is not there was read")
	}
	if s := p.state(); !strings.Contains(s.Reason, "nowhere") || !s.Complete.Equal(complete) {
		t.Errorf("without its folder: %+v", s)
	}
}

func TestASyncUnderWayIsKeptAsSuch(t *testing.T) {
	p := open(t)
	seen := false
	p.reader.Observe = func(ingest.Progress) {
		seen = true
		if s := p.state(); !s.Ended.IsZero() || s.Began.IsZero() {
			t.Errorf("while it reads: %+v", s)
		}
	}
	p.sync()
	if !seen {
		t.Error("nothing was observed")
	}
}
