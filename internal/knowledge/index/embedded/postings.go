package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cairn/internal/knowledge/lexical"
)

// blockBits: slots with the same high bits are a block, and have their postings of
// a term in one row.
const (
	blockBits = 14
	blockSize = 1 << blockBits
)

// bodyBits is what is left beside a slot in 16 bits for the count in the body.
const (
	bodyBits  = 16 - blockBits
	bodyLimit = 1 << bodyBits
)

// posting says how often one passage contains a term.
type posting struct {
	slot                  uint16 // within its block
	title, headings, body uint8  // 255 stands for 255 and more
}

var errPostings = errors.New("damaged posting list")

// appendPostings adds the form stored in the file: two bytes a posting (slot, then
// the count in the body), and if that count is 0, being too large or not the body's
// alone, three more (title, headings, body). Lists in order of slot can be put
// behind one another.
func appendPostings(data []byte, list []posting) []byte {
	for _, p := range list {
		entry := p.slot << bodyBits
		if p.title == 0 && p.headings == 0 && p.body < bodyLimit {
			data = binary.LittleEndian.AppendUint16(data, entry|uint16(p.body))
		} else {
			data = binary.LittleEndian.AppendUint16(data, entry)
			data = append(data, p.title, p.headings, p.body)
		}
	}
	return data
}

// decodePostings gives the postings that appendPostings stored.
func decodePostings(data []byte) ([]posting, error) {
	list := make([]posting, 0, len(data)/2)
	err := eachPosting(data, func(p posting) { list = append(list, p) })
	return list, err
}

