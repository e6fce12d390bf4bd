package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// Class is a class of documents and how much is of it.
type Class struct {
	index.Class

	Documents, Passages int
}

// snapshot is what searches need of all passages together, as of one generation of the
// database. It never changes.
type snapshot struct {
	generation int64
	classes    []Class // by number; number 0, and those that were never given, hold nothing
	documents  int
	passages   int
	length     float64 // sum of the passages' lengths
	blocks     []int64 // generation of each block, 0 where there is none
}

func (s *snapshot) blockGeneration(number int32) int64 {
	if int(number) < len(s.blocks) {
		return s.blocks[number]
	}
	return 0
}

// averageLength returns the mean length over all passages.
func (s *snapshot) averageLength() float64 {
	if s.passages == 0 {
		return 0
	}
	return s.length / float64(s.passages)
}

// passingClasses returns the numbers of the classes that a filter lets pass, and whether all
// passages are of them.
func (s *snapshot) passingClasses(filter index.Filter) (numbers []int32, all bool) {
	numbers = []int32{}
	passages := 0
	for number, class := range s.classes {
		if class.Documents > 0 && class.Passes(filter) {
			numbers = append(numbers, int32(number))
			passages += class.Passages
		}
	}
	return numbers, passages == s.passages
}

// loadSnapshot returns the snapshot of the transaction's generation, making it if nobody has.
func (x *Index) loadSnapshot(ctx context.Context, tx Tx) (*snapshot, error) {
	var generation, cleared int64
	var lengths lexical.Counts
	err := selectOne(ctx, tx, query("SELECT generation, cleared, title_terms, heading_terms, body_terms FROM @meta"),
		&generation, &cleared, &lengths.Title, &lengths.Headings, &lengths.Body)
	if err != nil {
		return nil, fmt.Errorf("read generation: %w", err)
	}
	if snap := x.snapshot.Load(); snap != nil && snap.generation == generation {
		return snap, nil
	}
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	base := x.snapshot.Load()
	if base != nil && base.generation == generation {
		return base, nil
	}
	older := base != nil && base.generation > generation // another transaction, or a replica that is behind another
	if base == nil || older || base.generation < cleared {
		base = &snapshot{generation: -1}
	}
	next, err := base.advance(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("load what searches need: %w", err)
	}
	next.generation, next.length = generation, lexical.DefaultBM25.Weigh(lengths)
	if !older {
		x.snapshot.Store(next)
	}
	return next, nil
}

// advance returns the snapshot of the transaction's generation, which is later.
func (s *snapshot) advance(ctx context.Context, tx Tx) (*snapshot, error) {
	next := &snapshot{classes: slices.Clone(s.classes), blocks: slices.Clone(s.blocks)}
	var number int
	var class Class
	var source, kind, audience string
	err := tx.Select(ctx, query("SELECT id, source, kind, audience, documents, passages FROM @class WHERE generation > $1", s.generation), func() error {
		class.Class = index.Class{Source: knowledge.SourceID(source), Kind: knowledge.Kind(kind), Audience: knowledge.Audience(audience)}
		next.classes = setAt(next.classes, number, class)
		return nil
	}, &number, &source, &kind, &audience, &class.Documents, &class.Passages)
	if err != nil {
		return nil, err
	}
	for _, class := range next.classes {
		next.documents += class.Documents
		next.passages += class.Passages
	}
	var generation int64
	err = tx.Select(ctx, query("SELECT number, generation FROM @block WHERE generation > $1", s.generation), func() error {
		next.blocks = setAt(next.blocks, number, generation)
		return nil
	}, &number, &generation)
	return next, err
}

// setAt sets an element of a list that grows as far as it must.
func setAt[T any](list []T, at int, value T) []T {
	if at >= len(list) {
		list = append(list, make([]T, at+1-len(list))...)
	}
	list[at] = value
	return list
}
