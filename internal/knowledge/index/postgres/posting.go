package postgres

import (
	"encoding/binary"
	"errors"
)

// blockBits: slots with the same high bits are a block. A list keeps its postings by
// block, so that blocks can be ranked one by one and skipped.
const (
	blockBits = 14
	blockSize = 1 << blockBits
)

// bodyBits is what is left beside a slot in 16 bits for the count in the body.
const (
	bodyBits  = 16 - blockBits
	bodyLimit = 1 << bodyBits
)

// most is the highest count of a field that is told apart.
const most = 255

var errPostings = errors.New("damaged posting list")

// posting says how often one passage contains a term, up to 255 times a field.
type posting struct {
	slot                  int32
	title, headings, body uint8
}

// appendPosting adds the form in which a posting stands in its block: two bytes (slot,
// then the count in the body), and if that count is 0, being too large or not the
// body's alone, three more (title, headings, body).
func appendPosting(data []byte, p posting) []byte {
	entry := uint16(p.slot&(blockSize-1)) << bodyBits
	if p.title == 0 && p.headings == 0 && p.body < bodyLimit {
		return binary.LittleEndian.AppendUint16(data, entry|uint16(p.body))
	}
	data = binary.LittleEndian.AppendUint16(data, entry)
	return append(data, p.title, p.headings, p.body)
}

// eachPosting reads the postings of a block, whose first slot is base.
func eachPosting(data []byte, base int32, yield func(posting)) error {
	for len(data) >= 2 {
		entry := binary.LittleEndian.Uint16(data)
		data = data[2:]
		p := posting{slot: base + int32(entry>>bodyBits), body: uint8(entry & (bodyLimit - 1))}
		if p.body == 0 {
			if len(data) < 3 || data[0]|data[1]|data[2] == 0 {
				return errPostings
			}
			p.title, p.headings, p.body = data[0], data[1], data[2]
			data = data[3:]
		}
		yield(p)
	}
	if len(data) != 0 {
		return errPostings
	}
	return nil
}

// listBuilder makes a list of blocks that come in order, a block in one or more parts:
// for each its number, less that of the one before, its size in bytes, its postings.
type listBuilder struct {
	list     []byte
	last     int32 // number of the last finished block
	number   int32 // of the block at hand
	postings []byte
}

func (b *listBuilder) add(number int32, postings []byte) {
	if number != b.number {
		b.finish()
		b.number = number
	}
	b.postings = append(b.postings, postings...)
}

// finish gives the list with the block at hand.
func (b *listBuilder) finish() []byte {
	if len(b.postings) > 0 {
		b.list = binary.AppendUvarint(b.list, uint64(b.number-b.last))
		b.list = binary.AppendUvarint(b.list, uint64(len(b.postings)))
		b.list = append(b.list, b.postings...)
		b.last, b.postings = b.number, b.postings[:0]
	}
	return b.list
}

// makeList gives the list of postings that are in order of slot.
func makeList(postings []posting) []byte {
	var list listBuilder
	var one []byte
	for _, p := range postings {
		one = appendPosting(one[:0], p)
		list.add(p.slot>>blockBits, one)
	}
	return list.finish()
}

// eachBlock reads a list: the number of each block and its postings.
func eachBlock(data []byte, yield func(number int32, postings []byte)) error {
	number := uint64(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		if n <= 0 {
			return errPostings
		}
		size, m := binary.Uvarint(data[n:])
		if m <= 0 || size > uint64(len(data)-n-m) {
			return errPostings
		}
		number += gap
		if number >= 1<<(31-blockBits) {
			return errPostings
		}
		data = data[n+m:]
		yield(int32(number), data[:size])
		data = data[size:]
	}
	return nil
}

// entry is what a segment holds of one term.
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
			return errPostings
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
		return nil, nil, errPostings
	}
	return data[n : n+int(size)], data[n+int(size):], nil
}
