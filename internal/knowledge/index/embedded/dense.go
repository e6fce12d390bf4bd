package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

const (
	// exactWindows is how many windows, the likeliest by their sign bits, are scored
	// exactly at least; a limit above a quarter of it raises it.
	exactWindows = 300
	// nearFactor: so many times as many, nearest by Hamming distance, are estimated
	// by the query's components first.
	nearFactor = 4
	// mostTies: a distance that many windows share is taken in whole, up to this many
	// times what was asked for.
	mostTies = 2
	// parallelWindows is from how many windows on a scan uses several cores.
	parallelWindows = 1 << 15
)

var errTruncated = errors.New("stored vectors are truncated")

// slotSet is a set of slots; nil holds all of them.
type slotSet []bool

func (s slotSet) contains(slot int32) bool { return s == nil || s[slot] }

// Search implements engine.Vectors. It narrows down in three steps, each dearer and finer: Hamming
// distance of the sign bits, for all; the query's components with the signs of the window, for
// the nearest; the exact cosine of a passage's best window, for the likeliest.
func (v *vectors) Search(ctx context.Context, tx engine.Tx, query *engine.DenseQuery) ([]engine.Scored, error) {
	w, err := v.current(ctx, tx, query)
	if err != nil {
		return nil, err
	}
	var allowed slotSet
	if !query.All || len(query.Documents) > 0 {
		if allowed, err = query.PassingSlots(ctx); err != nil {
			return nil, err
		}
	}
	wanted := max(exactWindows, 4*query.Limit)
	near := w.nearestWindows(signsOf(query.Vector), allowed, nearFactor*wanted)
	likely := w.likeliestSlots(query.Vector, near, wanted)
	var scored []engine.Scored
	var slot int32
	var halves sql.RawBytes
	asked := engine.Query{SQL: "SELECT slot, halves FROM json_each($1) CROSS JOIN vector ON slot = value", Arguments: []any{likely}}
	err = tx.Select(ctx, asked, func() error {
		score, err := bestWindow(query.Vector, halves)
		scored = append(scored, engine.Scored{Slot: slot, Score: score})
		return err
	}, &slot, &halves)
	return engine.Best(scored, query.Limit), err
}

func bestWindow(vector []float32, halves []byte) (float64, error) {
	size := 2 * len(vector)
	if len(halves) == 0 || len(halves)%size != 0 {
		return 0, errTruncated
	}
	score := math.Inf(-1)
	for ; len(halves) > 0; halves = halves[size:] {
		score = max(score, dotHalves(vector, halves))
	}
	return score, nil
}

// nearestWindows returns the numbers of the windows nearest to the sign bits, in order. It
// counts the windows by distance first, to know how far to go.
func (w *windows) nearestWindows(signs []uint64, allowed slotSet, wanted int) []int32 {
	distances := make([]uint16, len(w.slots))
	counts := w.measureDistances(signs, allowed, distances)
	within, total := 0, 0
	for ; within < len(counts) && total+counts[within] <= wanted; within++ {
		total += counts[within]
	}
	// The windows at the distance that goes over what is wanted.
	ties := wanted*mostTies - total
	var near []int32
	for i, distance := range distances {
		if int(distance) < within {
			near = append(near, int32(i))
		} else if int(distance) == within && within < len(counts) && ties > 0 {
			near = append(near, int32(i))
			ties--
		}
	}
	return near
}

// likeliestSlots returns the slots of the windows whose signs agree best with the components
// of the query, in order, each once.
func (w *windows) likeliestSlots(vector []float32, near []int32, wanted int) []int32 {
	if len(near) > wanted {
		near = newSignTable(vector).bestWindows(w, near, wanted)
	}
	slots := make([]int32, len(near))
	for i, window := range near {
		slots[i] = w.slots[window]
	}
	return slices.Compact(slots)
}

// signTable holds for each byte of sign bits, and each value it may have, the sum of
// the query's components with these signs.
type signTable [][256]float32

func newSignTable(vector []float32) signTable {
	table := make(signTable, 8*signWords(len(vector)))
	for at := range table {
		components := vector[min(8*at, len(vector)):min(8*at+8, len(vector))]
		for value := range table[at] {
			var sum float32
			for bit, component := range components {
				if value>>bit&1 == 1 {
					sum += component
				} else {
					sum -= component
				}
			}
			table[at][value] = sum
		}
	}
	return table
}

// estimateDot returns the dot product of the query with the signs of a window.
func (t signTable) estimateDot(signs []uint64) float32 {
	var sum float32
	for i, word := range signs {
		for at := range 8 {
			sum += t[8*i+at][byte(word>>(8*at))]
		}
	}
	return sum
}

// bestWindows returns so many of the windows, those of the highest estimates, in order.
func (t signTable) bestWindows(w *windows, near []int32, wanted int) []int32 {
	type estimated struct {
		window int32
		dot    float32
	}
	list := make([]estimated, len(near))
	for i, window := range near {
		list[i] = estimated{window: window, dot: t.estimateDot(w.signs[int(window)*w.words:][:w.words])}
	}
	slices.SortFunc(list, func(a, b estimated) int {
		return cmp.Or(cmp.Compare(b.dot, a.dot), cmp.Compare(a.window, b.window))
	})
	best := make([]int32, wanted)
	for i := range best {
		best[i] = list[i].window
	}
	slices.Sort(best)
	return best
}

// excludedDistance is the distance of a window whose passage the filter leaves out.
const excludedDistance = math.MaxUint16

// measureDistances writes the distance of each window and gives how many have which distance.
func (w *windows) measureDistances(signs []uint64, allowed slotSet, distances []uint16) []int {
	parts := 1
	if len(w.slots) >= parallelWindows {
		parts = runtime.GOMAXPROCS(0)
	}
	counts := make([][]int, parts)
	var scans sync.WaitGroup
	for part := range parts {
		from, to := len(w.slots)*part/parts, len(w.slots)*(part+1)/parts
		scans.Go(func() {
			counts[part] = make([]int, 64*w.words+1)
			w.measureRange(signs, allowed, distances[from:to], from)
			for _, distance := range distances[from:to] {
				if distance != excludedDistance {
					counts[part][distance]++
				}
			}
		})
	}
	scans.Wait()
	for _, more := range counts[1:] {
		for distance, count := range more {
			counts[0][distance] += count
		}
	}
	return counts[0]
}

func (w *windows) measureRange(signs []uint64, allowed slotSet, distances []uint16, from int) {
	for i := range distances {
		if !allowed.contains(w.slots[from+i]) {
			distances[i] = excludedDistance
			continue
		}
		window := w.signs[(from+i)*w.words:][:len(signs)]
		distance := 0
		for j, word := range window {
			distance += bits.OnesCount64(word ^ signs[j])
		}
		distances[i] = uint16(distance)
	}
}
