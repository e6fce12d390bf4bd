// Package openai makes vectors with an embedding model behind the OpenAI wire format.
package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/llm"
)

// Options say how texts are sent.
type Options struct {
	Name        string // of the model, required: vectors of different names can't be compared
	Dimension   int    // of the vectors; 0: the server is asked when the embedder is opened
	TextTokens  int    // that the model reads of one text; 0: 512, which the smallest do
	BatchTexts  int    // in one request; 0: 128
	BatchTokens int    // in one request; 0: 100,000
}

// Embedder is a remote embed.Embedder. Its methods may be called concurrently.
type Embedder struct {
	model   llm.Embedder
	options Options
}

var _ embed.Embedder = (*Embedder)(nil)

// Open returns an embedder, and learns the dimension of its vectors if it is not set.
func Open(ctx context.Context, model llm.Embedder, options Options) (*Embedder, error) {
	if options.Name == "" {
		return nil, errors.New("remote embedder: the model's name is missing")
	}
	for _, value := range []int{options.Dimension, options.TextTokens, options.BatchTexts, options.BatchTokens} {
		if value < 0 {
			return nil, fmt.Errorf("remote embedder %q: %d as a dimension, limit or size: want 0 for the default, or more", options.Name, value)
		}
	}
	if options.TextTokens == 0 {
		options.TextTokens = 512
	}
	if options.BatchTexts == 0 {
		options.BatchTexts = 128
	}
	if options.BatchTokens == 0 {
		options.BatchTokens = 100_000
	}
	e := &Embedder{model, options}
	if options.Dimension > 0 {
		return e, nil
	}
	vectors, _, err := model.Embed(ctx, []string{"dimension"})
	if err != nil {
		return nil, fmt.Errorf("remote embedder %q: ask for its dimension: %w", options.Name, err)
	}
	if len(vectors) != 1 || len(vectors[0]) == 0 {
		return nil, fmt.Errorf("remote embedder %q: ask for its dimension: no vector received", options.Name)
	}
	e.options.Dimension = len(vectors[0])
	return e, nil
}

// Name returns the model's.
func (e *Embedder) Name() string { return e.options.Name }

// Dimension returns the number of components of every vector.
func (e *Embedder) Dimension() int { return e.options.Dimension }

// Embed sends the texts in batches. A text of white space alone has no tokens. A text
// that is longer than the model reads is cut: Windows makes texts that are not.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed %d texts with %q: %w", len(texts), e.options.Name, err)
	}
	vectors := make([][]float32, len(texts))
	var batch batch
	send := func() error {
		if len(batch.texts) == 0 {
			return nil
		}
		err := e.sendBatch(ctx, batch, vectors)
		batch = newBatch()
		return err
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		text, tokens := e.fitText(text)
		if len(batch.texts) == e.options.BatchTexts || batch.tokens+tokens > e.options.BatchTokens {
			if err := send(); err != nil {
				return nil, err
			}
		}
		batch.addPiece(i, text, tokens)
	}
	if err := send(); err != nil {
		return nil, err
	}
	return vectors, nil
}

// batch is what goes into one request.
type batch struct {
	texts  []string
	at     []int // where their vectors go
	tokens int
}

func newBatch() batch { return batch{} }

func (b *batch) addPiece(at int, text string, tokens int) {
	b.texts = append(b.texts, text)
	b.at = append(b.at, at)
	b.tokens += tokens
}

func (e *Embedder) sendBatch(ctx context.Context, b batch, vectors [][]float32) error {
	got, _, err := e.model.Embed(ctx, b.texts)
	if err != nil {
		return fmt.Errorf("embed %d texts with %q: %w", len(b.texts), e.options.Name, err)
	}
	if len(got) != len(b.texts) {
		return fmt.Errorf("embed with %q: %d vectors for %d texts", e.options.Name, len(got), len(b.texts))
	}
	for i, vector := range got {
		if len(vector) != e.options.Dimension {
			return fmt.Errorf("embed with %q: a vector of %d components, want %d: was the model changed? "+
				"An index holds vectors of one model", e.options.Name, len(vector), e.options.Dimension)
		}
		if err := normalizeVector(vector); err != nil {
			return fmt.Errorf("embed with %q: %w", e.options.Name, err)
		}
		vectors[b.at[i]] = vector
	}
	return nil
}

// normalizeVector brings a vector to length 1.
func normalizeVector(vector []float32) error {
	var sum float64
	for _, component := range vector {
		sum += float64(component) * float64(component)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 1) {
		return errors.New("a vector without a direction")
	}
	for i, component := range vector {
		vector[i] = float32(float64(component) / length)
	}
	return nil
}
