// Package embedtest is the suite that every embed.Embedder passes.
package embedtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/embed"
)

// Run checks the contract of embed.Embedder. open is called once for each part.
func Run(t *testing.T, open func(t *testing.T) embed.Embedder) {
	parts := map[string]func(*testing.T, embed.Embedder){
		"Vectors":    testVectors,
		"Meaning":    testMeaning,
		"Cancelled":  testCancelled,
		"Concurrent": testConcurrent,
		"Windows":    testWindows,
	}
	for name, part := range parts {
		t.Run(name, func(t *testing.T) { part(t, open(t)) })
	}
}

var texts = []string{
	"How do I reset my VPN password?",
	"",
	"The deployment runs every night at two.",
	"x",
	"Open the settings of the VPN client and choose a new password.",
}

func mustEmbed(t *testing.T, e embed.Embedder, texts []string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatalf("Embed of %d texts: %v", len(texts), err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("Embed of %d texts gave %d vectors", len(texts), len(vectors))
	}
	return vectors
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func testVectors(t *testing.T, e embed.Embedder) {
	if e.Name() == "" || e.Dimension() <= 0 {
		t.Errorf("Name %q, Dimension %d", e.Name(), e.Dimension())
	}
	mustEmbed(t, e, nil)
	vectors := mustEmbed(t, e, texts)
	for i, vector := range vectors {
		if texts[i] == "" {
			if vector != nil {
				t.Errorf("a text without tokens has a vector of %d", len(vector))
			}
			continue
		}
		if len(vector) != e.Dimension() {
			t.Errorf("%q: vector of %d, want %d", texts[i], len(vector), e.Dimension())
		}
		if length := math.Sqrt(dot(vector, vector)); math.Abs(length-1) > 1e-3 {
			t.Errorf("%q: vector of length %g, want 1", texts[i], length)
		}
	}
	for i, vector := range mustEmbed(t, e, texts) {
		if vector != nil && dot(vector, vectors[i]) < .9999 {
			t.Errorf("%q: another vector the second time", texts[i])
		}
	}
}

func testMeaning(t *testing.T, e embed.Embedder) {
	vectors := mustEmbed(t, e, texts)
	question, other, answer := vectors[0], vectors[2], vectors[4]
	if near, far := dot(question, answer), dot(question, other); near <= far {
		t.Errorf("the answer is as near as %.3f, another text as %.3f", near, far)
	}
}

func testCancelled(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed with a cancelled context: %v, want context.Canceled", err)
	}
}

func testConcurrent(t *testing.T, e embed.Embedder) {
	want := mustEmbed(t, e, texts)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Errorf("Embed beside others: %v", err)
				return
			}
			for i := range want {
				if want[i] != nil && dot(got[i], want[i]) < .9999 {
					t.Errorf("%q: another vector beside other calls", texts[i])
				}
			}
		})
	}
	callers.Wait()
}

func testWindows(t *testing.T, e embed.Embedder) {
	if pieces := e.Windows("Title", "A short text."); len(pieces) != 1 || !strings.Contains(pieces[0], "Title") {
		t.Errorf("a short text has the pieces %q, want one with the title", pieces)
	}
	if pieces := e.Windows("", ""); len(pieces) != 0 {
		t.Errorf("nothing has the pieces %q", pieces)
	}
	text := strings.Repeat("one two three four five ", 5000)
	var words []string
	for _, piece := range e.Windows("", text) {
		words = append(words, strings.Fields(piece)...)
	}
	if !slices.Equal(words, strings.Fields(text)) {
		t.Errorf("the pieces of a text of %d words hold %d", len(strings.Fields(text)), len(words))
	}
}
