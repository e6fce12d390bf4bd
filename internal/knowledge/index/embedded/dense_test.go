package embedded

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// TestSignsFindTheNearest compares the windows chosen by sign bits with the truly
// nearest ones; 40,000 windows take the way over several cores.
func TestSignsFindTheNearest(t *testing.T) {
	const dimension, questions, wanted = 200, 10, 10
	type measured struct {
		slot int32
		dot  float64
	}
	random := rand.New(rand.NewPCG(3, 4))
	all := windows{words: signWords(dimension)}
	vectors := make([][]float32, 48_000/racetest.Stride)
	for i := range vectors {
		vectors[i] = indextest.ClusteredVector(random, 50, 0.8, dimension)
		all.appendWindow(int32(i), signsOf(vectors[i]))
	}
	found := 0
	for range questions {
		query := indextest.ClusteredVector(random, 50, 0.8, dimension)
		order := make([]measured, len(vectors))
		for i, v := range vectors {
			order[i] = measured{slot: int32(i), dot: dotHalves(query, appendHalves(nil, v))}
		}
		slices.SortFunc(order, func(a, b measured) int { return cmp.Compare(b.dot, a.dot) })
		near := all.nearestWindows(signsOf(query), nil, nearFactor*exactWindows)
		likely := all.likeliestSlots(query, near, exactWindows)
		if len(likely) != exactWindows || !slices.IsSorted(likely) {
			t.Fatalf("%d slots, want %d in order", len(likely), exactWindows)
		}
		for _, s := range order[:wanted] {
			if slices.Contains(likely, s.slot) {
				found++
			}
		}
	}
	if found < questions*wanted*97/100 {
		t.Errorf("%d of the %d nearest were found", found, questions*wanted)
	}
}

func TestEqualWindowsAreBounded(t *testing.T) {
	vector := indextest.UnitVector(1, 64)
	all := windows{words: 1}
	for i := range 5000 {
		all.appendWindow(int32(i/2), signsOf(vector)) // two windows a passage
	}
	if near := all.nearestWindows(signsOf(vector), nil, 100); len(near) != 100*mostTies {
		t.Errorf("%d of 5000 equal windows, want %d", len(near), 100*mostTies)
	}
	if slots := all.likeliestSlots(vector, []int32{0, 1, 2, 7}, 10); !slices.Equal(slots, []int32{0, 1, 3}) {
		t.Errorf("slots %v of the windows 0, 1, 2 and 7", slots)
	}
}
