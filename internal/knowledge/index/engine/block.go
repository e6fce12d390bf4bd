package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// A block is a row of the table block: what searches need of the passages in 4,096 slots, up to
// the last one in use, 8 bytes each: the number of the class, 0 for a free slot, and the length.
const (
	blockBits = 12
	blockSize = 1 << blockBits

	groupBlocks = groupSize / blockSize
	infoBytes   = 8
	// maxBlockBytes is how many bytes of blocks a process keeps: those of 4 million passages.
	maxBlockBytes = 32 << 20
)

// passageInfo is what a search needs of a passage.
type passageInfo struct {
	class  int32   // 0: the slot is free
	length float32 // weighted, see lexical.BM25.Weigh
}

type block []passageInfo

func (b block) encode() []byte {
	for len(b) > 0 && b[len(b)-1].class == 0 {
		b = b[:len(b)-1]
	}
	data := make([]byte, 0, infoBytes*len(b))
	for _, info := range b {
		data = binary.BigEndian.AppendUint32(data, uint32(info.class))
		data = binary.BigEndian.AppendUint32(data, math.Float32bits(info.length))
	}
	return data
}

func decodeBlock(data []byte) (block, error) {
	if len(data)%infoBytes != 0 || len(data) > infoBytes*blockSize {
		return nil, fmt.Errorf("a block of %d bytes: %w", len(data), ErrDamaged)
	}
	b := make(block, len(data)/infoBytes)
	for i := range b {
		b[i].class = int32(binary.BigEndian.Uint32(data[infoBytes*i:]))
		b[i].length = math.Float32frombits(binary.BigEndian.Uint32(data[infoBytes*i+4:]))
	}
	return b, nil
}

// blockEdits are blocks that change, by number.
type blockEdits map[int32]block

func (e blockEdits) set(slot int32, info passageInfo) {
	number, at := slot>>blockBits, int(slot&(blockSize-1))
	for len(e[number]) <= at {
		e[number] = append(e[number], passageInfo{})
	}
	e[number][at] = info
}

// blockCache keeps the blocks that were used last, so many bytes of them. Blocks never change:
// one of a later generation takes the place of its predecessor.
type blockCache struct {
	limit int

	mu    sync.Mutex
	kept  map[int32]*keptBlock
	bytes int
	clock int64
}

type keptBlock struct {
	block
	generation, used int64
}

func (c *blockCache) get(number int32, generation int64) (block, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[number]
	if kept == nil || kept.generation != generation {
		return nil, false
	}
	c.clock++
	kept.used = c.clock
	return kept.block, true
}

func (c *blockCache) put(number int32, generation int64, b block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = make(map[int32]*keptBlock)
	}
	c.drop(number)
	c.clock++
	c.kept[number] = &keptBlock{block: b, generation: generation, used: c.clock}
	c.bytes += infoBytes * len(b)
	for c.bytes > c.limit {
		oldest := number
		for other, kept := range c.kept {
			if kept.used < c.kept[oldest].used {
				oldest = other
			}
		}
		c.drop(oldest)
		if oldest == number {
			return
		}
	}
}

func (c *blockCache) drop(number int32) {
	if kept, ok := c.kept[number]; ok {
		c.bytes -= infoBytes * len(kept.block)
		delete(c.kept, number)
	}
}

// passageReader looks passages up by slot, in a transaction.
type passageReader struct {
	index *Index
	tx    Tx
	snap  *snapshot
	whole map[int32]bool // groups, as far as they were looked at
}

// passageGroup has the passages of a group.
type passageGroup struct {
	blocks [groupBlocks]block
	whole  bool // no slot is free before the last one in use
}

func (g *passageGroup) at(slot int32) passageInfo {
	b := g.blocks[slot>>blockBits&(groupBlocks-1)]
	if at := int(slot & (blockSize - 1)); at < len(b) {
		return b[at]
	}
	return passageInfo{}
}

func (g *passageGroup) isWhole() bool { return g.whole }

// readGroup returns the passages of a group, from memory as far as they are there.
func (r *passageReader) readGroup(ctx context.Context, group int32) (*passageGroup, error) {
	g := &passageGroup{}
	first := group * groupBlocks
	lacking := false
	for i := range g.blocks {
		if generation := r.snap.blockGeneration(first + int32(i)); generation > 0 {
			var ok bool
			g.blocks[i], ok = r.index.blocks.get(first+int32(i), generation)
			lacking = lacking || !ok
		}
	}
	if lacking {
		if err := r.readBlocks(ctx, g, first); err != nil {
			return nil, fmt.Errorf("read the lengths of passages: %w", err)
		}
	}
	whole, ok := r.whole[group]
	if !ok {
		whole = g.hasNoGap()
		if r.whole == nil {
			r.whole = make(map[int32]bool)
		}
		r.whole[group] = whole
	}
	g.whole = whole
	return g, nil
}

func (r *passageReader) readBlocks(ctx context.Context, g *passageGroup, first int32) error {
	var number int32
	var generation int64
	var data []byte
	return r.tx.Select(ctx, query("SELECT number, generation, passages FROM @block WHERE number BETWEEN $1 AND $2", first, first+groupBlocks-1), func() error {
		b, err := decodeBlock(data)
		if err != nil {
			return err
		}
		if generation != r.snap.blockGeneration(number) {
			return fmt.Errorf("block %d is of generation %d: %w", number, generation, ErrDamaged)
		}
		g.blocks[number-first] = b
		r.index.blocks.put(number, generation, b)
		return nil
	}, &number, &generation, &data)
}

func (g *passageGroup) hasNoGap() bool {
	free, used := false, false
	for _, b := range g.blocks {
		for _, info := range b {
			if info.class != 0 && free {
				return false
			}
			free = free || info.class == 0
			used = used || info.class != 0
		}
		free = free || len(b) < blockSize
	}
	return used
}
