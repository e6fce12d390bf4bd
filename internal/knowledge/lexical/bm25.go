package lexical

import "math"

// Counts says how often a term occurs in each field of a passage.
type Counts struct {
	Title, Headings, Body int
}

// BM25 scores passages of three fields (Robertson, Zaragoza, Taylor 2004, "Simple
// BM25 extension to multiple weighted fields"): the counts of the fields are added
// up by weight before they saturate.
type BM25 struct {
	K1, B                 float64 // saturation of repeats; normalization by length, 0 to 1
	Title, Headings, Body float64 // weight of an occurrence in the field
}

// DefaultBM25 is what the measurements in docs/benchmarks.md were made with.
var DefaultBM25 = BM25{K1: 1.2, B: 0.8, Title: 1, Headings: 2, Body: 1}

// Weigh adds up the counts of the fields by their weights. It serves the counts of
// a term and, to give a passage's length, the number of terms in each field.
func (p BM25) Weigh(counts Counts) float64 {
	return p.Title*float64(counts.Title) + p.Headings*float64(counts.Headings) + p.Body*float64(counts.Body)
}

// Score returns what one term adds to a passage's score: its idf times its saturated,
// length-normalized count. count and length come from Weigh; average is the mean
// length over the index.
func (p BM25) Score(idf, count, length, average float64) float64 {
	if count == 0 {
		return 0
	}
	norm := 1.0
	if average > 0 {
		norm = 1 - p.B + p.B*length/average
	}
	return idf * count * (p.K1 + 1) / (count + p.K1*norm)
}

// IDF is Lucene's inverse document frequency, never negative: containing of total
// passages hold the term.
func IDF(total, containing int) float64 {
	return math.Log(1 + (float64(total-containing)+0.5)/(float64(containing)+0.5))
}
