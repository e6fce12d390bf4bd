package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge/index"
)

const (
	shortestMisspelling = 3  // shorter terms are near to everything
	twoEdits            = 8  // from so many characters on a term may differ by two edits
	longestTerm         = 64 // characters; see lexical.Analyze
)

// Similar gives terms one edit away, or two for long ones; an edit is a character
// more, less or other, or two neighbours swapped. Nearer ones come first, of equally
// near ones the commoner. The extension pg_trgm, which a server may not have, is not
// needed, and its trigrams find less in short words.
func (x *Index) Similar(ctx context.Context, term string, limit int) ([]index.TermStats, error) {
	length := utf8.RuneCountInString(term)
	if length < shortestMisspelling || length > longestTerm || limit <= 0 {
		return nil, nil
	}
	var near []spelling
	err := x.inRead(ctx, x.read, func(tx pgx.Tx) error {
		var err error
		near, err = x.dictionary.near(ctx, tx, term)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find terms like %q: %w", term, err)
	}
	slices.SortFunc(near, func(a, b spelling) int {
		return cmp.Or(a.distance-b.distance, b.Passages-a.Passages, strings.Compare(a.Term, b.Term))
	})
	var similar []index.TermStats
	for _, s := range near[:min(limit, len(near))] {
		similar = append(similar, s.TermStats)
	}
	return similar, nil
}

// dictionary holds all terms and how many passages have each in memory, from the first
// call that needs them on. It reads the segments that are new; where some it has read
// were merged with new ones, all of them again.
type dictionary struct {
	mu       sync.Mutex
	through  int64 // generation of the last segment it has read
	terms    map[string]int
	byLength [longestTerm + 1][]word
	present  int // terms that any passage has
}

// word is a term with the set of its characters, for a quick bound of the distance:
// an edit changes two members of the set at most.
type word struct {
	term    string
	letters uint64
}

// spelling is a term near the one asked for.
type spelling struct {
	index.TermStats
	distance int
}

// size gives the number of terms that any passage has.
func (d *dictionary) size(ctx context.Context, tx pgx.Tx) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(ctx, tx); err != nil {
		return 0, fmt.Errorf("load terms: %w", err)
	}
	return d.present, nil
}

func (d *dictionary) near(ctx context.Context, tx pgx.Tx, term string) ([]spelling, error) {
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
			passages := d.terms[w.term]
			if distance := editDistance(runes, []rune(w.term), edits); distance <= edits && passages > 0 {
				near = append(near, spelling{TermStats: index.TermStats{Term: w.term, Passages: passages}, distance: distance})
			}
		}
	}
	return near, nil
}

// load brings the dictionary up to the transaction.
func (d *dictionary) load(ctx context.Context, tx pgx.Tx) error {
	segments, err := listSegments(ctx, tx)
	if err != nil {
		return err
	}
	straddles := func(s storedSegment) bool { return s.first <= d.through && s.last > d.through }
	if d.terms == nil || slices.ContainsFunc(segments, straddles) || len(segments) > 0 && segments[len(segments)-1].last < d.through {
		d.through, d.terms, d.byLength, d.present = 0, make(map[string]int), [longestTerm + 1][]word{}, 0
	}
	var fresh []int32
	for _, s := range segments {
		if s.first > d.through {
			fresh = append(fresh, s.id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := d.read(ctx, tx, fresh); err != nil {
		d.terms = nil // half of them are in: begin again
		return err
	}
	d.through = segments[len(segments)-1].last
	return nil
}

func (d *dictionary) read(ctx context.Context, tx pgx.Tx, segments []int32) error {
	rows, err := tx.Query(ctx, "SELECT entries FROM cairn.page WHERE segment = ANY ($1)", segments)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var page []byte
		if err := rows.Scan(&page); err != nil {
			return err
		}
		err := eachEntry(page, func(e entry) bool {
			d.add(e)
			return true
		})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *dictionary) add(e entry) {
	before, known := d.terms[e.term]
	after := before + e.passages
	d.terms[e.term] = after
	switch {
	case before <= 0 && after > 0:
		d.present++
	case before > 0 && after <= 0:
		d.present--
	}
	if length := utf8.RuneCountInString(e.term); !known && length <= longestTerm {
		d.byLength[length] = append(d.byLength[length], word{term: e.term, letters: letterSet(e.term)})
	}
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
