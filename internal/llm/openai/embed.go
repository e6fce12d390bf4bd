package openai

import (
	"context"
	"fmt"
	"time"

	wire "github.com/sashabaranov/go-openai"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
)

// Embedder makes vectors behind the wire format.
type Embedder struct {
	options  Options
	endpoint endpoint
	counter  counter
	gate     *gate.Gate
}

var _ llm.Embedder = (*Embedder)(nil)

// NewEmbedder gives an embedder. The server is not asked anything yet. Of the options,
// the limits and times of replies are of no meaning but RequestTimeout.
func NewEmbedder(options Options) (*Embedder, error) {
	settled, user, err := options.settled()
	if err != nil {
		return nil, err
	}
	return &Embedder{
		options:  settled,
		endpoint: newEndpoint(settled, user),
		counter:  newCounter(settled.Model),
		gate:     gate.New(settled.Model, settled.Gate),
	}, nil
}

// String tells which model it is, and where.
func (e *Embedder) String() string { return e.options.String() }

// Tokens counts by the model's own encoding, or by OpenAI's newest and a fifth more.
func (e *Embedder) Tokens(text string) int { return e.counter.count(text) }

// Embed sends all texts in one request. An empty text is the server's to refuse. No
// texts take no request.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, llm.Usage, error) {
	if len(texts) == 0 {
		return nil, llm.Usage{}, nil
	}
	tokens := 0
	for _, text := range texts {
		tokens += e.counter.count(text)
	}
	need := gate.Need{Tokens: tokens, Cost: e.options.Prices.of(tokens, 0)}
	var vectors [][]float32
	usage, err := e.gate.Pass(ctx, need, func(ctx context.Context) (gate.Try, *llm.Error) {
		var try gate.Try
		var failure *llm.Error
		vectors, try, failure = e.try(ctx, texts, tokens)
		return try, failure
	})
	if err != nil {
		return nil, usage, err
	}
	return vectors, usage, nil
}

func (e *Embedder) try(ctx context.Context, texts []string, tokens int) ([][]float32, gate.Try, *llm.Error) {
	ctx, stop := context.WithTimeoutCause(ctx, e.options.RequestTimeout, errTooSlow)
	defer stop()
	began := time.Now()
	client, seen := e.endpoint.open()
	response, err := client.CreateEmbeddings(ctx, wire.EmbeddingRequest{
		Input: texts, Model: wire.EmbeddingModel(e.options.Model), Dimensions: e.options.Dimensions,
	})
	try := gate.Try{Usage: llm.Usage{Model: e.options.Model, Requests: 1, Took: time.Since(began)}}
	if seen.answered {
		try.Usage.Prompt, try.Usage.Estimated = response.Usage.PromptTokens, response.Usage.PromptTokens <= 0
		if try.Usage.Estimated {
			try.Usage.Prompt = tokens
		}
		try.Usage.Cost = e.options.Prices.of(try.Usage.Prompt, 0)
	}
	if err != nil {
		failure, again := seen.failure(ctx, err)
		try.Again = again
		return nil, try, failure
	}
	vectors, err := inOrder(response.Data, len(texts))
	if err != nil {
		return nil, try, &llm.Error{Failure: llm.Invalid, Cause: err}
	}
	return vectors, try, nil
}

// inOrder puts vectors in the order of their texts.
func inOrder(data []wire.Embedding, texts int) ([][]float32, error) {
	if len(data) != texts {
		return nil, fmt.Errorf("%d vectors for %d texts", len(data), texts)
	}
	vectors := make([][]float32, texts)
	for _, one := range data {
		if one.Index < 0 || one.Index >= texts || vectors[one.Index] != nil {
			return nil, fmt.Errorf("the vectors of %d texts are not numbered in order", texts)
		}
		if len(one.Embedding) == 0 || len(one.Embedding) != len(data[0].Embedding) {
			return nil, fmt.Errorf("vectors of %d and %d components", len(data[0].Embedding), len(one.Embedding))
		}
		vectors[one.Index] = one.Embedding
	}
	return vectors, nil
}
