package embedded

import (
	"cmp"
	"container/heap"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

const defaultLimit = 100

// Search finds the best passages by words and by meaning, each exactly scored.
func (x *Index) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	if err := x.checkQuery(query); err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	if query.Limit == 0 {
		query.Limit = defaultLimit
	}
	var candidates index.Candidates
	err := x.view(ctx, func(tx *sql.Tx, snap *snapshot) error {
		allowed, err := snap.filter(ctx, tx, query.Filter)
		if err != nil {
			return fmt.Errorf("filter: %w", err)
		}
		found, err := searchLexical(ctx, tx, lexicalQuery{snap: snap, allowed: allowed, terms: query.Terms, limit: query.Limit})
		if err != nil {
			return fmt.Errorf("by words: %w", err)
		}
		if query.Vector != nil {
			found.Dense, err = searchDense(ctx, tx, denseQuery{snap: snap, allowed: allowed, vector: query.Vector, limit: query.Limit})
			if err != nil {
				return fmt.Errorf("by meaning: %w", err)
			}
		}
		candidates = found
		return nil
	})
	if err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	return candidates, nil
}

func (x *Index) checkQuery(query index.Query) error {
	if query.Limit < 0 {
		return fmt.Errorf("limit %d is below 0", query.Limit)
	}
	for _, term := range query.Terms {
		if !(term.Weight > 0) || math.IsInf(term.Weight, 1) {
			return fmt.Errorf("term %q has the weight %v, must be above 0", term.Text, term.Weight)
		}
	}
	if query.Vector != nil {
		return checkVector(query.Vector, x.dimension)
	}
	return nil
}

// slotSet is a set of slots; nil holds all of them.
type slotSet []bool

func (s slotSet) has(slot int32) bool {
	return s == nil || s[slot]
}

// filter gives the slots that pass. Without a list of documents the file is not asked.
func (s *snapshot) filter(ctx context.Context, tx *sql.Tx, filter index.Filter) (slotSet, error) {
	pass := make([]bool, len(s.classes))
	all := true
	for i, class := range s.classes {
		pass[i] = class.passes(filter)
		all = all && pass[i]
	}
	if all && len(filter.Documents) == 0 {
		return nil, nil
	}
	set := make(slotSet, len(s.slots))
	if len(filter.Documents) == 0 {
		for i, slot := range s.slots {
			set[i] = slot.document != nil && pass[slot.document.class]
		}
		return set, nil
	}
	slotsOf, err := tx.PrepareContext(ctx, "SELECT slot FROM document JOIN passage ON passage.document = document.id WHERE key = ?")
	if err != nil {
		return nil, err
	}
	for _, document := range filter.Documents {
		if err := s.addDocument(ctx, slotsOf, document, pass, set); err != nil {
			return nil, fmt.Errorf("document %s: %w", document, err)
		}
	}
	return set, nil
}

func (s *snapshot) addDocument(ctx context.Context, slotsOf *sql.Stmt, document knowledge.DocumentID, pass []bool, set slotSet) error {
	rows, err := slotsOf.QueryContext(ctx, document)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var slot int32
		if err := rows.Scan(&slot); err != nil {
			return err
		}
		set[slot] = pass[s.slots[slot].document.class]
	}
	return rows.Err()
}

func (c class) passes(filter index.Filter) bool {
	audiences := filter.Audiences
	if audiences == nil {
		audiences = []knowledge.Audience{knowledge.Public}
	}
	return slices.Contains(audiences, c.audience) &&
		(len(filter.Sources) == 0 || slices.Contains(filter.Sources, c.source)) &&
		(len(filter.Kinds) == 0 || slices.Contains(filter.Kinds, c.kind))
}

// scored is a passage by its slot.
type scored struct {
	slot  int32
	score float64
}

// best keeps the highest scores of all that are offered; equal ones by passage id.
type best struct {
	snap  *snapshot
	limit int
	list  []scored // a heap with the worst on top
}

// threshold is what a score must reach to get in.
func (b *best) threshold() float64 {
	if len(b.list) < b.limit {
		return math.Inf(-1)
	}
	return b.list[0].score
}

func (b *best) offer(candidate scored) {
	if len(b.list) < b.limit {
		heap.Push(b, candidate)
		return
	}
	if b.compare(candidate, b.list[0]) < 0 {
		b.list[0] = candidate
		heap.Fix(b, 0)
	}
}

// compare orders the better one first.
func (b *best) compare(one, other scored) int {
	if order := cmp.Compare(other.score, one.score); order != 0 {
		return order
	}
	return strings.Compare(string(b.snap.id(one.slot)), string(b.snap.id(other.slot)))
}

// hits gives what was kept, best first.
func (b *best) hits() []index.Hit {
	slices.SortFunc(b.list, b.compare)
	hits := make([]index.Hit, len(b.list))
	for i, s := range b.list {
		hits[i] = index.Hit{Passage: b.snap.id(s.slot), Score: s.score}
	}
	return hits
}

func (b *best) Len() int           { return len(b.list) }
func (b *best) Less(i, j int) bool { return b.compare(b.list[i], b.list[j]) > 0 }
func (b *best) Swap(i, j int)      { b.list[i], b.list[j] = b.list[j], b.list[i] }
func (b *best) Push(s any)         { b.list = append(b.list, s.(scored)) }
func (b *best) Pop() any {
	last := b.list[len(b.list)-1]
	b.list = b.list[:len(b.list)-1]
	return last
}

var errTruncated = errors.New("stored vectors are truncated")
