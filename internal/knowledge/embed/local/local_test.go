package local

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/embedtest"
)

func TestContract(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder { return loadEmbedder(t) })
}

func TestLoadIsOnce(t *testing.T) {
	if first, second := loadEmbedder(t), loadEmbedder(t); first != second {
		t.Error("Load gave two embedders")
	}
}

// randomTexts are of 1 to 150 words, so that batches begin and end anywhere.
func randomTexts(rng *rand.Rand, count int) []string {
	words := strings.Fields("the database migration, fails; when a server (or two) has: not run 42 字 times")
	texts := make([]string, count)
	for i := range texts {
		var text []string
		for range 1 + rng.IntN(1+rng.IntN(150)) {
			text = append(text, words[rng.IntN(len(words))])
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}

func TestVectorsDoNotDependOnTheBatch(t *testing.T) {
	e := loadEmbedder(t)
	texts := randomTexts(rand.New(rand.NewPCG(1, 1)), 30)
	together, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, err := e.Embed(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone[0], together[i]) {
			t.Errorf("text %d of %d words: another vector alone than in a batch", i, len(strings.Fields(text)))
		}
	}
}

func TestOnlyTheFirstTokensCount(t *testing.T) {
	e := loadEmbedder(t)
	text := strings.Repeat("many words ", 200)
	vectors, err := e.Embed(t.Context(), []string{text, text + "and others"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vectors[0], vectors[1]) {
		t.Error("what follows token 128 changed the vector")
	}
}

// countdown is cancelled when it has been asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestEmbedStopsBetweenTexts(t *testing.T) {
	e := loadEmbedder(t)
	// One text is worked on by one goroutine; the second question is the last.
	if _, err := e.Embed(&countdown{t.Context(), 2}, []string{"text"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed with a context cancelled under way: %v, want context.Canceled", err)
	}
	vectors, err := e.Embed(t.Context(), []string{"text"})
	if err != nil || len(vectors) != 1 || vectors[0] == nil {
		t.Errorf("Embed afterwards: %v", err)
	}
}

func FuzzEmbed(f *testing.F) {
	e := loadEmbedder(f)
	f.Add("How do I reset my VPN password?")
	f.Add("\xff\x00字\u0301")
	f.Add(strings.Repeat("://", 100))
	f.Fuzz(func(t *testing.T, text string) {
		vectors, err := e.Embed(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if (text == "") != (vectors[0] == nil) {
			t.Fatalf("%q has a vector of %d", text, len(vectors[0]))
		}
		if length := dot(vectors[0], vectors[0]); text != "" && !(length > .999 && length < 1.001) {
			t.Fatalf("%q has a vector of squared length %g", text, length)
		}
	})
}

func TestIsWord(t *testing.T) {
	embedder, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"dark": true, "hotel": true, "darj": false, "hot el": false} {
		if got := embedder.IsWord(word); got != want {
			t.Errorf("%q is a word: %v, want %v", word, got, want)
		}
	}
}