func eachPosting(data []byte, yield func(posting)) error {
	for len(data) >= 2 {
		entry := binary.LittleEndian.Uint16(data)
		data = data[2:]
		p := posting{slot: entry >> bodyBits, body: uint8(entry & (bodyLimit - 1))}
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

// fields are the analysed fields of a passage.
type fields struct {
	title, headings, body []string
}

func analyze(title string, headings []string, text string) fields {
	f := fields{title: lexical.Analyze(title), body: lexical.Analyze(text)}
	for _, heading := range headings {
		f.headings = append(f.headings, lexical.Analyze(heading)...)
	}
	return f
}

// counts gives how often each term stands in which field; the slot is left at 0.
func (f fields) counts() map[string]posting {
	counts := make(map[string]posting, len(f.body))
	for _, term := range f.title {
		p := counts[term]
		p.title = increment(p.title)
		counts[term] = p
	}
	for _, term := range f.headings {
		p := counts[term]
		p.headings = increment(p.headings)
		counts[term] = p
	}
	for _, term := range f.body {
		p := counts[term]
		p.body = increment(p.body)
		counts[term] = p
	}
	return counts
}

func increment(n uint8) uint8 {
	if n == 255 {
		return n
	}
	return n + 1
}

// postingEdits gathers what a write changes in the posting lists.
type postingEdits map[int64]map[string]*postingEdit // by block and term

type postingEdit struct {
	remove []uint16
	add    []posting
}

func (e postingEdits) at(slot int64, term string) *postingEdit {
	block := slot >> blockBits
	terms, ok := e[block]
	if !ok {
		terms = make(map[string]*postingEdit)
		e[block] = terms
	}
	edit, ok := terms[term]
	if !ok {
		edit = &postingEdit{}
		terms[term] = edit
	}
	return edit
}

func (e postingEdits) add(slot int64, f fields) {
	for term, p := range f.counts() {
		p.slot = uint16(slot & (blockSize - 1))
		edit := e.at(slot, term)
		edit.add = append(edit.add, p)
	}
}

func (e postingEdits) remove(slot int64, f fields) {
	for term := range f.counts() {
		edit := e.at(slot, term)
		edit.remove = append(edit.remove, uint16(slot&(blockSize-1)))
	}
}

// change gives the list after the edit. Every removed posting must have been there.
func (e *postingEdit) change(list []posting) ([]posting, error) {
	if len(e.remove) > 0 {
		slices.Sort(e.remove)
		before := len(list)
		list = slices.DeleteFunc(list, func(p posting) bool {
			_, found := slices.BinarySearch(e.remove, p.slot)
			return found
		})
		if before-len(list) != len(e.remove) {
			return nil, fmt.Errorf("%w: a passage is missing", errPostings)
		}
	}
	list = append(list, e.add...)
	slices.SortFunc(list, func(a, b posting) int { return int(a.slot) - int(b.slot) })
	for i := 1; i < len(list); i++ {
		if list[i].slot == list[i-1].slot {
			return nil, fmt.Errorf("%w: a passage stands twice", errPostings)
		}
	}
	return list, nil
}

// appends says whether the edit only adds postings of slots from a number on, which
// come behind all that the list holds.
func (e *postingEdit) appends(block, unused int64) bool {
	return len(e.remove) == 0 && block<<blockBits+int64(e.add[0].slot) >= unused
}

// postingWriter applies edits in a transaction.
type postingWriter struct {
	*statements
	unused int64 // no list holds a slot from here on
}

// apply writes the edits in the order of the table, which keeps writes local.
func (w postingWriter) apply(ctx context.Context, edits postingEdits) error {
	for _, block := range slices.Sorted(maps.Keys(edits)) {
		terms := edits[block]
		for _, term := range slices.Sorted(maps.Keys(terms)) {
			if err := w.applyOne(ctx, block, term, terms[term]); err != nil {
				return fmt.Errorf("change the postings of %q: %w", term, err)
			}
		}
	}
	return nil
}

func (w postingWriter) applyOne(ctx context.Context, block int64, term string, edit *postingEdit) error {
	slices.SortFunc(edit.add, func(a, b posting) int { return int(a.slot) - int(b.slot) })
	if edit.appends(block, w.unused) {
		return w.append(ctx, block, term, edit.add)
	}
	var data []byte
	err := w.queryRow(ctx, "SELECT postings FROM posting WHERE block = ? AND term = ?", block, term).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) && len(edit.remove) == 0 {
		return w.append(ctx, block, term, edit.add)
	}
	if err != nil {
		return err
	}
	list, err := decodePostings(data)
	if err != nil {
		return err
	}
	if list, err = edit.change(list); err != nil {
		return err
	}
	if len(list) == 0 {
		return w.remove(ctx, block, term)
	}
	return w.exec(ctx, "UPDATE posting SET passages = ?, postings = ? WHERE block = ? AND term = ?",
		len(list), appendPostings(nil, list), block, term)
}

// SQLite makes text of what it joins; the cast takes its bytes as they are.
const appendToList = `UPDATE posting SET passages = passages + ?, postings = CAST(postings || ? AS BLOB) WHERE block = ? AND term = ?`

// append puts postings behind those of a list, which may not be there yet. An UPDATE
// and then, rarely, an INSERT take half the time of an upsert, for which SQLite keeps
// a journal of the statement.
func (w postingWriter) append(ctx context.Context, block int64, term string, list []posting) error {
	data := appendPostings(nil, list)
	if found, err := w.update(ctx, appendToList, len(list), data, block, term); err != nil || found {
		return err
	}
	if err := w.exec(ctx, "INSERT INTO posting (block, term, passages, postings) VALUES (?, ?, ?, ?)", block, term, len(list), data); err != nil {
		return err
	}
	if found, err := w.update(ctx, "UPDATE term SET blocks = blocks + 1 WHERE text = ?", term); err != nil || found {
		return err
	}
	return w.exec(ctx, "INSERT INTO term (text, blocks) VALUES (?, 1)", term)
}

// remove deletes the list of a term that no passage of a block contains any more.
func (w postingWriter) remove(ctx context.Context, block int64, term string) error {
	if err := w.exec(ctx, "DELETE FROM posting WHERE block = ? AND term = ?", block, term); err != nil {
		return err
	}
	if err := w.exec(ctx, "UPDATE term SET blocks = blocks - 1 WHERE text = ?", term); err != nil {
		return err
	}
	return w.exec(ctx, "DELETE FROM term WHERE text = ? AND blocks = 0", term)
}
