package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/language"
)

const (
	embedPassages = 32  // passages embedded between two writes of vectors
	readPassages  = 256 // passages read at a time to be embedded
)

// embedAll makes vectors until every passage has them. While those of some passages are
// written, those of the next are computed.
func (in *Ingester) embedAll(ctx context.Context, report *Report) error {
	if in.Embedder == nil {
		return nil
	}
	stats, err := in.Index.Stats(ctx)
	if err != nil {
		return err
	}
	e := &embedding{Ingester: in, report: report, pending: stats.Passages - stats.Embedded}
	err = e.runRounds(embed.WithBackground(ctx))
	err = errors.Join(err, e.finishWrite())
	if err != nil {
		return err
	}
	in.reportProgress(Progress{Phase: Embedding, Passages: report.Embedded})
	return nil
}

// embedding is one run of embed. Everything but write is called by one goroutine.
type embedding struct {
	*Ingester
	report  *Report
	pending int           // passages without vectors, none of them being written
	queue   []index.Found // read and not embedded
	written chan error    // of the write under way; nil when there is none
	writing []index.Vectors
}

func (e *embedding) runRounds(ctx context.Context) error {
	for e.pending > 0 {
		e.reportProgress(Progress{Phase: Embedding, Passages: e.report.Embedded, Pending: e.pending})
		if err := e.fillQueue(ctx); err != nil {
			return err
		}
		some := e.queue[:min(embedPassages, len(e.queue))]
		vectors, err := e.computeVectors(ctx, some)
		if err != nil {
			return err
		}
		e.queue = e.queue[len(some):]
		if err := e.finishWrite(); err != nil {
			return err
		}
		e.startWrite(ctx, vectors)
		e.pending -= len(some)
	}
	return nil
}

// fillQueue reads passages once all that were read are embedded. Those that are being written
// may or may not be given again.
func (e *embedding) fillQueue(ctx context.Context) error {
	if len(e.queue) > 0 {
		return nil
	}
	found, err := e.Index.Unembedded(ctx, readPassages+len(e.writing))
	if err != nil {
		return err
	}
	writing := make(map[knowledge.PassageID]string, len(e.writing))
	for _, vectors := range e.writing {
		writing[vectors.Passage] = vectors.Hash
	}
	for _, f := range found {
		if hash, ok := writing[f.Passage.ID]; !ok || hash != f.Passage.Hash {
			e.queue = append(e.queue, f)
		}
	}
	if len(e.queue) == 0 {
		return errors.New("passages without vectors are counted but not given: the index is damaged, rebuild it")
	}
	return nil
}

func (e *embedding) computeVectors(ctx context.Context, found []index.Found) ([]index.Vectors, error) {
	vectors := make([]index.Vectors, len(found))
	var texts []string
	for i, f := range found {
		vectors[i] = index.Vectors{Passage: f.Passage.ID, Hash: f.Passage.Hash}
		if !embed.Knows(e.Embedder, language.Parse(f.Document.Language)) {
			continue // it is found by its words
		}
		windows := e.Embedder.Windows(windowHeading(f), knowledge.WithoutAddresses(f.Passage.Text))
		vectors[i].Windows = make([][]float32, len(windows))
		texts = append(texts, windows...)
	}
	made, err := e.Embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	for i := range vectors {
		windows := vectors[i].Windows
		vectors[i].Windows = withoutNil(made[:len(windows)])
		made = made[len(windows):]
	}
	return vectors, nil
}

func (e *embedding) startWrite(ctx context.Context, vectors []index.Vectors) {
	e.writing, e.written = vectors, make(chan error, 1)
	go func() { e.written <- e.Index.WriteVectors(ctx, vectors) }()
}

// finishWrite waits for the write under way and counts what it wrote.
func (e *embedding) finishWrite() error {
	if e.written == nil {
		return nil
	}
	err := <-e.written
	if err == nil {
		e.report.Embedded += len(e.writing)
	}
	e.writing, e.written = nil, nil
	return err
}

// windowHeading returns what stands in front of every window of a passage: where it belongs.
func windowHeading(f index.Found) string {
	section := f.Passage.Section()
	if section == "" || section == f.Document.Title {
		return f.Document.Title
	}
	return f.Document.Title + ": " + section
}

func withoutNil(vectors [][]float32) [][]float32 {
	var made [][]float32
	for _, vector := range vectors {
		if vector != nil {
			made = append(made, vector)
		}
	}
	return made
}
