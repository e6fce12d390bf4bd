package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/language"
)

// batchWrite is one write transaction. It reads what is there of the documents named,
// decides what goes where, analyses all texts that come or go on all cores, and then
// takes rows away and copies others in, a few statements for the whole batch.
type batchWrite struct {
	tx       pgx.Tx
	pageSize int

	generation   int64
	nextSlot     int32
	nextDocument int32
	segment      int32

	classes   map[index.Class]int32
	stored    map[knowledge.DocumentID]storedDocument
	documents []placedDocument
	placed    []placedPassage
	leaving   []removedPassage
	moved     []vectorMove

	// What analyzeTexts finds, in the order of placed and leaving.
	placedWords, leavingWords []analysedPassage
}

// removedPassage is a passage whose words are taken out of the counts.
type removedPassage struct {
	slot     int32
	title    string
	language language.Tag
	headings []string
	text     string
}

type placedDocument struct {
	id, class int32
	document  knowledge.Document
	changed   bool // it was there, with another class
}

// placedPassage is a passage and the slot it goes to.
type placedPassage struct {
	document, class int32
	title           string
	language        language.Tag
	passage         knowledge.Passage
	headings        string // as stored
	slot            int32
	same            bool           // the slot was this passage's before: its lists and vectors stay
	lengths         lexical.Counts // how many terms each field has, if same
}

// vectorMove copies the vectors of one slot to another.
type vectorMove struct{ from, to int32 }

func (w *batchWrite) writeBatch(ctx context.Context, batch index.Batch) error {
	err := w.tx.QueryRow(ctx, `UPDATE cairn.meta SET generation = generation + 1, next_segment = next_segment + 1
		RETURNING generation, next_slot, next_document, next_segment - 1`).Scan(&w.generation, &w.nextSlot, &w.nextDocument, &w.segment)
	if err != nil {
		return err
	}
	if err := w.loadStored(ctx, batch); err != nil {
		return fmt.Errorf("read what is stored: %w", err)
	}
	if err := w.ensureClasses(ctx, batch.Put); err != nil {
		return fmt.Errorf("store classes: %w", err)
	}
	for _, entry := range batch.Put {
		if err := w.assignSlots(entry); err != nil {
			return fmt.Errorf("put %s: %w", entry.Document.ID, err)
		}
	}
	for _, id := range batch.Delete {
		for _, p := range w.stored[id].passages {
			if err := w.recordLeaving(w.stored[id], p); err != nil {
				return fmt.Errorf("delete %s: %w", id, err)
			}
		}
	}
	// The texts are analysed while the server takes them.
	var analysis sync.WaitGroup
	analysis.Go(w.analyzeTexts)
	if err = w.changeVectors(ctx); err == nil {
		err = w.replaceRows(ctx, batch)
	}
	analysis.Wait()
	if err != nil {
		return err
	}
	if err := w.copySlots(ctx); err != nil {
		return err
	}
	if err := w.writeSegment(ctx); err != nil {
		return fmt.Errorf("write posting lists: %w", err)
	}
	return w.writeMarks(ctx, batch)
}

// storedPassage is a passage as it was before the write.
type storedPassage struct {
	slot                 int32
	hash, headings, text string
	lengths              lexical.Counts
}

// storedDocument is a document as it was before the write; id is 0 if it was not there.
type storedDocument struct {
	id, class int32
	title     string
	language  language.Tag
	passages  []storedPassage
}

func (w *batchWrite) loadStored(ctx context.Context, batch index.Batch) error {
	var keys [][]byte
	for _, entry := range batch.Put {
		keys = append(keys, []byte(entry.Document.ID))
	}
	for _, id := range batch.Delete {
		keys = append(keys, []byte(id))
	}
	w.stored = make(map[knowledge.DocumentID]storedDocument)
	if len(keys) == 0 {
		return nil
	}
	rows, err := w.tx.Query(ctx, `SELECT key, id, class, title, language, slot, coalesce(hash, ''), coalesce(headings, ''), coalesce(text, ''),
			coalesce(title_terms, 0), coalesce(heading_terms, 0), coalesce(body_terms, 0)
		FROM (SELECT key, id, class, title, language FROM cairn.document WHERE key = ANY ($1)) d
		LEFT JOIN (cairn.slot JOIN cairn.passage USING (slot)) ON document = id ORDER BY id, position`, keys)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key, title, tag, hash, headings, text []byte
		var d storedDocument
		var slot *int32
		var lengths lexical.Counts
		err := rows.Scan(&key, &d.id, &d.class, &title, &tag, &slot, &hash, &headings, &text, &lengths.Title, &lengths.Headings, &lengths.Body)
		if err != nil {
			return err
		}
		if known, ok := w.stored[knowledge.DocumentID(key)]; ok {
			d = known
		}
		d.title, d.language = string(title), language.Parse(string(tag))
		if slot != nil {
			d.passages = append(d.passages, storedPassage{slot: *slot, hash: string(hash), headings: string(headings), text: string(text), lengths: lengths})
		}
		w.stored[knowledge.DocumentID(key)] = d
	}
	return rows.Err()
}

