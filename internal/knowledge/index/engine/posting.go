package engine

import (
	"encoding/binary"
	"slices"
)

// Slots, the numbers under which everything about a passage is kept, with the same high bits
// are a group. Postings are kept by group, so that groups can be ranked one by one.
const (
	groupBits = 14
	groupSize = 1 << groupBits
)

// bodyBits is what is left beside a slot in 16 bits for the count in the body.
const (
	bodyBits  = 16 - groupBits
	bodyLimit = 1 << bodyBits
)

// posting says how often the passage in a slot contains a term.
type posting struct {
	slot int32
	counts
}

// counts are how often a term stands in each field of a passage, at least once in one
// of them; 255 stands for 255 and more.
type counts struct {
	title, headings, body uint8
}

func increment(field *uint8) {
	if *field < 255 {
		*field++
	}
}

// appendPosting adds the stored form of a posting: two bytes (slot within its group, then the
// count in the body), and if that count is 0, being too large or not the body's alone, three
// more (title, headings, body). Postings in order of slot can be put behind one another.
func appendPosting(data []byte, p posting) []byte {
	stored := uint16(p.slot&(groupSize-1)) << bodyBits
	if p.title == 0 && p.headings == 0 && p.body < bodyLimit {
		return binary.LittleEndian.AppendUint16(data, stored|uint16(p.body))
	}
	data = binary.LittleEndian.AppendUint16(data, stored)
	return append(data, p.title, p.headings, p.body)
}

// eachPosting yields the postings of a group that appendPosting stored. It fails with
// ErrDamaged, after those that come before the damage.
func eachPosting(group int32, data []byte, yield func(posting)) error {
	for len(data) >= 2 {
		stored := binary.LittleEndian.Uint16(data)
		data = data[2:]
		p := posting{slot: group<<groupBits + int32(stored>>bodyBits), counts: counts{body: uint8(stored & (bodyLimit - 1))}}
		if p.body == 0 {
			if len(data) < 3 || data[0]|data[1]|data[2] == 0 {
				return ErrDamaged
			}
			p.title, p.headings, p.body = data[0], data[1], data[2]
			data = data[3:]
		}
		yield(p)
	}
	if len(data) != 0 {
		return ErrDamaged
	}
	return nil
}

// listBuilder makes a list of groups that come in order, a group in one or more parts:
// for each its number, less that of the one before, its size in bytes, its postings.
type listBuilder struct {
	list     []byte
	last     int32 // number of the last finished group
	number   int32 // of the group at hand
	postings []byte
}

func (b *listBuilder) addGroup(number int32, postings []byte) {
	if number != b.number {
		b.encodeList()
		b.number = number
	}
	b.postings = append(b.postings, postings...)
}

// encodeList returns the list with the group at hand.
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
		list.addGroup(p.slot>>groupBits, one)
	}
	return list.encodeList()
}

// eachGroup reads a list: the number of each group and its postings.
func eachGroup(data []byte, yield func(number int32, postings []byte)) error {
	number := uint64(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		if n <= 0 {
			return ErrDamaged
		}
		size, m := binary.Uvarint(data[n:])
		if m <= 0 || size > uint64(len(data)-n-m) {
			return ErrDamaged
		}
		number += gap
		if number >= 1<<(31-groupBits) {
			return ErrDamaged
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
			return ErrDamaged
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
		return nil, nil, ErrDamaged
	}
	return data[n : n+int(size)], data[n+int(size):], nil
}

// page is a row of the table page.
type page struct {
	first   string // term
	entries []byte
}

// paginator puts entries that come in order of term into pages.
type paginator struct {
	size    int // bytes from which a page is full
	pages   []page
	current page
	bytes   int64 // of all pages
}

func (p *paginator) addEntry(e entry) {
	if len(p.current.entries) > 0 && len(p.current.entries)+len(e.list) > p.size {
		p.flushPage()
	}
	if len(p.current.entries) == 0 {
		p.current.first = e.term
	}
	p.current.entries = appendEntry(p.current.entries, e)
}

func (p *paginator) flushPage() {
	if len(p.current.entries) > 0 {
		p.bytes += int64(len(p.current.entries))
		p.current.entries = slices.Clip(p.current.entries)
		p.pages = append(p.pages, p.current)
		p.current = page{}
	}
}

// takePages returns the pages that are full, and forgets them.
func (p *paginator) takePages() []page {
	full := p.pages
	p.pages = nil
	return full
}
