package ranking

import (
	"encoding/binary"
	"errors"
)

// BlockBits: slots, the places that a backend has for passages, with the same high bits
// are a block. Postings are kept by block, so that blocks can be ranked one by one, and
// changed or skipped on their own.
const (
	BlockBits = 14
	BlockSize = 1 << BlockBits
)

// bodyBits is what is left beside a slot in 16 bits for the count in the body.
const (
	bodyBits  = 16 - BlockBits
	bodyLimit = 1 << bodyBits
)

// Posting says how often one passage contains a term.
type Posting struct {
	Slot uint16 // within its block
	Counts
}

// Counts are how often a term stands in each field of a passage, at least once in one
// of them; 255 stands for 255 and more.
type Counts struct {
	Title, Headings, Body uint8
}

// Increment counts once more in a field of Counts.
func Increment(field *uint8) {
	if *field < 255 {
		*field++
	}
}

// ErrDamaged says that stored bytes are no postings.
var ErrDamaged = errors.New("damaged posting list")

// AppendPosting adds the stored form of a posting: two bytes (slot, then the count in the
// body), and if that count is 0, being too large or not the body's alone, three more
// (title, headings, body). Postings of a block in order of slot can be put behind one
// another.
func AppendPosting(data []byte, p Posting) []byte {
	entry := p.Slot << bodyBits
	if p.Title == 0 && p.Headings == 0 && p.Body < bodyLimit {
		return binary.LittleEndian.AppendUint16(data, entry|uint16(p.Body))
	}
	data = binary.LittleEndian.AppendUint16(data, entry)
	return append(data, p.Title, p.Headings, p.Body)
}

// EachPosting yields the postings that AppendPosting stored. It fails with ErrDamaged, after those
// that come before the damage.
func EachPosting(data []byte, yield func(Posting)) error {
	for len(data) >= 2 {
		entry := binary.LittleEndian.Uint16(data)
		data = data[2:]
		p := Posting{Slot: entry >> bodyBits, Counts: Counts{Body: uint8(entry & (bodyLimit - 1))}}
		if p.Body == 0 {
			if len(data) < 3 || data[0]|data[1]|data[2] == 0 {
				return ErrDamaged
			}
			p.Title, p.Headings, p.Body = data[0], data[1], data[2]
			data = data[3:]
		}
		yield(p)
	}
	if len(data) != 0 {
		return ErrDamaged
	}
	return nil
}