// ensureClasses finds or makes the number of each class of the batch.
func (w *batchWrite) ensureClasses(ctx context.Context, entries []index.Entry) error {
	w.classes = make(map[index.Class]int32)
	for _, entry := range entries {
		w.classes[index.ClassOf(entry.Document)] = 0
	}
	for c := range w.classes {
		arguments := []any{[]byte(c.Source), []byte(c.Kind), []byte(c.Audience)}
		var id int32
		const find = "SELECT id FROM cairn.class WHERE source = $1 AND kind = $2 AND sha256(audience) = sha256($3)"
		err := w.tx.QueryRow(ctx, find, arguments...).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) { // an insert that meets a conflict would use up a number
			const insert = "INSERT INTO cairn.class (source, kind, audience) VALUES ($1, $2, $3) RETURNING id"
			err = w.tx.QueryRow(ctx, insert, arguments...).Scan(&id)
		}
		if err != nil {
			return err
		}
		w.classes[c] = id
	}
	return nil
}

func (w *batchWrite) recordLeaving(document storedDocument, p storedPassage) error {
	l := removedPassage{slot: p.slot, title: document.title, language: document.language, text: p.text}
	if err := json.Unmarshal([]byte(p.headings), &l.headings); err != nil {
		return fmt.Errorf("stored headings of slot %d: %w", p.slot, err)
	}
	w.leaving = append(w.leaving, l)
	return nil
}

// assignSlots decides where a document and its passages go. A passage whose hash was stored
// keeps its vectors; if its words are the same too, it keeps its slot.
func (w *batchWrite) assignSlots(entry index.Entry) error {
	old := w.stored[entry.Document.ID]
	d := placedDocument{id: old.id, class: w.classes[index.ClassOf(entry.Document)], document: entry.Document}
	if d.id == 0 {
		d.id = w.nextDocument
		w.nextDocument++
	}
	d.changed = old.id != 0 && old.class != d.class
	w.documents = append(w.documents, d)
	kept := make(map[int32]bool)
	for _, passage := range entry.Passages {
		headings, err := json.Marshal(append([]string{}, passage.Headings...))
		if err != nil {
			return fmt.Errorf("headings of passage %d: %w", passage.Position, err)
		}
		p := placedPassage{
			document: d.id, class: d.class, title: entry.Document.Title, language: language.Parse(entry.Document.Language),
			passage: passage, headings: string(headings),
		}
		sameWords := func(before storedPassage) bool {
			return before.hash == passage.Hash && !kept[before.slot] &&
				before.text == passage.Text && before.headings == p.headings &&
				old.title == p.title && old.language == p.language
		}
		if at := slices.IndexFunc(old.passages, sameWords); at >= 0 {
			p.slot, p.same, p.lengths = old.passages[at].slot, true, old.passages[at].lengths
			kept[p.slot] = true
		} else {
			p.slot = w.nextSlot
			w.nextSlot++
			sameHash := func(before storedPassage) bool { return before.hash == passage.Hash }
			if at := slices.IndexFunc(old.passages, sameHash); at >= 0 {
				w.moved = append(w.moved, vectorMove{from: old.passages[at].slot, to: p.slot})
			}
		}
		w.placed = append(w.placed, p)
	}
	for _, p := range old.passages {
		if kept[p.slot] {
			continue
		}
		if err := w.recordLeaving(old, p); err != nil {
			return err
		}
	}
	return nil
}

// analyzeTexts cuts all texts that come or go into terms. It runs beside what sends rows, and
// only reads what that reads.
func (w *batchWrite) analyzeTexts() {
	w.leavingWords = make([]analysedPassage, len(w.leaving))
	inParallel(len(w.leaving), func(a *analyzer, i int) {
		l := &w.leaving[i]
		w.leavingWords[i] = a.analyzePassage(l.language, l.title, l.headings, l.text)
	})
	w.placedWords = make([]analysedPassage, len(w.placed))
	inParallel(len(w.placed), func(a *analyzer, i int) {
		p := &w.placed[i]
		if p.same {
			w.placedWords[i].lengths = p.lengths
			return
		}
		w.placedWords[i] = a.analyzePassage(p.language, p.title, p.passage.Headings, p.passage.Text)
	})
}

// inParallel calls work for 0 to n-1 on all cores and waits for the end.
func inParallel(n int, work func(a *analyzer, i int)) {
	var workers sync.WaitGroup
	parts := min(n, runtime.GOMAXPROCS(0))
	for part := range parts {
		workers.Go(func() {
			a := &analyzer{at: make(map[string]int)}
			for i := part; i < n; i += parts {
				work(a, i)
			}
		})
	}
	workers.Wait()
}

