package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

// vectors are an engine.Vectors: each window as half floats in the file, and its sign bits in
// memory, too.
type vectors struct {
	dimension  int
	refreshing sync.Mutex // held to make the next windows
	latest     atomic.Pointer[windows]
}

// Change implements engine.Vectors.
func (v *vectors) Change(ctx context.Context, tx engine.Tx, change engine.VectorChange) error {
	for _, m := range change.Moved {
		if _, err := tx.Exec(ctx, "INSERT INTO vector (slot, halves) SELECT $2, halves FROM vector WHERE slot = $1", m.From, m.To); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO sign (slot, generation, signs) SELECT $2, $3, signs FROM sign WHERE slot = $1", m.From, m.To, change.Generation)
		if err != nil {
			return err
		}
	}
	for _, statement := range []string{"DELETE FROM vector WHERE slot = $1", "DELETE FROM sign WHERE slot = $1"} {
		for _, slot := range change.Gone {
			if _, err := tx.Exec(ctx, statement, slot); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write implements engine.Vectors. It begins a generation, from which searches learn of it.
func (v *vectors) Write(ctx context.Context, tx engine.Tx, rows []engine.VectorRow) error {
	var generation int64
	err := tx.Select(ctx, engine.Query{SQL: "UPDATE meta SET generation = generation + 1 RETURNING generation"}, func() error { return nil }, &generation)
	if err != nil {
		return err
	}
	for _, row := range rows {
		signs, halves := []byte{}, []byte{}
		for _, window := range row.Windows {
			for _, word := range signsOf(window) {
				signs = binary.LittleEndian.AppendUint64(signs, word)
			}
			halves = appendHalves(halves, window)
		}
		if _, err := tx.Exec(ctx, "INSERT OR REPLACE INTO sign (slot, generation, signs) VALUES ($1, $2, $3)", row.Slot, generation, signs); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT OR REPLACE INTO vector (slot, halves) VALUES ($1, $2)", row.Slot, halves); err != nil {
			return err
		}
	}
	return nil
}

// windows are the vectors' sign bits, in order of slot, as of one generation. They never change.
type windows struct {
	generation int64
	words      int      // 64-bit words a window
	signs      []uint64 // window after window
	slots      []int32  // of each window
}

func (w *windows) appendWindow(slot int32, signs []uint64) {
	w.slots = append(w.slots, slot)
	w.signs = append(w.signs, signs...)
}

// current returns the windows of the query's generation, making them if nobody has. It fails
// with engine.ErrMoved when later ones have been made already.
func (v *vectors) current(ctx context.Context, tx engine.Tx, query *engine.DenseQuery) (*windows, error) {
	if w := v.latest.Load(); w != nil && w.generation == query.Generation() {
		return w, nil
	}
	v.refreshing.Lock()
	defer v.refreshing.Unlock()
	w := v.latest.Load()
	switch {
	case w == nil:
		w = &windows{generation: -1, words: signWords(v.dimension)}
	case w.generation == query.Generation():
		return w, nil
	case w.generation > query.Generation():
		return nil, engine.ErrMoved
	}
	changed, err := w.readChanges(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("load signs: %w", err)
	}
	used, err := query.UsedSlots(ctx)
	if err != nil {
		return nil, err
	}
	next := w.merge(changed, used)
	next.generation = query.Generation()
	v.latest.Store(next)
	return next, nil
}

// slotWindows are the windows of a slot that changed.
type slotWindows struct {
	slot  int32
	signs []uint64
}

// readChanges gives the slots that got vectors since, in order.
func (w *windows) readChanges(ctx context.Context, tx engine.Tx) (changed []slotWindows, err error) {
	var slot int32
	var signs []byte
	asked := engine.Query{SQL: "SELECT slot, signs FROM sign WHERE generation > $1 ORDER BY slot", Arguments: []any{w.generation}}
	err = tx.Select(ctx, asked, func() error {
		if len(signs)%(8*w.words) != 0 {
			return fmt.Errorf("slot %d has %d bytes of signs, not a multiple of %d", slot, len(signs), 8*w.words)
		}
		changed = append(changed, slotWindows{slot: slot, signs: decodeSigns(signs)})
		return nil
	}, &slot, &signs)
	return changed, err
}

// merge returns the windows after the changes, both in order of slot, without those of slots
// that are not in use any more.
func (w *windows) merge(changed []slotWindows, used []bool) *windows {
	next := &windows{words: w.words, signs: make([]uint64, 0, len(w.signs)), slots: make([]int32, 0, len(w.slots))}
	i := 0
	keepBelow := func(slot int) {
		for ; i < len(w.slots) && int(w.slots[i]) < slot; i++ {
			if at := int(w.slots[i]); at < len(used) && used[at] {
				next.appendWindow(w.slots[i], w.signs[i*w.words:(i+1)*w.words])
			}
		}
	}
	for _, c := range changed {
		keepBelow(int(c.slot))
		for i < len(w.slots) && w.slots[i] == c.slot {
			i++
		}
		for at := 0; at < len(c.signs); at += w.words {
			next.appendWindow(c.slot, c.signs[at:at+w.words])
		}
	}
	keepBelow(len(used))
	return next
}

func decodeSigns(data []byte) []uint64 {
	signs := make([]uint64, len(data)/8)
	for i := range signs {
		signs[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return signs
}
