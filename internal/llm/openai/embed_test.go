package openai_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

func embedder(t *testing.T, options openai.Options) *openai.Embedder {
	t.Helper()
	options.Key, options.Model, options.Prices.Prompt = llm.NewSecret(llmtest.Key), "text-embedding-3-small", 1e6
	options.Gate = gate.Options{BackOff: time.Millisecond}
	e, err := openai.NewEmbedder(options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbedder(t *testing.T) {
	server := llmtest.New(t)
	server.On(llmtest.Embeds, llmtest.Busy(0), llmtest.Vectors(0, 0))
	for name, options := range map[string]openai.Options{
		"openai": {BaseURL: server.URL},
		"azure":  {BaseURL: server.AzureURL, Azure: &openai.Azure{Deployment: "d", APIVersion: "2024-10-21"}},
		"short":  {BaseURL: server.URL, Dimensions: 16},
	} {
		t.Run(name, func(t *testing.T) {
			want := llmtest.Dimension
			if options.Dimensions > 0 {
				want = options.Dimensions
			}
			vectors, usage, err := embedder(t, options).Embed(t.Context(), []string{"one two", "three"})
			if err != nil || len(vectors) != 2 || len(vectors[0]) != want || len(vectors[1]) != want {
				t.Fatalf("%d vectors, %v", len(vectors), err)
			}
			if usage.Prompt != 3 || usage.Cost != 3 || usage.Estimated || usage.Requests < 1 {
				t.Errorf("usage %+v", usage)
			}
		})
	}
	before := len(server.Requests())
	if vectors, _, err := embedder(t, openai.Options{BaseURL: server.URL}).Embed(t.Context(), nil); err != nil || vectors != nil || len(server.Requests()) != before {
		t.Errorf("no texts: %v, %v", vectors, err)
	}
}

func TestEmbedderFailures(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, of := range map[string]struct {
		ctx  context.Context
		step llmtest.Step
		want llm.Failure
	}{
		"count":     {t.Context(), llmtest.Vectors(1, 0), llm.Invalid},
		"key":       {t.Context(), llmtest.Fail(http.StatusUnauthorized, "invalid_api_key", "no"), llm.Rejected},
		"server":    {t.Context(), llmtest.Fail(http.StatusInternalServerError, "", "no"), llm.Unavailable},
		"cut":       {t.Context(), llmtest.Vectors(0, 0).CutAfter(0), llm.Unavailable},
		"slow":      {t.Context(), llmtest.Hang(), llm.Slow},
		"cancelled": {cancelled, llmtest.Vectors(0, 0), llm.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.New(t)
			server.On(llmtest.Embeds, of.step)
			options := openai.Options{BaseURL: server.URL}
			if of.want == llm.Slow {
				options.RequestTimeout = 30 * time.Millisecond
			}
			vectors, _, err := embedder(t, options).Embed(of.ctx, []string{"a", "b"})
			var failure *llm.Error
			if !errors.As(err, &failure) || failure.Failure != of.want || vectors != nil {
				t.Errorf("error %v, want %s", err, of.want)
			}
		})
	}
}
