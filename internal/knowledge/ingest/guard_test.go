package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

// listing is a source of small documents, by path. It may end with an error before it was
// listed whole.
type listing struct {
	texts map[string]string
	fails error // after half of the documents, in place of the rest
	rude  bool  // it yields what is gone before it fails, which connectors must not
}

func (l listing) Source() knowledge.SourceID { return "docs" }

func (l listing) Sync(_ context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		listed := 0
		for path, text := range l.texts {
			if l.fails != nil && listed == len(l.texts)/2 {
				break
			}
			listed++
			change := connect.Change{Kind: connect.Upserted, Content: []byte(text), MediaType: "text/markdown", Document: document(path, text)}
			if known[change.Document.ID] == change.Document.Hash {
				change = connect.Change{Kind: connect.Unchanged, Document: change.Document}
			}
			if !yield(change, nil) {
				return
			}
		}
		for id := range known {
			if _, ok := l.texts[string(id)]; (l.fails == nil || l.rude) && !ok && !yield(connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id}}, nil) {
				return
			}
		}
		if l.fails != nil {
			yield(connect.Change{}, l.fails)
		}
	}
}

func document(path, text string) knowledge.Document {
	return knowledge.Document{ID: knowledge.DocumentID(path), Source: "docs", Path: path, URL: "https://docs.example/" + path, Hash: "hash of " + text, State: knowledge.StateLive}
}

func textsOf(n int) map[string]string {
	texts := make(map[string]string)
	for i := range n {
		texts[fmt.Sprintf("page%03d", i)] = fmt.Sprintf("# Page %d\n\nText of it.\n", i)
	}
	return texts
}

func (p *place) documents() int {
	p.t.Helper()
	stats, err := p.index.Stats(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return stats.Documents
}

func (p *place) read(l listing) (ingest.Report, error) { return p.reader.Sync(p.t.Context(), l) }

func TestManyDocumentsGoneAtOnceWaitForAPerson(t *testing.T) {
	p := open(t)
	p.reader.Embedder = nil
	if _, err := p.read(listing{texts: textsOf(60)}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		left, deleted, held int
		prune               bool
	}{
		{left: 48, deleted: 12},             // a fifth
		{left: 38, held: 10},                // more than that
		{left: 39, deleted: 9},              // few, however small the source
		{left: 5, held: 34},                 // many
		{left: 5, deleted: 34, prune: true}, // confirmed
		{left: 0, deleted: 5},               // few
	} {
		before := p.documents()
		p.reader.Prune = step.prune
		report, err := p.read(listing{texts: textsOf(step.left)})
		if err != nil || report.Deleted != step.deleted || report.Held != step.held {
			t.Errorf("%d documents left: %d removed, %d held, %v; want %d and %d", step.left, report.Deleted, report.Held, err, step.deleted, step.held)
		}
		if got := p.documents(); got != before-step.deleted {
			t.Errorf("%d documents left: the index has %d, want %d", step.left, got, before-step.deleted)
		}
		if state := p.state(); state.Held != step.held || state.Deleted != step.deleted || state.Complete.IsZero() {
			t.Errorf("%d documents left: kept as %+v", step.left, state)
		}
	}
}

func TestAListingThatFailsRemovesNothing(t *testing.T) {
	p := open(t)
	p.reader.Embedder = nil
	if _, err := p.read(listing{texts: textsOf(20)}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("503 in the middle of it")
	for attempts := 1; attempts <= 2; attempts++ {
		_, err := p.read(listing{texts: textsOf(18), fails: broken, rude: attempts == 2})
		if !errors.Is(err, broken) || p.documents() != 20 {
			t.Errorf("%v, %d documents; want the failure, and all 20", err, p.documents())
		}
		if state := p.state(); state.Attempts != attempts || state.Complete.IsZero() || state.Reason == "" {
			t.Errorf("attempt %d is kept as %+v", attempts, state)
		}
	}
	report, err := p.read(listing{texts: textsOf(18)})
	if err != nil || report.Deleted != 2 || p.state().Attempts != 0 {
		t.Errorf("%+v, %v, kept as %+v", report, err, p.state())
	}
}

func TestASourceThatAsksForTimeIsLeftAlone(t *testing.T) {
	p := open(t)
	if _, err := p.read(listing{fails: &connect.UnavailableError{After: time.Hour, Reason: errors.New("too many requests")}}); err == nil {
		t.Fatal("no error")
	}
	state := p.state()
	if want := state.Ended.Add(time.Hour); !state.NotBefore.Equal(want) || !state.NextAt(time.Minute).Equal(want) {
		t.Errorf("not before %s, next at %s; want %s", state.NotBefore, state.NextAt(time.Minute), want)
	}
}
