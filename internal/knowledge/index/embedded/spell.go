package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cairn/internal/knowledge/index"
)

const (
	shortestMisspelling = 3  // shorter terms are near to everything
	twoEdits            = 8  // from so many characters on a term may differ by two edits
	mostSpelled         = 50 // nearest terms whose frequency is looked up
	longestTerm         = 64 // characters; see lexical.Analyze
)

// Similar gives terms one edit away, or two for long ones; an edit is a character
// more, less or other, or two neighbours swapped. Nearer ones come first, of equally
// near ones the commoner.
func (x *Index) Similar(ctx context.Context, term string, limit int) ([]index.TermStats, error) {
	length := utf8.RuneCountInString(term)
	if length < shortestMisspelling || length > longestTerm || limit <= 0 {
		return nil, nil
	}
	var similar []index.TermStats
	err := x.view(ctx, func(tx *sql.Tx, snap *snapshot) error {
		near, err := x.dictionary.near(ctx, tx, term)
		if err != nil {
			return err
		}
		similar, err = commonest(ctx, tx, snap, near)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find terms like %q: %w", term, err)
	}
	return similar[:min(limit, len(similar))], nil
}

// commonest drops the terms that no passage contains any more and sorts the others.
func commonest(ctx context.Context, tx *sql.Tx, snap *snapshot, near []spelling) ([]index.TermStats, error) {
	counter, err := newTermCounter(ctx, tx, snap)
	if err != nil {
		return nil, err
	}
	var stats []index.TermStats
	distances := make(map[string]int)
	for _, s := range near {
		passages, err := counter.count(ctx, s.term)
		if err != nil {
			return nil, err
		}
		if _, again := distances[s.term]; again || passages == 0 {
			continue
		}
		distances[s.term] = s.distance
		stats = append(stats, index.TermStats{Term: s.term, Passages: passages})
	}
	slices.SortStableFunc(stats, func(a, b index.TermStats) int {
		return cmp.Or(distances[a.Term]-distances[b.Term], b.Passages-a.Passages, strings.Compare(a.Term, b.Term))
	})
	return stats, nil
}

// dictionary holds all terms in memory, by length, from the first Similar on. Terms
// are added as the file gains them; those that went stay until many have come since.
type dictionary struct {
	mu       sync.Mutex
	byLength [longestTerm + 1][]word
	last     int64 // id of the newest term
	loaded   int   // terms at the last full load
	added    int   // since
}

// word is a term with the set of its characters, for a quick bound of the distance:
// an edit changes two members of the set at most.
type word struct {
	term    string
	letters uint64
}

// spelling is a term near the one asked for.
type spelling struct {
	term     string
	distance int
}

// near gives the nearest terms; of equally near ones those that begin alike, then
// those that the index met first, which are mostly the common ones.
func (d *dictionary) near(ctx context.Context, tx *sql.Tx, term string) ([]spelling, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(ctx, tx); err != nil {
		return nil, fmt.Errorf("load terms: %w", err)
	}
	runes := []rune(term)
	edits := 1
	if len(runes) >= twoEdits {
		edits = 2
	}
	letters := letterSet(term)
	var near []spelling
	for length := max(1, len(runes)-edits); length <= min(longestTerm, len(runes)+edits); length++ {
		for _, w := range d.byLength[length] {
			if bits.OnesCount64(w.letters^letters) > 2*edits || w.term == term {
				continue
			}
			if distance := editDistance(runes, []rune(w.term), edits); distance <= edits {
				near = append(near, spelling{term: w.term, distance: distance})
			}
		}
	}
	slices.SortStableFunc(near, func(a, b spelling) int {
		return cmp.Or(a.distance-b.distance, compareStart(a.term, b.term, term))
	})
	return near[:min(mostSpelled, len(near))], nil
}

// compareStart orders terms that begin as the wanted one does first.
func compareStart(a, b, wanted string) int {
	other := func(term string) int {
		if term[0] == wanted[0] {
			return 0
		}
		return 1
	}
	return other(a) - other(b)
}

// loadPage is how many terms are read at once, joined by the database: a row each
// takes several times as long.
const loadPage = 50_000

// load adds the terms that the file gained since the last call.
func (d *dictionary) load(ctx context.Context, tx *sql.Tx) error {
	if d.added > d.loaded/2+loadPage {
		d.byLength, d.last, d.loaded, d.added = [longestTerm + 1][]word{}, 0, 0, 0
	}
	first := d.last == 0
	for {
		var joined sql.NullString
		var last sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT group_concat(text, char(10)), max(id)
			FROM (SELECT id, text FROM term WHERE id > ? ORDER BY id LIMIT ?)`, d.last, loadPage).Scan(&joined, &last)
		if err != nil {
			return err
		}
		if !last.Valid {
			break
		}
		d.last = last.Int64
		for term := range strings.SplitSeq(joined.String, "\n") {
			if length := utf8.RuneCountInString(term); length <= longestTerm {
				d.byLength[length] = append(d.byLength[length], word{term: term, letters: letterSet(term)})
				d.added++
			}
		}
	}
	if first {
		d.loaded, d.added = d.added, 0
	}
	return nil
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
	var rows [3][longestTerm + 2]int
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
