package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

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
		w := &batchWrite{
			index: x, tx: tx, snap: snap, classChanges: make(map[int32]*Class), edits: make(blockEdits),
			lengths: passageReader{index: x, tx: tx, snap: snap},
		}
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

// batchWrite is one write transaction. It reads what is there of the documents named, decides what
// goes where, and writes passages in rounds: what comes and goes in one is analysed on all cores,
// while the database takes rows away and adds others, a few statements for each table. A batch of
// ordinary size is one round; the memory that a larger one takes does not grow with it.
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
	stored       map[knowledge.DocumentID]*storedDocument
	edits        blockEdits
	lengths      passageReader
	more         lexical.Counts // terms of all passages, or less
	round        round
}

type placedDocument struct {
	id, class int32
	document  knowledge.Document
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
	documents, err := w.writeDocuments(ctx, batch.Put)
	if err != nil {
		return err
	}
	for i, entry := range batch.Put {
		if err := w.putPassages(ctx, documents[i], entry); err != nil {
			return fmt.Errorf("put %s: %w", entry.Document.ID, err)
		}
	}
	for _, id := range batch.Delete {
		if err := w.deletePassages(ctx, w.stored[id]); err != nil {
			return fmt.Errorf("delete %s: %w", id, err)
		}
	}
	if err := w.writeRound(ctx); err != nil {
		return err
	}
	if err := w.writeCounts(ctx); err != nil {
		return err
	}
	return w.writeMarks(ctx, batch)
}

// storedPassage is a passage as it was before the write, but for its text.
type storedPassage struct {
	slot    int32
	hash    string
	lengths lexical.Counts
	kept    bool // its slot is taken by the same passage
}

// storedDocument is a document as it was before the write.
type storedDocument struct {
	id, class int32
	title     string
	language  language.Tag
	passages  []storedPassage
	byHash    map[string][]int // places in passages
}

// loadStored reads what is there of the batch's documents, but for texts, and takes their rows in the
// tables document and slot away.
func (w *batchWrite) loadStored(ctx context.Context, batch index.Batch) error {
	keys := plainStrings(batch.Delete)
	for _, entry := range batch.Put {
		keys = append(keys, string(entry.Document.ID))
	}
	w.stored = make(map[knowledge.DocumentID]*storedDocument)
	if len(keys) == 0 {
		return nil
	}
	byID := make(map[int32]*storedDocument)
	var key, tag string
	var d storedDocument
	err := w.tx.Select(ctx, query("SELECT key, id, class, title, language FROM @document WHERE key IN (SELECT value FROM strings($1))", keys), func() error {
		stored := &storedDocument{id: d.id, class: d.class, title: d.title, language: language.Parse(tag), byHash: make(map[string][]int)}
		w.stored[knowledge.DocumentID(key)], byID[d.id] = stored, stored
		return nil
	}, &key, &d.id, &d.class, &d.title, &tag)
	if err != nil || len(byID) == 0 {
		return err
	}
	ids := slices.Sorted(maps.Keys(byID))
	var document int32
	var p storedPassage
	err = w.tx.Select(ctx, query(`SELECT document, slot.slot, hash, title_terms, heading_terms, body_terms
		FROM @slot slot JOIN @passage passage ON passage.slot = slot.slot
		WHERE document IN (SELECT value FROM ints($1)) ORDER BY document, position`, ids), func() error {
		d := byID[document]
		d.byHash[p.hash] = append(d.byHash[p.hash], len(d.passages))
		d.passages = append(d.passages, p)
		return nil
	}, &document, &p.slot, &p.hash, &p.lengths.Title, &p.lengths.Headings, &p.lengths.Body)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"DELETE FROM @slot WHERE document IN (SELECT value FROM ints($1))", "DELETE FROM @document WHERE id IN (SELECT value FROM ints($1))",
	} {
		if _, err := w.tx.Exec(ctx, statement, ids); err != nil {
			return fmt.Errorf("take documents away: %w", err)
		}
	}
	return nil
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

// writeDocuments adds the rows of documents, and gives each its number and class.
func (w *batchWrite) writeDocuments(ctx context.Context, entries []index.Entry) ([]placedDocument, error) {
	documents := make([]placedDocument, len(entries))
	for i, entry := range entries {
		d := placedDocument{class: w.classes[index.ClassOf(entry.Document)], document: entry.Document}
		if old, ok := w.stored[entry.Document.ID]; ok {
			d.id = old.id
			w.classChange(old.class).Documents--
			if old.class != d.class {
				w.round.vectors.Reclassed = append(w.round.vectors.Reclassed, Reclassed{Document: d.id, Class: d.class})
			}
		} else {
			d.id = w.nextDocument
			w.nextDocument++
		}
		w.classChange(d.class).Documents++
		documents[i] = d
	}
	err := w.tx.Insert(ctx, Columns{"document", []string{
		"id", "key", "class", "path", "title", "url", "owner", "language", "modified", "indexed", "last_seen", "hash", "state",
	}}, len(documents), func(i int) []any {
		d := documents[i].document
		return []any{
			documents[i].id, string(d.ID), documents[i].class, d.Path, d.Title, d.URL, d.Owner, d.Language,
			d.Modified, d.Indexed, d.LastSeen, d.Hash, string(d.State),
		}
	})
	return documents, err
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
