package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// Write makes a batch visible as a whole, or not at all.
func (x *Index) Write(ctx context.Context, batch index.Batch) error {
	if err := batch.Validate(); err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	err := x.options.Database.Write(ctx, func(tx Tx) error {
		snap, err := x.loadSnapshot(ctx, tx)
		if err != nil {
			return err
		}
		w := &batchWrite{index: x, tx: tx, snap: snap, classChanges: make(map[int32]*Class)}
		if err := w.writeBatch(ctx, batch); err != nil {
			return err
		}
		return x.markEmbedded(ctx, tx) // passages may have brought all the vectors that they need along
	})
	if err == nil {
		err = x.mergeIfDue(ctx)
	}
	if err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	return nil
}

// batchWrite is one write transaction. It reads what is there of the documents named,
// decides what goes where, analyses all texts that come or go on all cores, and then
// takes rows away and adds others, a few statements for the whole batch.
type batchWrite struct {
	index *Index
	tx    Tx
	snap  *snapshot

	generation   int64
	nextSlot     int32
	nextDocument int32
	segment      int32

	classes      map[index.Class]int32
	classChanges map[int32]*Class // what is more, or less, by number
	stored       map[knowledge.DocumentID]storedDocument
	documents    []placedDocument
	placed       []placedPassage
	leaving      []removedPassage
	vectors      VectorChange

	// What analyzeTexts finds, in the order of placed and leaving.
	placedWords, leavingWords []analysedPassage
}

// removedPassage is a passage whose words are taken out of the counts.
type removedPassage struct {
	slot    int32
	class   int32
	lengths lexical.Counts
	text    passageText
}

