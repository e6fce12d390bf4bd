package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/language"
)

// batchWrite is one write transaction. It first finds out what goes where, then
// analyses all texts that come or go on all cores, then writes.
type batchWrite struct {
	*statements
	generation int64
	free       []int64 // slots to use again
	unused     int64   // the first slot that no passage ever had
	next       int64   // the first that none has now either
	leaving    []removedPassage
	placed     []placedPassage
}

// removedPassage are words that are taken out of the posting lists of a slot.
type removedPassage struct {
	slot            int64
	title, headings string // headings as stored
	language        language.Tag
	text            string
	words           fields
}

// placedPassage is a passage and the slot it goes to.
type placedPassage struct {
	document int64 // row id
	title    string
	language language.Tag
	passage  knowledge.Passage
	headings string // as stored
	slot     int64
	kept     bool  // the slot was this passage's before, and with it its vectors
	same     bool  // so were the words
	donor    int64 // a slot whose vectors are copied, or -1
	words    fields
}

func (w *batchWrite) writeBatch(ctx context.Context, batch index.Batch) error {
	if err := w.loadFree(ctx, batch); err != nil {
		return fmt.Errorf("find free slots: %w", err)
	}
	for _, id := range batch.Delete {
		if err := w.removeDocument(ctx, id); err != nil {
			return fmt.Errorf("delete %s: %w", id, err)
		}
	}
	for _, entry := range batch.Put {
		if err := w.assignSlots(ctx, entry); err != nil {
			return fmt.Errorf("put %s: %w", entry.Document.ID, err)
		}
	}
	if err := w.putPassages(ctx); err != nil {
		return err
	}
	for _, document := range batch.Seen {
		if err := w.execStatement(ctx, "UPDATE document SET last_seen = ? WHERE key = ?", nullMicros(document.LastSeen), document.ID); err != nil {
			return fmt.Errorf("mark %s as seen: %w", document.ID, err)
		}
	}
	for source, cursor := range batch.Cursors {
		if err := w.execStatement(ctx, "INSERT OR REPLACE INTO cursor VALUES (?, ?)", source, cursor); err != nil {
			return fmt.Errorf("advance cursor of %s: %w", source, err)
		}
	}
	return nil
}

// loadFree finds the slots that the batch can use again, and the first unused one.
func (w *batchWrite) loadFree(ctx context.Context, batch index.Batch) error {
	passages := 0
	for _, entry := range batch.Put {
		passages += len(entry.Passages)
	}
	free, err := queryInts(ctx, w.tx, "SELECT slot FROM slot WHERE document IS NULL ORDER BY slot LIMIT ?", passages)
	if err != nil {
		return err
	}
	slices.Reverse(free) // the lowest is taken first
	w.free = free
	err = w.queryRow(ctx, "SELECT coalesce(max(slot) + 1, 0) FROM slot").Scan(&w.unused)
	w.next = w.unused
	return err
}

func (w *batchWrite) takeSlot() int64 {
	if n := len(w.free); n > 0 {
		slot := w.free[n-1]
		w.free = w.free[:n-1]
		return slot
	}
	w.next++
	return w.next - 1
}

// storedPassage is a passage as it was before the write.
type storedPassage struct {
	slot                 int64
	hash, headings, text string
}

// storedDocument is a document as it was before the write; id is 0 if it was not there.
type storedDocument struct {
	id       int64
	title    string
	language language.Tag
	passages []storedPassage
}

