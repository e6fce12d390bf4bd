package postgres

import (
	"encoding/binary"

	"cairn/internal/knowledge/index/ranking"
)

// posting says how often the passage in a slot contains a term.
type posting struct {
	slot int32
	ranking.Counts
}

// appendPosting adds the form in which a posting stands in its block.
func appendPosting(data []byte, p posting) []byte {
	return ranking.AppendPosting(data, ranking.Posting{Slot: uint16(p.slot & (ranking.BlockSize - 1)), Counts: p.Counts})
}

// eachPosting reads the postings of a block by number.
func eachPosting(block int32, data []byte, yield func(posting)) error {
	return ranking.EachPosting(data, func(p ranking.Posting) {
		yield(posting{slot: block<<ranking.BlockBits + int32(p.Slot), Counts: p.Counts})
	})
}

// listBuilder makes a list of blocks that come in order, a block in one or more parts:
// for each its number, less that of the one before, its size in bytes, its postings.
type listBuilder struct {
	list     []byte
	last     int32 // number of the last finished block
	number   int32 // of the block at hand
	postings []byte
}

func (b *listBuilder) addBlock(number int32, postings []byte) {
	if number != b.number {
		b.encodeList()
		b.number = number
	}
	b.postings = append(b.postings, postings...)
}

// encodeList returns the list with the block at hand.
func (b *listBuilder) encodeList() []byte {
	if len(b.postings) > 0 {
		b.list = binary.AppendUvarint(b.list, uint64(b.number-b.last))
		b.list = binary.AppendUvarint(b.list, uint64(len(b.postings)))
		b.list = append(b.list, b.postings...)
		b.last, b.postings = b.number, b.postings[:0]
	}
	return b.list
}

// makeList returns the list of postings that are in order of slot.
func makeList(ordered []posting) []byte {
	var list listBuilder
	var one []byte
	for _, p := range ordered {
		one = appendPosting(one[:0], p)
		list.addBlock(p.slot>>ranking.BlockBits, one)
	}
	return list.encodeList()
}

// eachBlock reads a list: the number of each block and its postings.
func eachBlock(data []byte, yield func(number int32, postings []byte)) error {
	number := uint64(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		if n <= 0 {
			return ranking.ErrDamaged
		}
		size, m := binary.Uvarint(data[n:])
		if m <= 0 || size > uint64(len(data)-n-m) {
			return ranking.ErrDamaged
		}
		number += gap
		if number >= 1<<(31-ranking.BlockBits) {
			return ranking.ErrDamaged
		}
		data = data[n+m:]
		yield(int32(number), data[:size])
		data = data[size:]
	}
	return nil
}

// entry is a term's postings in a segment.
type entry struct {
	term     string
	passages int    // that contain it: those the segment added, less those it took away
	list     []byte // see listBuilder; may hold slots that were taken away since
}

// appendEntry adds the form in which an entry stands in its page.
func appendEntry(data []byte, e entry) []byte {
	data = binary.AppendUvarint(data, uint64(len(e.term)))
	data = append(data, e.term...)
	data = binary.AppendVarint(data, int64(e.passages))
	data = binary.AppendUvarint(data, uint64(len(e.list)))
	return append(data, e.list...)
}

// eachEntry reads the entries of a page, in order of term, until yield says stop.
func eachEntry(page []byte, yield func(entry) bool) error {
	for len(page) > 0 {
		term, rest, err := cutBytes(page)
		if err != nil {
			return err
		}
		passages, n := binary.Varint(rest)
		if n <= 0 {
			return ranking.ErrDamaged
		}
		list, rest, err := cutBytes(rest[n:])
		if err != nil {
			return err
		}
		page = rest
		if !yield(entry{term: string(term), passages: int(passages), list: list}) {
			return nil
		}
	}
	return nil
}

// cutBytes reads a length and so many bytes.
func cutBytes(data []byte) (value, rest []byte, err error) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return nil, nil, ranking.ErrDamaged
	}
	return data[n : n+int(size)], data[n+int(size):], nil
}
