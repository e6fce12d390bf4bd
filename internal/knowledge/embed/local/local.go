// Package local embeds text inside the process: Google's Universal Sentence Encoder
// Lite, computed in Go from weights that are part of the program. It knows English and
// sees the first 128 tokens of a text, about 90 words.
package local

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/language"
)

// Name identifies the model and how it is computed.
const Name = "use-lite-int8-1"

// Embedder computes vectors. Its memory is shared by all that Load gives.
type Embedder struct {
	model      *model
	tokenizer  *Tokenizer
	workspaces sync.Pool // *workspace
	questions  priority
}

var (
	_ embed.Embedder        = (*Embedder)(nil)
	_ embed.LanguageLimiter = (*Embedder)(nil)
	_ embed.WordList        = (*Embedder)(nil)
)

// Load returns the embedder of this process; the first call reads the weights.
func Load() (*Embedder, error) { return load() }

var load = sync.OnceValues(readModel)

func readModel() (*Embedder, error) {
	w, err := LoadModel()
	if err != nil {
		return nil, fmt.Errorf("load the local embedder: %w", err)
	}
	tokenizer, err := NewTokenizer(w.Pieces)
	if err != nil {
		return nil, fmt.Errorf("load the local embedder: %w", err)
	}
	e := &Embedder{model: newModel(w), tokenizer: tokenizer}
	e.workspaces.New = func() any { return newWorkspace() }
	return e, nil
}

// Name implements embed.Embedder.
func (e *Embedder) Name() string { return Name }

// Dimension implements embed.Embedder: 512.
func (e *Embedder) Dimension() int { return Width }

// Knows implements embed.LanguageLimiter: English alone.
func (e *Embedder) Knows(tag language.Tag) bool { return tag == language.English }

// IsWord implements embed.WordList: some 6,000 words are pieces of their own.
func (e *Embedder) IsWord(word string) bool { return e.tokenizer.isWord(word) }

// Embed implements embed.Embedder. It uses all processors for several texts and looks
// at the context before each. The vector of a text does not depend on the others. Calls
// with a context of embed.WithBackground pause, about every 10 ms, while there are others.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	background := embed.IsBackground(ctx)
	if !background {
		e.questions.enterForeground()
		defer e.questions.leaveForeground()
	}
	vectors := make([][]float32, len(texts))
	var next atomic.Int64
	work := func() {
		b := batch{Embedder: e, space: e.workspaces.Get().(*workspace), vectors: vectors}
		defer e.workspaces.Put(b.space)
		for ctx.Err() == nil {
			if background {
				e.questions.waitIdle(ctx)
			}
			i := int(next.Add(1)) - 1
			if i >= len(texts) {
				b.flushBatch()
				return
			}
			b.addText(i, texts[i])
		}
		b.resetBatch()
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

// batch collects texts until they fill a workspace.
type batch struct {
	*Embedder
	space   *workspace
	texts   []int // their places in vectors
	vectors [][]float32
}

func (b *batch) addText(i int, text string) {
	s := b.space
	start := len(s.ids)
	s.ids = b.tokenizer.Append(s.ids, text)
	own := s.ids[start:]
	own = own[:min(len(own), maxTokens)]
	if len(own) == 0 {
		return
	}
	if start+len(own) > batchTokens {
		s.ids = s.ids[:start]
		b.flushBatch()
		// The ids are still there, behind the end.
		s.ids = append(s.ids, own...)
	} else {
		s.ids = s.ids[:start+len(own)]
	}
	s.ends = append(s.ends, len(s.ids))
	b.texts = append(b.texts, i)
}

// flushBatch computes what has been collected.
func (b *batch) flushBatch() {
	if len(b.texts) > 0 {
		b.model.encodeTexts(b.space, func(text int, vector []float32) { b.vectors[b.texts[text]] = vector })
	}
	b.resetBatch()
}

func (b *batch) resetBatch() {
	b.space.ids, b.space.ends, b.texts = b.space.ids[:0], b.space.ends[:0], b.texts[:0]
}
