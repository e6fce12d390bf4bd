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
	"strconv"
	"sync"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
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

type denseQuery struct {
	snap    *snapshot
	allowed slotSet
	vector  []float32
	limit   int
}

var errTruncated = errors.New("stored vectors are truncated")

// searchDense narrows down in three steps, each dearer and finer: Hamming distance of
// the sign bits, for all; the query's components with the signs of the window, for
// the nearest; the exact cosine of a passage's best window, for the likeliest.
func searchDense(ctx context.Context, tx *sql.Tx, query denseQuery) ([]index.Hit, error) {
	wanted := max(exactWindows, 4*query.limit)
	near := query.snap.windows.nearestWindows(signsOf(query.vector), query.allowed, nearFactor*wanted)
	likely := query.snap.windows.likeliestSlots(query.vector, near, wanted)
	if len(likely) == 0 {
		return nil, nil
	}
	list := []byte{'['}
	for i, slot := range likely {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, int64(slot), 10)
	}
	list = append(list, ']')
	rows, err := tx.QueryContext(ctx, "SELECT slot, halves FROM json_each(?) CROSS JOIN vector ON slot = value", string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	best := ranking.NewBest(query.limit, query.snap.passageID)
	for rows.Next() {
		var slot int32
		var halves sql.RawBytes
		if err := rows.Scan(&slot, &halves); err != nil {
			return nil, err
		}
		score, err := bestWindow(query.vector, halves)
		if err != nil {
			return nil, err
		}
		best.Offer(slot, score)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	hits, _ := best.Hits()
	return hits, nil
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