type placedDocument struct {
	id, class int32
	document  knowledge.Document
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

func (w *batchWrite) writeBatch(ctx context.Context, batch index.Batch) error {
	err := selectOne(ctx, w.tx, query(`UPDATE @meta SET generation = generation + 1, next_segment = next_segment + 1
		RETURNING generation, next_slot, next_document, next_segment - 1`), &w.generation, &w.nextSlot, &w.nextDocument, &w.segment)
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
		if err := w.deleteDocument(w.stored[id]); err != nil {
			return fmt.Errorf("delete %s: %w", id, err)
		}
	}
	// The texts are analysed while the database takes them.
	var analysis sync.WaitGroup
	analysis.Go(w.analyzeTexts)
	err = w.writeRows(ctx)
	analysis.Wait()
	if err != nil {
		return err
	}
	if err := w.writeWords(ctx); err != nil {
		return err
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
	keys := plainStrings(batch.Delete)
	for _, entry := range batch.Put {
		keys = append(keys, string(entry.Document.ID))
	}
	w.stored = make(map[knowledge.DocumentID]storedDocument)
	if len(keys) == 0 {
		return nil
	}
	byID := make(map[int32]knowledge.DocumentID)
	var key, tag string
	var d storedDocument
	err := w.tx.Select(ctx, query("SELECT key, id, class, title, language FROM @document WHERE key IN (SELECT value FROM strings($1))", keys), func() error {
		d.language = language.Parse(tag)
		w.stored[knowledge.DocumentID(key)] = d
		byID[d.id] = knowledge.DocumentID(key)
		return nil
	}, &key, &d.id, &d.class, &d.title, &tag)
	if err != nil || len(byID) == 0 {
		return err
	}
	var document int32
	var p storedPassage
	return w.tx.Select(ctx, query(`SELECT document, slot.slot, hash, headings, text, title_terms, heading_terms, body_terms
		FROM @slot slot JOIN @passage passage ON passage.slot = slot.slot
		WHERE document IN (SELECT value FROM ints($1)) ORDER BY document, position`, slices.Sorted(maps.Keys(byID))), func() error {
		d := w.stored[byID[document]]
		d.passages = append(d.passages, p)
		w.stored[byID[document]] = d
		return nil
	}, &document, &p.slot, &p.hash, &p.headings, &p.text, &p.lengths.Title, &p.lengths.Headings, &p.lengths.Body)
}

// ensureClasses finds or makes the number of each class of the batch.
func (w *batchWrite) ensureClasses(ctx context.Context, entries []index.Entry) error {
	w.classes = make(map[index.Class]int32)
	for _, entry := range entries {
		w.classes[index.ClassOf(entry.Document)] = 0
	}
	for number, class := range w.snap.classes {
		if _, ok := w.classes[class.Class]; ok && number > 0 {
			w.classes[class.Class] = int32(number)
		}
	}
	for class, number := range w.classes {
		if number > 0 {
			continue
		}
		if err := selectOne(ctx, w.tx, query("UPDATE @meta SET next_class = next_class + 1 RETURNING next_class - 1"), &number); err != nil {
			return err
		}
		_, err := w.tx.Exec(ctx, "INSERT INTO @class (id, generation, source, kind, audience, documents, passages) VALUES ($1, $2, $3, $4, $5, 0, 0)",
			number, w.generation, string(class.Source), string(class.Kind), string(class.Audience))
		if err != nil {
			return err
		}
		w.classes[class] = number
	}
	return nil
}

func (w *batchWrite) classChange(number int32) *Class {
	change, ok := w.classChanges[number]
	if !ok {
		change = &Class{}
		w.classChanges[number] = change
	}
	return change
}

func (w *batchWrite) deleteDocument(document storedDocument) error {
	if document.id != 0 {
		w.classChange(document.class).Documents--
	}
	for _, p := range document.passages {
		if err := w.recordLeaving(document, p); err != nil {
			return err
		}
	}
	return nil
}

func (w *batchWrite) recordLeaving(document storedDocument, p storedPassage) error {
	l := removedPassage{slot: p.slot, class: document.class, lengths: p.lengths}
	l.text = passageText{language: document.language, title: document.title, body: p.text}
	if err := json.Unmarshal([]byte(p.headings), &l.text.headings); err != nil {
		return fmt.Errorf("stored headings of slot %d: %w", p.slot, err)
	}
	w.leaving = append(w.leaving, l)
	w.vectors.Gone = append(w.vectors.Gone, p.slot)
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
	} else {
		w.classChange(old.class).Documents--
		if old.class != d.class {
			w.vectors.Reclassed = append(w.vectors.Reclassed, Reclassed{Document: d.id, Class: d.class})
		}
	}
	w.classChange(d.class).Documents++
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
		w.placePassage(&p, old, kept)
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

// placePassage finds the slot of a passage; kept are those of the stored document that are taken.
func (w *batchWrite) placePassage(p *placedPassage, old storedDocument, kept map[int32]bool) {
	sameWords := func(before storedPassage) bool {
		return before.hash == p.passage.Hash && !kept[before.slot] && before.text == p.passage.Text && before.headings == p.headings &&
			old.title == p.title && old.language == p.language
	}
	if at := slices.IndexFunc(old.passages, sameWords); at >= 0 {
		p.slot, p.same, p.lengths = old.passages[at].slot, true, old.passages[at].lengths
		kept[p.slot] = true
		if old.class != p.class {
			w.classChange(old.class).Passages--
			w.classChange(p.class).Passages++
		}
		return
	}
	p.slot = w.nextSlot
	w.nextSlot++
	sameHash := func(before storedPassage) bool { return before.hash == p.passage.Hash }
	if at := slices.IndexFunc(old.passages, sameHash); at >= 0 {
		w.vectors.Moved = append(w.vectors.Moved, Move{From: old.passages[at].slot, To: p.slot, Document: p.document, Class: p.class})
	}
}

// analyzeTexts cuts all texts that come or go into terms. It runs beside what sends rows, and
// only reads what that reads.
func (w *batchWrite) analyzeTexts() {
	w.leavingWords = analyzeAll(len(w.leaving), func(i int) passageText { return w.leaving[i].text })
	var fresh []int
	for i, p := range w.placed {
		if !p.same {
			fresh = append(fresh, i)
		}
	}
	words := analyzeAll(len(fresh), func(i int) passageText {
		p := &w.placed[fresh[i]]
		return passageText{language: p.language, title: p.title, headings: p.passage.Headings, body: p.passage.Text}
	})
	w.placedWords = make([]analysedPassage, len(w.placed))
	for i, p := range w.placed {
		w.placedWords[i].lengths = p.lengths
	}
	for i, at := range fresh {
		w.placedWords[at] = words[i]
	}
}

// writeMarks writes what says how far a sync came.
func (w *batchWrite) writeMarks(ctx context.Context, batch index.Batch) error {
	for _, document := range batch.Seen {
		if _, err := w.tx.Exec(ctx, "UPDATE @document SET last_seen = $1 WHERE key = $2", document.LastSeen, string(document.ID)); err != nil {
			return fmt.Errorf("mark %s as seen: %w", document.ID, err)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(batch.Cursors)) {
		_, err := w.tx.Exec(ctx, "INSERT INTO @cursor (source, cursor) VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET cursor = excluded.cursor",
			string(source), batch.Cursors[source])
		if err != nil {
			return fmt.Errorf("advance cursor of %s: %w", source, err)
		}
	}
	return nil
}