// changeVectors updates the vectors of all embedders.
func (w *batchWrite) changeVectors(ctx context.Context) error {
	var from, to, gone, documents, classes []int32
	for _, m := range w.moved {
		from, to = append(from, m.from), append(to, m.to)
	}
	for _, l := range w.leaving {
		gone = append(gone, l.slot)
	}
	for _, d := range w.documents {
		if d.changed {
			documents, classes = append(documents, d.id), append(classes, d.class)
		}
	}
	if len(from)+len(gone)+len(documents) == 0 {
		return nil
	}
	tables, err := vectorTables(ctx, w.tx)
	if err != nil {
		return fmt.Errorf("change vectors: %w", err)
	}
	for _, table := range tables {
		statements := &pgx.Batch{}
		statements.Queue("INSERT INTO "+table+` (slot, part, class, document, restricted, halves)
			SELECT new, part, class, document, restricted, halves FROM unnest($1::integer[], $2::integer[]) m (old, new) JOIN `+table+" ON slot = old", from, to)
		statements.Queue("DELETE FROM "+table+" WHERE slot = ANY ($1)", gone)
		statements.Queue("UPDATE "+table+` v SET class = m.class, restricted = c.audience <> 'public'
			FROM unnest($1::integer[], $2::integer[]) m (document, class) JOIN cairn.class c ON c.id = m.class
			WHERE v.document = m.document`, documents, classes)
		if err := w.tx.SendBatch(ctx, statements).Close(); err != nil {
			return fmt.Errorf("change vectors: %w", err)
		}
	}
	return nil
}

// freedNumbers returns the slots that are free now, and the documents that are gone.
func (w *batchWrite) freedNumbers(deleted []knowledge.DocumentID) (slots, documents []int32) {
	slots, documents = []int32{}, []int32{}
	for _, l := range w.leaving {
		slots = append(slots, l.slot)
	}
	for _, id := range deleted {
		if d := w.stored[id]; d.id != 0 {
			documents = append(documents, d.id)
		}
	}
	return slots, documents
}

// replaceRows deletes the rows of all replaced documents, and copies in those of the new ones.
func (w *batchWrite) replaceRows(ctx context.Context, batch index.Batch) error {
	var documents, slots []int32
	for _, d := range w.stored {
		documents = append(documents, d.id)
		for _, p := range d.passages {
			slots = append(slots, p.slot)
		}
	}
	statements := &pgx.Batch{}
	if len(documents) > 0 {
		statements.Queue("DELETE FROM cairn.document WHERE id = ANY ($1)", documents)
	}
	if len(slots) > 0 {
		statements.Queue("DELETE FROM cairn.slot WHERE slot = ANY ($1)", slots)
		statements.Queue("DELETE FROM cairn.passage WHERE slot = ANY ($1)", slots)
		statements.Queue("DELETE FROM cairn.definition WHERE slot = ANY ($1)", slots)
	}
	if freed, gone := w.freedNumbers(batch.Delete); len(freed)+len(gone) > 0 {
		statements.Queue("INSERT INTO cairn.removal (generation, slots, documents) VALUES ($1, $2, $3)", w.generation, freed, gone)
	}
	statements.Queue("UPDATE cairn.meta SET next_slot = $1, next_document = $2", w.nextSlot, w.nextDocument)
	if err := w.tx.SendBatch(ctx, statements).Close(); err != nil {
		return fmt.Errorf("take rows away: %w", err)
	}
	return w.copyRows(ctx)
}

// writeSegment writes the changes of the posting lists.
func (w *batchWrite) writeSegment(ctx context.Context) error {
	builder := make(segmentBuilder)
	for _, words := range w.leavingWords {
		builder.removePassage(words)
	}
	for i, p := range w.placed {
		if !p.same {
			builder.addPassage(p.slot, w.placedWords[i])
		}
	}
	pages := paginator{size: w.pageSize}
	for e := range builder.allEntries {
		pages.addEntry(e)
	}
	pages.flushPage()
	if pages.bytes == 0 {
		return nil
	}
	_, err := w.tx.Exec(ctx, "INSERT INTO cairn.segment (id, first_generation, last_generation, bytes) VALUES ($1, $2, $2, $3)",
		w.segment, w.generation, pages.bytes)
	if err != nil {
		return err
	}
	return copyPages(ctx, w.tx, w.segment, pages.takePages())
}

// writeMarks writes what says how far a sync came.
func (w *batchWrite) writeMarks(ctx context.Context, batch index.Batch) error {
	statements := &pgx.Batch{}
	for _, document := range batch.Seen {
		statements.Queue("UPDATE cairn.document SET last_seen = $1 WHERE key = $2", nullTime(document.LastSeen), []byte(document.ID))
	}
	for _, source := range slices.Sorted(maps.Keys(batch.Cursors)) {
		statements.Queue("INSERT INTO cairn.cursor VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET cursor = excluded.cursor",
			[]byte(source), []byte(batch.Cursors[source]))
	}
	if statements.Len() == 0 {
		return nil
	}
	if err := w.tx.SendBatch(ctx, statements).Close(); err != nil {
		return fmt.Errorf("mark documents as seen, advance cursors: %w", err)
	}
	return nil
}
