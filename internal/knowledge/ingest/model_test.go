package ingest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

var (
	modelSyncs = flag.Int("syncs", 3000, "random syncs of the model source")
	modelSeed  = flag.Uint64("seed", 0, "seed of the model source, 0: a random one")
)

// memoryIndex keeps what an ingest writes, and nothing else.
type memoryIndex struct {
	index.Index
	documents map[knowledge.DocumentID]knowledge.Document
	fails     func() bool // a write
}

var errDisk = errors.New("no space left")

func (m *memoryIndex) Write(ctx context.Context, batch index.Batch) error {
	if err := errors.Join(batch.Validate(), ctx.Err()); err != nil {
		return err
	}
	if m.fails() {
		return errDisk
	}
	for _, entry := range batch.Put {
		m.documents[entry.Document.ID] = entry.Document
	}
	for _, id := range batch.Delete {
		delete(m.documents, id)
	}
	return nil
}

func (m *memoryIndex) Documents(context.Context, knowledge.SourceID) iter.Seq2[knowledge.Document, error] {
	return func(yield func(knowledge.Document, error) bool) {
		for _, document := range m.documents {
			if !yield(document, nil) {
				return
			}
		}
	}
}

// modelSource is a source that changes between syncs, and goes wrong in them.
type modelSource struct {
	random *rand.Rand
	texts  map[string]string
	// What goes wrong in the next sync.
	breaksAt int             // documents listed until the listing fails; -1: it does not
	broken   map[string]bool // documents that fail
	stopAt   int             // documents until the process is stopped; -1: it is not
	stop     context.CancelFunc
}

var errListing = errors.New("503 in the middle of the listing")

func (m *modelSource) Source() knowledge.SourceID { return "docs" }

func (m *modelSource) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for i, path := range slices.Sorted(maps.Keys(m.texts)) {
			if i == m.stopAt {
				m.stop()
			}
			if i == m.breaksAt {
				yield(connect.Change{}, errListing)
				return
			}
			if ctx.Err() != nil {
				yield(connect.Change{}, ctx.Err())
				return
			}
			change := connect.Change{Kind: connect.Upserted, Document: document(path, m.texts[path]), Content: []byte(m.texts[path]), MediaType: "text/markdown"}
			switch {
			case m.broken[path]:
				change = connect.Change{Kind: connect.Failed, Document: change.Document, Reason: errors.New("403")}
			case known[change.Document.ID] == change.Document.Hash:
				change = connect.Change{Kind: connect.Unchanged, Document: change.Document}
			}
			if !yield(change, nil) {
				return
			}
		}
		for _, id := range slices.Sorted(maps.Keys(known)) {
			if _, ok := m.texts[string(id)]; !ok && !yield(connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id}}, nil) {
				return
			}
		}
	}
}

// change changes the source, and chooses what goes wrong in the next sync.
func (m *modelSource) change() {
	for range m.random.IntN(6) {
		path := fmt.Sprintf("page%02d", m.random.IntN(40))
		if m.random.IntN(3) == 0 {
			delete(m.texts, path)
		} else {
			m.texts[path] = fmt.Sprintf("# Page\n\nState %d.\n", m.random.IntN(1000))
		}
	}
	if m.random.IntN(20) == 0 { // much is gone at once
		for path := range m.texts {
			if m.random.IntN(3) > 0 {
				delete(m.texts, path)
			}
		}
	}
	m.breaksAt, m.stopAt, m.broken = -1, -1, nil
	switch m.random.IntN(6) {
	case 0:
		m.breaksAt = m.random.IntN(len(m.texts) + 1)
	case 1:
		m.stopAt = m.random.IntN(len(m.texts) + 1)
	case 2:
		m.broken = map[string]bool{fmt.Sprintf("page%02d", m.random.IntN(40)): true}
	}
}

// TestTheIndexEqualsASourceThatWasListedWhole syncs a source that changes and goes wrong at random:
// after each sync that lists it whole the index holds what the source does, and no other sync
// takes anything away.
func TestTheIndexEqualsASourceThatWasListedWhole(t *testing.T) {
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	source := &modelSource{random: random, texts: make(map[string]string)}
	written := &memoryIndex{documents: make(map[knowledge.DocumentID]knowledge.Document)}
	reader := &ingest.Ingester{Index: written, Readers: 1}
	whole, held := 0, 0
	for round := range *modelSyncs {
		source.change()
		diskFails := random.IntN(10) == 0
		written.fails = func() bool { return diskFails && random.IntN(2) == 0 }
		reader.Prune = random.IntN(4) == 0
		before := maps.Clone(written.documents)
		ctx, stop := context.WithCancel(t.Context())
		source.stop = stop
		report, err := reader.Sync(ctx, source)
		stop()
		if message := source.compare(before, written.documents, report, err); message != "" {
			t.Fatalf("seed %d, round %d: %s (report %+v, error %v)", seed, round, message, report, err)
		}
		if err == nil {
			whole++
		}
		held += min(report.Held, 1)
	}
	t.Logf("%d syncs listed the source whole, %d of them held documents", whole, held)
	if whole < *modelSyncs/3 {
		t.Errorf("only %d of %d syncs listed the source whole", whole, *modelSyncs)
	}
}

// compare says what is wrong with the index after a sync, "" for nothing.
func (m *modelSource) compare(before, after map[knowledge.DocumentID]knowledge.Document, report ingest.Report, err error) string {
	if err != nil && !errors.Is(err, errDisk) && !errors.Is(err, errListing) && !errors.Is(err, context.Canceled) {
		return "it ended with another error than was made"
	}
	gone := 0
	for id := range before {
		if _, ok := m.texts[string(id)]; !ok {
			gone++
		}
	}
	mayHold := gone >= 10 && gone*5 > len(before)
	if report.Held > 0 && !mayHold {
		return fmt.Sprintf("%d documents are held, though %d of %d are gone", report.Held, gone, len(before))
	}
	for id, document := range after {
		text, there := m.texts[string(id)]
		switch {
		case err == nil && !there && report.Held == 0:
			return fmt.Sprintf("%s is in the index, and gone at the source", id)
		case err == nil && there && !m.broken[string(id)] && document.Hash != "hash of "+text:
			return fmt.Sprintf("%s is in the index with the hash %q, and says %q", id, document.Hash, text)
		}
	}
	for path := range m.texts {
		if _, ok := after[knowledge.DocumentID(path)]; !ok && err == nil && !m.broken[path] {
			return fmt.Sprintf("%s is not in the index", path)
		}
	}
	for id := range before {
		_, kept := after[id]
		_, there := m.texts[string(id)]
		switch {
		case kept:
		case there:
			return fmt.Sprintf("%s was taken away, and is there at the source", id)
		case errors.Is(err, errListing):
			return fmt.Sprintf("%s was taken away by a listing that failed", id)
		}
	}
	return ""
}
