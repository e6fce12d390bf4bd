package indextest

import (
	"math"
	"math/rand/v2"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// TextEntry makes a document with a passage for each text, which is its hash too.
func TextEntry(id knowledge.DocumentID, texts ...string) index.Entry {
	e := index.Entry{Document: knowledge.Document{ID: id, Source: "docs", Title: "Title"}}
	for i, text := range texts {
		e.Passages = append(e.Passages, knowledge.Passage{ID: knowledge.MakePassageID(id, i), Document: id, Position: i, Text: text, Hash: text})
	}
	return e
}

// Words asks for all words of a text.
func Words(text string) index.Query {
	var query index.Query
	for _, term := range lexical.Analyze(text) {
		query.Terms = append(query.Terms, index.Term{Text: term, Weight: 1})
	}
	return query
}

// UnitVector returns a vector of length 1 that only the seed decides.
func UnitVector(seed uint64, dimension int) []float32 {
	random := rand.New(rand.NewPCG(seed, 7))
	return makeUnit(dimension, random.NormFloat64)
}

// ClusteredVector returns a vector of length 1 near one of so many centres, the nearer the
// smaller spread is.
func ClusteredVector(random *rand.Rand, clusters uint64, spread float64, dimension int) []float32 {
	centre := rand.New(rand.NewPCG(random.Uint64N(clusters), 1))
	return makeUnit(dimension, func() float64 { return centre.NormFloat64() + spread*random.NormFloat64() })
}

func makeUnit(dimension int, component func() float64) []float32 {
	vector := make([]float32, dimension)
	var sum float64
	for i := range vector {
		vector[i] = float32(component())
		sum += float64(vector[i]) * float64(vector[i])
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(sum))
	}
	return vector
}

func unitVector(seed uint64) []float32 {
	return UnitVector(seed, Dimension)
}
