package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cairn/internal/knowledge/index/ranking"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/language"
)

// appendPostings adds the stored form of postings that are in order of slot.
func appendPostings(data []byte, list []ranking.Posting) []byte {
	for _, p := range list {
		data = ranking.AppendPosting(data, p)
	}
	return data
}

// decodePostings returns the postings that appendPostings stored.
func decodePostings(data []byte) ([]ranking.Posting, error) {
	list := make([]ranking.Posting, 0, len(data)/2)
	err := ranking.EachPosting(data, func(p ranking.Posting) { list = append(list, p) })
	return list, err
}

// fields are the analysed fields of a passage.
type fields struct {
	title, headings, body []string
	names                 []string // in the headings, beside their words; they add nothing to the length
}

func analyzePassage(tag language.Tag, title string, headings []string, text string) fields {
	f := fields{title: lexical.AnalyzeIn(tag, title), body: lexical.AnalyzeIn(tag, text), names: lexical.Names(title, headings)}
	for _, heading := range headings {
		f.headings = append(f.headings, lexical.AnalyzeIn(tag, heading)...)
	}
	return f
}

// countTerms returns how often each term stands in which field.
func (f fields) countTerms() map[string]ranking.Counts {
	counts := make(map[string]ranking.Counts, len(f.body))
	for _, term := range f.title {
		c := counts[term]
		ranking.Increment(&c.Title)
		counts[term] = c
	}
	for _, term := range slices.Concat(f.headings, f.names) {
		c := counts[term]
		ranking.Increment(&c.Headings)
		counts[term] = c
	}
	for _, term := range f.body {
		c := counts[term]
		ranking.Increment(&c.Body)
		counts[term] = c
	}
	return counts
}

// postingEdits gathers what a write changes in the posting lists.
type postingEdits map[int64]map[string]*postingEdit // by block and term

type postingEdit struct {
	remove []uint16
	add    []ranking.Posting
}

func (e postingEdits) editOf(slot int64, term string) *postingEdit {
	block := slot >> ranking.BlockBits
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

func (e postingEdits) addPassage(slot int64, f fields) {
	for term, counts := range f.countTerms() {
		edit := e.editOf(slot, term)
		edit.add = append(edit.add, ranking.Posting{Slot: uint16(slot & (ranking.BlockSize - 1)), Counts: counts})
	}
}

func (e postingEdits) removePassage(slot int64, f fields) {
	for term := range f.countTerms() {
		edit := e.editOf(slot, term)
		edit.remove = append(edit.remove, uint16(slot&(ranking.BlockSize-1)))
	}
}

// applyTo returns the list after the edit. Every removed posting must have been there.
func (e *postingEdit) applyTo(list []ranking.Posting) ([]ranking.Posting, error) {
	if len(e.remove) > 0 {
		slices.Sort(e.remove)
		before := len(list)
		list = slices.DeleteFunc(list, func(p ranking.Posting) bool {
			_, found := slices.BinarySearch(e.remove, p.Slot)
			return found
		})
		if before-len(list) != len(e.remove) {
			return nil, fmt.Errorf("%w: a passage is missing", ranking.ErrDamaged)
		}
	}
	list = append(list, e.add...)
	slices.SortFunc(list, func(a, b ranking.Posting) int { return int(a.Slot) - int(b.Slot) })
	for i := 1; i < len(list); i++ {
		if list[i].Slot == list[i-1].Slot {
			return nil, fmt.Errorf("%w: duplicate passage", ranking.ErrDamaged)
		}
	}
	return list, nil
}

// onlyAppends reports whether the edit only adds postings of slots from a number on, which
// come behind all that the list holds.
func (e *postingEdit) onlyAppends(block, unused int64) bool {
	return len(e.remove) == 0 && block<<ranking.BlockBits+int64(e.add[0].Slot) >= unused
}

// postingWriter applies edits in a transaction.
type postingWriter struct {
	*statements
	unused int64 // no list holds a slot from here on
}

// applyEdits writes the edits in the order of the table, which keeps writes local.
func (w postingWriter) applyEdits(ctx context.Context, edits postingEdits) error {
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
	slices.SortFunc(edit.add, func(a, b ranking.Posting) int { return int(a.Slot) - int(b.Slot) })
	if edit.onlyAppends(block, w.unused) {
		return w.appendList(ctx, block, term, edit.add)
	}
	var data []byte
	err := w.queryRow(ctx, "SELECT postings FROM posting WHERE block = ? AND term = ?", block, term).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) && len(edit.remove) == 0 {
		return w.appendList(ctx, block, term, edit.add)
	}
	if err != nil {
		return err
	}
	list, err := decodePostings(data)
	if err != nil {
		return err
	}
	if list, err = edit.applyTo(list); err != nil {
		return err
	}
	if len(list) == 0 {
		return w.removeList(ctx, block, term)
	}
	return w.execStatement(ctx, "UPDATE posting SET passages = ?, postings = ? WHERE block = ? AND term = ?",
		len(list), appendPostings(nil, list), block, term)
}

// SQLite makes text of what it joins; the cast takes its bytes as they are.
const appendToList = `UPDATE posting SET passages = passages + ?, postings = CAST(postings || ? AS BLOB) WHERE block = ? AND term = ?`

// appendList puts postings behind those of a list, which may not be there yet. An UPDATE
// and then, rarely, an INSERT take half the time of an upsert, for which SQLite keeps
// a journal of the statement.
func (w postingWriter) appendList(ctx context.Context, block int64, term string, list []ranking.Posting) error {
	data := appendPostings(nil, list)
	if found, err := w.execUpdate(ctx, appendToList, len(list), data, block, term); err != nil || found {
		return err
	}
	if err := w.execStatement(ctx, "INSERT INTO posting (block, term, passages, postings) VALUES (?, ?, ?, ?)", block, term, len(list), data); err != nil {
		return err
	}
	if found, err := w.execUpdate(ctx, "UPDATE term SET blocks = blocks + 1 WHERE text = ?", term); err != nil || found {
		return err
	}
	return w.execStatement(ctx, "INSERT INTO term (text, blocks) VALUES (?, 1)", term)
}

// removeList deletes the list of a term that no passage of a block contains any more.
func (w postingWriter) removeList(ctx context.Context, block int64, term string) error {
	if err := w.execStatement(ctx, "DELETE FROM posting WHERE block = ? AND term = ?", block, term); err != nil {
		return err
	}
	if err := w.execStatement(ctx, "UPDATE term SET blocks = blocks - 1 WHERE text = ?", term); err != nil {
		return err
	}
	return w.execStatement(ctx, "DELETE FROM term WHERE text = ? AND blocks = 0", term)
}
