package engine

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

const (
	shortest = 3  // characters; shorter terms are near to everything
	twoEdits = 8  // from so many characters on a term may differ by two edits
	longest  = 64 // characters; see lexical.Analyze
)

// isCorrectable says whether a term is of a length at which others can be told to be near.
func isCorrectable(term string) bool {
	length := utf8.RuneCountInString(term)
	return length >= shortest && length <= longest
}

// words are the terms of an index in memory, by length. The zero words hold none; calls
// must not overlap.
type words struct {
	byLength [longest + 1][]word
}

// word is a term with the set of its characters, for a quick bound of the distance:
// an edit changes two members of the set at most.
type word struct {
	term    string
	letters uint64
}

// add takes in a term, but for one that is longer than lexical.Analyze gives, and for stems
// of other languages than English, which nobody writes.
func (w *words) add(term string) {
	if length := utf8.RuneCountInString(term); length <= longest && !lexical.IsMarked(term) {
		w.byLength[length] = append(w.byLength[length], word{term: term, letters: letterSet(term)})
	}
}

// removeDuplicates leaves each term once.
func (w *words) removeDuplicates() {
	for length, list := range w.byLength {
		slices.SortFunc(list, func(a, b word) int { return strings.Compare(a.term, b.term) })
		w.byLength[length] = slices.CompactFunc(list, func(a, b word) bool { return a.term == b.term })
	}
}

// neighbor is a term near another.
type neighbor struct {
	term     string
	passages int // that contain it
	distance int // edits, at least 1
}

// near gives the terms one edit away, or two for long ones, without their passages; an edit is
// a character more, less or other, or two neighbours swapped. The shorter ones come first.
func (w *words) near(term string) []neighbor {
	runes := []rune(term)
	edits := 1
	if len(runes) >= twoEdits {
		edits = 2
	}
	letters := letterSet(term)
	var near []neighbor
	for length := max(1, len(runes)-edits); length <= min(longest, len(runes)+edits); length++ {
		for _, other := range w.byLength[length] {
			if bits.OnesCount64(other.letters^letters) > 2*edits || other.term == term {
				continue
			}
			if distance := editDistance(runes, []rune(other.term), edits); distance <= edits {
				near = append(near, neighbor{term: other.term, distance: distance})
			}
		}
	}
	return near
}

// likeliest gives so many of the terms that any passage contains: nearer ones first, of equally
// near ones the commoner.
func likeliest(near []neighbor, limit int) []index.TermStats {
	likely := slices.DeleteFunc(slices.Clone(near), func(n neighbor) bool { return n.passages <= 0 })
	slices.SortFunc(likely, func(a, b neighbor) int {
		return cmp.Or(a.distance-b.distance, b.passages-a.passages, strings.Compare(a.term, b.term))
	})
	stats := make([]index.TermStats, min(limit, len(likely)))
	for i := range stats {
		stats[i] = index.TermStats{Term: likely[i].term, Passages: likely[i].passages}
	}
	return stats
}

// letterSet has a bit for each character of a term; rarer characters share bits.
func letterSet(term string) uint64 {
	var set uint64
	for _, r := range term {
		set |= 1 << (uint32(r) % 64)
	}
	return set
}

// editDistance is the number of edits (Damerau and Levenshtein, each character
// edited once at most) that make one term the other, or limit+1 if it takes more.
func editDistance(a, b []rune, limit int) int {
	var rows [3][longest + 2]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}
