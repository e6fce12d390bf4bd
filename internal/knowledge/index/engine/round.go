package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// roundPassages is from how many passages on, coming or going, a round is written; less than twice as
// many come in one.
const roundPassages = 1024

// round are passages that are written together, see batchWrite.
type round struct {
	placed  []placedPassage
	leaving []removedPassage
	vectors VectorChange
	written bool // a round was written before in this transaction

	// What analyzeTexts finds, in the order of placed and leaving.
	placedWords, leavingWords []analysedPassage
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

// removedPassage is a passage whose words are taken out of the counts.
type removedPassage struct {
	slot    int32
	class   int32
	lengths lexical.Counts
	text    passageText
}

// putPassages writes the passages of a document, and removes those that it has no more.
func (w *batchWrite) putPassages(ctx context.Context, document placedDocument, entry index.Entry) error {
	old := w.stored[entry.Document.ID]
	if old == nil {
		old = &storedDocument{}
	}
	for passages, err := range entry.AllPassages() {
		if err != nil {
			return err
		}
		for some := range slices.Chunk(passages, roundPassages) {
			if err := w.placePassages(ctx, document, old, some); err != nil {
				return err
			}
		}
	}
	return w.deleteRest(ctx, old)
}

// deletePassages removes the passages of a document that is deleted; nil is one that was not there.
func (w *batchWrite) deletePassages(ctx context.Context, old *storedDocument) error {
	if old == nil {
		return nil
	}
	w.classChange(old.class).Documents--
	return w.deleteRest(ctx, old)
}

// deleteRest removes the passages of a stored document that none took the slot of.
func (w *batchWrite) deleteRest(ctx context.Context, old *storedDocument) error {
	for _, p := range old.passages {
		if p.kept {
			continue
		}
		if len(w.round.leaving) >= roundPassages {
			if err := w.writeRound(ctx); err != nil {
				return err
			}
		}
		w.round.leaving = append(w.round.leaving, removedPassage{
			slot: p.slot, class: old.class, lengths: p.lengths, text: passageText{language: old.language, title: old.title},
		})
		w.round.vectors.Gone = append(w.round.vectors.Gone, p.slot)
	}
	return nil
}

// placePassages decides where some passages go. One whose hash was stored keeps its vectors; if its
// words are the same too, it keeps its slot.
func (w *batchWrite) placePassages(ctx context.Context, document placedDocument, old *storedDocument, passages []knowledge.Passage) error {
	if len(w.round.placed) >= roundPassages {
		if err := w.writeRound(ctx); err != nil {
			return err
		}
	}
	tag := language.Parse(document.document.Language)
	var texts map[int32]storedText
	if old.title == document.document.Title && old.language == tag {
		var err error
		if texts, err = w.loadTexts(ctx, old.candidates(passages)); err != nil {
			return err
		}
	}
	for _, passage := range passages {
		headings, err := json.Marshal(append([]string{}, passage.Headings...))
		if err != nil {
			return fmt.Errorf("headings of passage %d: %w", passage.Position, err)
		}
		p := placedPassage{
			document: document.id, class: document.class, title: document.document.Title, language: tag, passage: passage, headings: string(headings),
		}
		w.assignSlot(&p, old, texts)
		w.round.placed = append(w.round.placed, p)
	}
	return nil
}

// candidates returns the slots of stored passages that some passages may take over: of each hash as
// many as there are passages of it.
func (d *storedDocument) candidates(passages []knowledge.Passage) []int32 {
	wanted := make(map[string]int)
	for _, p := range passages {
		wanted[p.Hash]++
	}
	var slots []int32
	for hash, count := range wanted {
		for _, at := range d.byHash[hash] {
			if count > 0 && !d.passages[at].kept {
				slots = append(slots, d.passages[at].slot)
				count--
			}
		}
	}
	return slots
}

// assignSlot finds the slot of a passage. texts are those of stored passages whose slot it may take.
func (w *batchWrite) assignSlot(p *placedPassage, old *storedDocument, texts map[int32]storedText) {
	alike := old.byHash[p.passage.Hash]
	for len(alike) > 1 && old.passages[alike[0]].kept {
		alike = alike[1:]
		old.byHash[p.passage.Hash] = alike
	}
	for _, at := range alike {
		before := &old.passages[at]
		text, ok := texts[before.slot]
		if !ok || before.kept || text.body != p.passage.Text || text.headings != p.headings {
			continue
		}
		before.kept = true
		p.slot, p.same, p.lengths = before.slot, true, before.lengths
		if old.class != p.class {
			w.classChange(old.class).Passages--
			w.classChange(p.class).Passages++
		}
		return
	}
	p.slot = w.nextSlot
	w.nextSlot++
	if len(alike) > 0 {
		from := old.passages[alike[0]].slot
		w.round.vectors.Moved = append(w.round.vectors.Moved, Move{From: from, To: p.slot, Document: p.document, Class: p.class})
	}
}

// storedText is what a passage said before the write; headings as stored.
type storedText struct{ headings, body string }

// loadTexts returns what is stored in slots.
func (w *batchWrite) loadTexts(ctx context.Context, slots []int32) (map[int32]storedText, error) {
	if len(slots) == 0 {
		return nil, nil
	}
	texts := make(map[int32]storedText, len(slots))
	var slot int32
	var text storedText
	err := w.tx.Select(ctx, query("SELECT slot, headings, text FROM @passage WHERE slot IN (SELECT value FROM ints($1))", slots), func() error {
		texts[slot] = text
		return nil
	}, &slot, &text.headings, &text.body)
	if err != nil {
		return nil, fmt.Errorf("read stored texts: %w", err)
	}
	return texts, nil
}

// errNoText says that a passage has a slot and no text.
var errNoText = errors.New("a passage has no text")

// loadLeaving reads the texts of the passages that go.
func (w *batchWrite) loadLeaving(ctx context.Context) error {
	texts, err := w.loadTexts(ctx, w.round.vectors.Gone)
	if err != nil {
		return err
	}
	for i := range w.round.leaving {
		l := &w.round.leaving[i]
		text, ok := texts[l.slot]
		if !ok {
			return fmt.Errorf("slot %d: %w: %w", l.slot, errNoText, ErrDamaged)
		}
		l.text.body = text.body
		if err := json.Unmarshal([]byte(text.headings), &l.text.headings); err != nil {
			return fmt.Errorf("stored headings of slot %d: %w", l.slot, err)
		}
	}
	return nil
}

// writeRound writes the passages at hand. Each round is a generation with a segment of its own.
func (w *batchWrite) writeRound(ctx context.Context) error {
	if w.round.written {
		err := selectOne(ctx, w.tx, query("UPDATE @meta SET generation = generation + 1, next_segment = next_segment + 1 RETURNING generation, next_segment - 1"),
			&w.generation, &w.segment)
		if err != nil {
			return err
		}
	}
	if err := w.loadLeaving(ctx); err != nil {
		return err
	}
	// The texts are analysed while the database takes them.
	var analysis sync.WaitGroup
	analysis.Go(w.analyzeTexts)
	err := w.writeRows(ctx)
	analysis.Wait()
	if err != nil {
		return err
	}
	if err := w.writeWords(ctx); err != nil {
		return err
	}
	w.round = round{written: true}
	return nil
}

// analyzeTexts cuts all texts that come or go into terms. It runs beside what sends rows, and
// only reads what that reads.
func (w *batchWrite) analyzeTexts() {
	r := &w.round
	r.leavingWords = analyzeAll(len(r.leaving), func(i int) passageText { return r.leaving[i].text })
	var fresh []int
	for i, p := range r.placed {
		if !p.same {
			fresh = append(fresh, i)
		}
	}
	words := analyzeAll(len(fresh), func(i int) passageText {
		p := &r.placed[fresh[i]]
		return passageText{language: p.language, title: p.title, headings: p.passage.Headings, body: p.passage.Text}
	})
	r.placedWords = make([]analysedPassage, len(r.placed))
	for i, p := range r.placed {
		r.placedWords[i].lengths = p.lengths
	}
	for i, at := range fresh {
		r.placedWords[at] = words[i]
	}
}