func (w *batchWrite) loadDocument(ctx context.Context, key knowledge.DocumentID) (storedDocument, error) {
	var d storedDocument
	var tag string
	err := w.queryRow(ctx, "SELECT id, title, language FROM document WHERE key = ?", key).Scan(&d.id, &d.title, &tag)
	if errors.Is(err, sql.ErrNoRows) {
		return storedDocument{}, nil
	}
	if err != nil {
		return storedDocument{}, err
	}
	d.language = language.Parse(tag)
	rows, err := w.queryRows(ctx, "SELECT slot, hash, headings, text FROM passage WHERE document = ? ORDER BY position", d.id)
	if err != nil {
		return storedDocument{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var p storedPassage
		if err := rows.Scan(&p.slot, &p.hash, &p.headings, &p.text); err != nil {
			return storedDocument{}, err
		}
		d.passages = append(d.passages, p)
	}
	return d, rows.Err()
}

func (w *batchWrite) removeDocument(ctx context.Context, key knowledge.DocumentID) error {
	document, err := w.loadDocument(ctx, key)
	if err != nil || document.id == 0 {
		return err
	}
	for _, p := range document.passages {
		if err := w.freeSlot(ctx, document, p); err != nil {
			return err
		}
	}
	if err := w.execStatement(ctx, "DELETE FROM passage WHERE document = ?", document.id); err != nil {
		return err
	}
	return w.execStatement(ctx, "DELETE FROM document WHERE id = ?", document.id)
}

// freeSlot forgets all that is kept under a slot but its passage row.
func (w *batchWrite) freeSlot(ctx context.Context, document storedDocument, p storedPassage) error {
	w.recordLeaving(document, p)
	w.free = append(w.free, p.slot)
	for _, query := range []string{"DELETE FROM definition WHERE slot = ?", "DELETE FROM vector WHERE slot = ?"} {
		if err := w.execStatement(ctx, query, p.slot); err != nil {
			return err
		}
	}
	return w.execStatement(ctx, `UPDATE slot SET generation = ?, document = NULL, position = 0,
		title_terms = 0, heading_terms = 0, body_terms = 0, signs = NULL WHERE slot = ?`, w.generation, p.slot)
}

func (w *batchWrite) recordLeaving(document storedDocument, p storedPassage) {
	w.leaving = append(w.leaving, removedPassage{slot: p.slot, title: document.title, language: document.language, headings: p.headings, text: p.text})
}

// assignSlots replaces a document up to its passages, and decides where they go. A passage
// whose hash was stored keeps its slot, and with it its vectors; if its words are
// the same too, its postings stay untouched.
func (w *batchWrite) assignSlots(ctx context.Context, entry index.Entry) error {
	old, err := w.loadDocument(ctx, entry.Document.ID)
	if err != nil {
		return err
	}
	id, err := w.putDocument(ctx, old.id, entry.Document)
	if err != nil {
		return err
	}
	matches := matchHashes(old.passages, entry.Passages)
	for _, p := range matches.left {
		if err := w.freeSlot(ctx, old, p); err != nil {
			return err
		}
	}
	if err := w.execStatement(ctx, "DELETE FROM passage WHERE document = ?", id); err != nil {
		return err
	}
	for i, passage := range entry.Passages {
		headings, err := json.Marshal(append([]string{}, passage.Headings...))
		if err != nil {
			return fmt.Errorf("headings of passage %d: %w", passage.Position, err)
		}
		p := placedPassage{
			document: id, title: entry.Document.Title, language: language.Parse(entry.Document.Language),
			passage: passage, headings: string(headings), donor: matches.donors[i],
		}
		if before := matches.kept[i]; before != nil {
			p.slot, p.kept = before.slot, true
			p.same = before.text == passage.Text && before.headings == p.headings &&
				old.title == p.title && old.language == p.language
			if !p.same {
				w.recordLeaving(old, *before)
			}
		} else {
			p.slot = w.takeSlot()
		}
		w.placed = append(w.placed, p)
	}
	return nil
}

// passageMatches says what becomes of the stored passages of a document.
type passageMatches struct {
	kept []*storedPassage // for each new passage the stored one of the same hash, or nil
	// donors are for the others the slot of a passage of the same hash that is kept
	// for another (what stood there once stands there twice), or -1.
	donors []int64
	left   []storedPassage // stored passages that no new one is equal to
}

func matchHashes(old []storedPassage, passages []knowledge.Passage) passageMatches {
	byHash := make(map[string][]*storedPassage)
	first := make(map[string]int64)
	for i := range old {
		p := &old[i]
		if len(byHash[p.hash]) == 0 {
			first[p.hash] = p.slot
		}
		byHash[p.hash] = append(byHash[p.hash], p)
	}
	m := passageMatches{kept: make([]*storedPassage, len(passages)), donors: make([]int64, len(passages))}
	for i, passage := range passages {
		m.donors[i] = -1
		if same := byHash[passage.Hash]; len(same) > 0 {
			m.kept[i], byHash[passage.Hash] = same[0], same[1:]
		} else if slot, ok := first[passage.Hash]; ok {
			m.donors[i] = slot
		}
	}
	for i := range old {
		if slices.Contains(byHash[old[i].hash], &old[i]) {
			m.left = append(m.left, old[i])
		}
	}
	return m
}

const updateDocument = `UPDATE document SET generation = ?, source = ?, kind = ?, path = ?, title = ?, url = ?, owner = ?,
	language = ?, modified = ?, indexed = ?, last_seen = ?, hash = ?, audience = ?, state = ? WHERE key = ? RETURNING id`

const insertDocument = `INSERT INTO document (generation, source, kind, path, title, url, owner,
	language, modified, indexed, last_seen, hash, audience, state, key)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`

// putDocument writes the row of a document, whose id is 0 if it has none, and gives its id.
func (w *batchWrite) putDocument(ctx context.Context, id int64, d knowledge.Document) (int64, error) {
	query := updateDocument
	if id == 0 {
		query = insertDocument
	}
	class := index.ClassOf(d)
	err := w.queryRow(ctx, query, w.generation, class.Source, class.Kind, d.Path, d.Title, d.URL, d.Owner, d.Language,
		nullMicros(d.Modified), nullMicros(d.Indexed), nullMicros(d.LastSeen), d.Hash, class.Audience, d.State, d.ID).Scan(&id)
	return id, err
}

// batchPassages is how many passages come or go at a time: their terms and the changes of the
// posting lists take many times the memory of their text.
const batchPassages = 2048

// putPassages writes the passages that come, and changes the posting lists by those that
// go, first, and come.
func (w *batchWrite) putPassages(ctx context.Context) error {
	leaving, placed := w.leaving, w.placed
	for len(leaving)+len(placed) > 0 {
		out := leaving[:min(len(leaving), batchPassages)]
		in := placed[:min(len(placed), batchPassages-len(out))]
		leaving, placed = leaving[len(out):], placed[len(in):]
		if err := analyzeAll(out, in); err != nil {
			return err
		}
		for _, p := range in {
			if err := w.putPassage(ctx, p); err != nil {
				return fmt.Errorf("put passage %s: %w", p.passage.ID, err)
			}
		}
		if err := (postingWriter{w.statements, w.unused}).applyEdits(ctx, collectEdits(out, in)); err != nil {
			return err
		}
		clear(out)
		clear(in)
	}
	return nil
}

// analyzeAll cuts all texts that go or come into terms.
func analyzeAll(leaving []removedPassage, placed []placedPassage) error {
	errs := make([]error, len(leaving))
	inParallel(len(leaving), func(i int) {
		l := &leaving[i]
		var headings []string
		if errs[i] = json.Unmarshal([]byte(l.headings), &headings); errs[i] == nil {
			l.words = analyzePassage(l.language, l.title, headings, l.text)
		}
	})
	inParallel(len(placed), func(i int) {
		if p := &placed[i]; !p.same {
			p.words = analyzePassage(p.language, p.title, p.passage.Headings, p.passage.Text)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("read stored headings: %w", err)
	}
	return nil
}

// inParallel calls work for 0 to n-1 on all cores and waits for the end.
func inParallel(n int, work func(i int)) {
	var workers sync.WaitGroup
	parts := min(n, runtime.GOMAXPROCS(0))
	for part := range parts {
		workers.Go(func() {
			for i := part; i < n; i += parts {
				work(i)
			}
		})
	}
	workers.Wait()
}

// collectEdits returns what changes in the posting lists.
func collectEdits(leaving []removedPassage, placed []placedPassage) postingEdits {
	edits := make(postingEdits)
	for _, l := range leaving {
		edits.removePassage(l.slot, l.words)
	}
	for _, p := range placed {
		if !p.same {
			edits.addPassage(p.slot, p.words)
		}
	}
	return edits
}

const insertSlot = `INSERT INTO slot (generation, document, position, title_terms, heading_terms, body_terms, slot)
	VALUES (?, ?, ?, ?, ?, ?, ?)`

const updateSlot = `UPDATE slot SET generation = ?, document = ?, position = ?, title_terms = ?, heading_terms = ?, body_terms = ?
	WHERE slot = ?`

// putSlot writes the row of a passage's slot. One that was used before has a row.
func (w *batchWrite) putSlot(ctx context.Context, p placedPassage) error {
	if p.same {
		return w.execStatement(ctx, "UPDATE slot SET generation = ?, position = ? WHERE slot = ?", w.generation, p.passage.Position, p.slot)
	}
	query := insertSlot
	if p.slot < w.unused {
		query = updateSlot
	}
	return w.execStatement(ctx, query, w.generation, p.document, p.passage.Position,
		len(p.words.title), len(p.words.headings), len(p.words.body), p.slot)
}

func (w *batchWrite) putPassage(ctx context.Context, place placedPassage) error {
	p := place.passage
	if err := w.putSlot(ctx, place); err != nil {
		return err
	}
	err := w.execStatement(ctx, "INSERT INTO passage (slot, document, position, headings, anchor, text, tokens, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		place.slot, place.document, p.Position, place.headings, p.Anchor, p.Text, p.Tokens, p.Hash)
	if err != nil {
		return err
	}
	if place.donor >= 0 {
		if err := w.copyVectors(ctx, place.donor, place.slot); err != nil {
			return err
		}
	}
	if place.kept {
		if err := w.execStatement(ctx, "DELETE FROM definition WHERE slot = ?", place.slot); err != nil {
			return err
		}
	}
	for _, d := range p.Definitions {
		err := w.execStatement(ctx, "INSERT INTO definition (slot, folded, short, long) VALUES (?, ?, ?, ?)",
			place.slot, strings.ToLower(d.Short), d.Short, d.Long)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *batchWrite) copyVectors(ctx context.Context, from, to int64) error {
	if err := w.execStatement(ctx, "INSERT INTO vector SELECT ?, halves FROM vector WHERE slot = ?", to, from); err != nil {
		return err
	}
	return w.execStatement(ctx, "UPDATE slot SET signs = (SELECT signs FROM slot WHERE slot = ?) WHERE slot = ?", from, to)
}

func nullMicros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

func fromMicros(t sql.NullInt64) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return time.UnixMicro(t.Int64).UTC()
}
