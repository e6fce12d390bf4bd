package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// sample is a text with what the JavaScript runtime of the model makes of it.
type sample struct {
	ID     string
	Text   string
	Tokens []uint16 // all, before the cut
	Vector []float32
}

func readSamples(t testing.TB) []sample {
	t.Helper()
	data, err := os.ReadFile("testdata/parity.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(samples) != 60 {
		t.Fatalf("%d samples, want 60", len(samples))
	}
	return samples
}

func loadEmbedder(t testing.TB) *Embedder {
	t.Helper()
	e, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTokensAreTheRuntimes(t *testing.T) {
	e := loadEmbedder(t)
	for _, s := range readSamples(t) {
		if got := e.tokenizer.Append(nil, s.Text); !slices.Equal(got, s.Tokens) {
			t.Errorf("%s %q: tokens %v, want %v", s.ID, s.Text, got, s.Tokens)
		}
	}
}

func TestVectorsAreNearTheRuntimes(t *testing.T) {
	e := loadEmbedder(t)
	samples := readSamples(t)
	texts := make([]string, len(samples))
	for i, s := range samples {
		texts[i] = s.Text
	}
	vectors, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	total, least := 0.0, 1.0
	for i, s := range samples {
		cosine := dot(vectors[i], s.Vector) / math.Sqrt(dot(s.Vector, s.Vector))
		if length := dot(vectors[i], vectors[i]); math.Abs(length-1) > 1e-5 {
			t.Errorf("%s: squared length %g, want 1", s.ID, length)
		}
		total += cosine
		least = min(least, cosine)
	}
	mean := total / float64(len(samples))
	t.Logf("cosine with the runtime: mean %.6f, least %.6f", mean, least)
	if mean < .9995 || least < .995 {
		t.Errorf("cosine with the runtime: mean %.6f, least %.6f, want .9995 and .995", mean, least)
	}
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
