package postgres

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"

	"cairn/internal/knowledge/index"
)

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
