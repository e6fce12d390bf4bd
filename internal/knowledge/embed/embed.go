// Package embed is the contract of what turns text into vectors. local needs no
// server; other backends speak to one.
package embed

import (
	"context"

	"github.com/cairn-bot/cairn/internal/language"
)

// Embedder makes vectors of length 1.
type Embedder interface {
	// Name identifies model and version; vectors of different names can't be compared.
	Name() string
	// Dimension is the number of components of every vector.
	Dimension() int
	// Embed gives one vector a text, in order. A text without tokens gets nil.
	// It may be called concurrently; see WithBackground for work that can wait.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Windows cuts the text of a passage into the pieces that fit the model, ready for
	// Embed: each begins with the title. A short text is one piece, nothing is none.
	Windows(title, text string) []string
}

// WordList is an optional interface of an Embedder that knows common words of its language: what
// is one of them is no misspelling of another.
type WordList interface {
	IsWord(word string) bool // in lower case
}

// LanguageLimiter is an optional interface of an Embedder that knows some languages alone:
// vectors of texts in others would be noise.
type LanguageLimiter interface {
	Knows(tag language.Tag) bool
}

// Knows says whether an embedder can tell the meaning of texts in a language. Texts whose
// language is not recognized are tried.
func Knows(embedder Embedder, tag language.Tag) bool {
	limiter, ok := embedder.(LanguageLimiter)
	return !ok || tag == language.Unknown || limiter.Knows(tag)
}
