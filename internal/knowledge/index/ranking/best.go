package ranking

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Best keeps the highest scores of all that are offered; equal ones by passage id.
type Best struct {
	limit int
	kept  worstFirst
}

// NewBest makes a Best that keeps so many passages, at least one; id names the one in
// a slot.
func NewBest(limit int, id func(slot int32) knowledge.PassageID) *Best {
	return &Best{limit: limit, kept: worstFirst{id: id}}
}

// Offer takes in the passage of a slot, which is offered once, if it is good enough.
func (b *Best) Offer(slot int32, score float64) {
	candidate := scored{slot: slot, score: score}
	if len(b.kept.list) < b.limit {
		heap.Push(&b.kept, candidate)
		return
	}
	if b.kept.compare(candidate, b.kept.list[0]) < 0 {
		b.kept.list[0] = candidate
		heap.Fix(&b.kept, 0)
	}
}

// threshold returns what a score must reach to get in.
func (b *Best) threshold() float64 {
	if len(b.kept.list) < b.limit {
		return math.Inf(-1)
	}
	return b.kept.list[0].score
}

// Hits returns what was kept, best first, and the slot of each. Nothing is offered
// afterwards.
func (b *Best) Hits() (hits []index.Hit, slots []int32) {
	slices.SortFunc(b.kept.list, b.kept.compare)
	hits = make([]index.Hit, len(b.kept.list))
	slots = make([]int32, len(hits))
	for i, s := range b.kept.list {
		hits[i] = index.Hit{Passage: b.kept.id(s.slot), Score: s.score}
		slots[i] = s.slot
	}
	return hits, slots
}

// scored is a passage by its slot.
type scored struct {
	slot  int32
	score float64
}

// worstFirst is a heap with the worst passage on top.
type worstFirst struct {
	id   func(slot int32) knowledge.PassageID
	list []scored
}

// compare orders the better one first.
func (w *worstFirst) compare(one, other scored) int {
	if order := cmp.Compare(other.score, one.score); order != 0 {
		return order
	}
	return strings.Compare(string(w.id(one.slot)), string(w.id(other.slot)))
}

func (w *worstFirst) Len() int           { return len(w.list) }
func (w *worstFirst) Less(i, j int) bool { return w.compare(w.list[i], w.list[j]) > 0 }
func (w *worstFirst) Swap(i, j int)      { w.list[i], w.list[j] = w.list[j], w.list[i] }
func (w *worstFirst) Push(s any)         { w.list = append(w.list, s.(scored)) }
func (w *worstFirst) Pop() any {
	last := w.list[len(w.list)-1]
	w.list = w.list[:len(w.list)-1]
	return last
}
