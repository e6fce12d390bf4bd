package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// Method is how two rankings become one.
type Method string

// Convex adds the two scores, each scaled to [0, 1] by its own least and greatest
// (Bruch, Gai, Ingber 2023, "An analysis of fusion functions for hybrid retrieval");
// RRF adds reciprocal ranks (Cormack, Clarke, Büttcher 2009).
const (
	Convex Method = "convex"
	RRF    Method = "rrf"
)

// rrfConstant is the k of reciprocal rank fusion.
const rrfConstant = 60

// Fusion says how lexical and dense candidates are joined. The zero Fusion is convex
// with no dense side.
type Fusion struct {
	Method Method // empty: Convex
	// Dense is the weight of the dense side, 0 to 1, for a question of usualTerms
	// words. The more words there are the more their score tells, so that the weight
	// falls with the square root of their number.
	Dense float64
}

const (
	usualTerms = 5
	maxDense   = 0.5 // however few words there are
)

// DefaultFusion suits the local embedder; docs/benchmarks.md has the measurements.
var DefaultFusion = Fusion{Method: Convex, Dense: 0.3}

// Fused is a passage in the joined order.
type Fused struct {
	Passage knowledge.PassageID
	Score   float64 // 0 to 1
	Lexical float64 // BM25
	Dense   float64 // cosine
}

// Fuse joins the candidates of both sides, best first, ties by passage id. A passage
// that one side did not find counts as the least there; one that has no vectors yet is
// taken to be as near in meaning as it is in words, or every passage that has them would
// go before it. terms is the number of words that the question was searched by.
func (f Fusion) Fuse(lexicalHits, denseHits []index.Hit, terms int) []Fused {
	dense := f.denseWeight(terms)
	byPassage := make(map[knowledge.PassageID]*Fused, len(lexicalHits)+len(denseHits))
	add := func(hits []index.Hit, least, weight float64, set func(*Fused, float64)) {
		scaled := f.scale(hits, least)
		for i, hit := range hits {
			weight := weight
			if hit.Unembedded {
				weight = 1
			}
			fused := byPassage[hit.Passage]
			if fused == nil {
				fused = &Fused{Passage: hit.Passage}
				byPassage[hit.Passage] = fused
			}
			fused.Score += weight * scaled[i]
			set(fused, hit.Score)
		}
	}
	add(lexicalHits, leastLexical(lexicalHits), 1-dense, func(fused *Fused, score float64) { fused.Lexical = score })
	add(denseHits, leastOf(denseHits), dense, func(fused *Fused, score float64) { fused.Dense = score })

	order := make([]Fused, 0, len(byPassage))
	for _, fused := range byPassage {
		order = append(order, *fused)
	}
	slices.SortFunc(order, func(a, b Fused) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
	})
	return order
}

func (f Fusion) denseWeight(terms int) float64 {
	if f.Dense <= 0 || f.Dense >= 1 || terms == 0 {
		return f.Dense
	}
	return min(max(f.Dense, maxDense), f.Dense*math.Sqrt(usualTerms/float64(terms)))
}

// leastLexical is what a passage scores that is not among the hits: the least of them
// where there may be more, and nothing where they are all that hold any of the words.
func leastLexical(hits []index.Hit) float64 {
	if len(hits) < candidates {
		return 0
	}
	return leastOf(hits)
}

func leastOf(hits []index.Hit) float64 {
	if len(hits) == 0 {
		return 0
	}
	return hits[len(hits)-1].Score
}

// scale brings one side's scores, given best first, from [least, the best] to [0, 1].
func (f Fusion) scale(hits []index.Hit, least float64) []float64 {
	scaled := make([]float64, len(hits))
	if len(hits) == 0 {
		return scaled
	}
	greatest := hits[0].Score
	for i, hit := range hits {
		switch {
		case f.Method == RRF:
			scaled[i] = (rrfConstant + 1) / float64(rrfConstant+1+i)
		case greatest > least:
			scaled[i] = (hit.Score - least) / (greatest - least)
		default:
			scaled[i] = 1
		}
	}
	return scaled
}
