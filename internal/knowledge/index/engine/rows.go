package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// writeRows deletes the rows of passages that were there before, and adds those that are there
// now.
func (w *batchWrite) writeRows(ctx context.Context) error {
	r := &w.round
	if len(r.vectors.Moved)+len(r.vectors.Gone)+len(r.vectors.Reclassed) > 0 {
		r.vectors.Generation = w.generation
		if err := w.index.options.Vectors.Change(ctx, w.tx, r.vectors); err != nil {
			return fmt.Errorf("change vectors: %w", err)
		}
	}
	slots := slices.Clone(r.vectors.Gone)
	for _, p := range r.placed {
		if p.same {
			slots = append(slots, p.slot)
		}
	}
	for _, table := range []string{"passage", "definition"} {
		if len(slots) == 0 {
			break
		}
		if _, err := w.tx.Exec(ctx, "DELETE FROM @"+table+" WHERE slot IN (SELECT value FROM ints($1))", slots); err != nil {
			return fmt.Errorf("take rows of %s away: %w", table, err)
		}
	}
	err := w.tx.Insert(ctx, Columns{"passage", []string{"slot", "headings", "anchor", "text", "tokens", "hash"}}, len(r.placed), func(i int) []any {
		p := r.placed[i]
		return []any{p.slot, p.headings, p.passage.Anchor, p.passage.Text, int32(p.passage.Tokens), p.passage.Hash}
	})
	if err != nil {
		return err
	}
	type row struct {
		slot, place int32
		definition  knowledge.Definition
	}
	var rows []row
	for _, p := range r.placed {
		for i, d := range p.passage.Definitions {
			rows = append(rows, row{slot: p.slot, place: int32(i), definition: d})
		}
	}
	return w.tx.Insert(ctx, Columns{"definition", []string{"slot", "place", "folded", "short", "long"}}, len(rows), func(i int) []any {
		d := rows[i].definition
		return []any{rows[i].slot, rows[i].place, strings.ToLower(d.Short), d.Short, d.Long}
	})
}

// writeWords writes what the analysis found: lengths and posting lists. Blocks and totals are
// written at the end, see writeCounts.
func (w *batchWrite) writeWords(ctx context.Context) error {
	r := &w.round
	err := w.tx.Insert(ctx, Columns{"slot", []string{"slot", "document", "position", "title_terms", "heading_terms", "body_terms"}}, len(r.placed), func(i int) []any {
		p, lengths := r.placed[i], r.placedWords[i].lengths
		return []any{p.slot, p.document, int32(p.passage.Position), int32(lengths.Title), int32(lengths.Headings), int32(lengths.Body)}
	})
	if err != nil {
		return err
	}
	if err := w.editBlocks(ctx); err != nil {
		return fmt.Errorf("read lengths of passages: %w", err)
	}
	w.addTotals()
	if err := w.writeSegment(ctx); err != nil {
		return fmt.Errorf("write posting lists: %w", err)
	}
	return nil
}

// editBlocks changes the blocks of the passages that come or go.
func (w *batchWrite) editBlocks(ctx context.Context) error {
	for _, l := range w.round.leaving {
		if err := w.editBlock(ctx, l.slot, passageInfo{}); err != nil {
			return err
		}
	}
	for i, p := range w.round.placed {
		info := passageInfo{class: p.class, length: float32(lexical.DefaultBM25.Weigh(w.round.placedWords[i].lengths))}
		if err := w.editBlock(ctx, p.slot, info); err != nil {
			return err
		}
	}
	return nil
}

func (w *batchWrite) editBlock(ctx context.Context, slot int32, info passageInfo) error {
	number := slot >> blockBits
	if _, ok := w.edits[number]; !ok {
		group, err := w.lengths.readGroup(ctx, slot>>groupBits)
		if err != nil {
			return err
		}
		w.edits[number] = slices.Clone(group.blocks[number&(groupBlocks-1)])
	}
	w.edits.set(slot, info)
	return nil
}

// addTotals counts the passages that come or go.
func (w *batchWrite) addTotals() {
	add := func(lengths lexical.Counts, sign int) {
		w.more.Title += sign * lengths.Title
		w.more.Headings += sign * lengths.Headings
		w.more.Body += sign * lengths.Body
	}
	for _, l := range w.round.leaving {
		w.classChange(l.class).Passages--
		add(l.lengths, -1)
	}
	for i, p := range w.round.placed {
		if !p.same {
			w.classChange(p.class).Passages++
			add(w.round.placedWords[i].lengths, 1)
		}
	}
}

// writeCounts writes what changed of all rounds together: blocks and totals.
func (w *batchWrite) writeCounts(ctx context.Context) error {
	for _, number := range slices.Sorted(maps.Keys(w.edits)) {
		_, err := w.tx.Exec(ctx, `INSERT INTO @block (number, generation, passages) VALUES ($1, $2, $3)
			ON CONFLICT (number) DO UPDATE SET generation = excluded.generation, passages = excluded.passages`, number, w.generation, w.edits[number].encode())
		if err != nil {
			return fmt.Errorf("write lengths of passages: %w", err)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(w.classChanges)) {
		change := w.classChanges[number]
		if change.Documents == 0 && change.Passages == 0 {
			continue
		}
		_, err := w.tx.Exec(ctx, "UPDATE @class SET documents = documents + $2, passages = passages + $3, generation = $4 WHERE id = $1",
			number, change.Documents, change.Passages, w.generation)
		if err != nil {
			return fmt.Errorf("write totals: %w", err)
		}
	}
	_, err := w.tx.Exec(ctx, `UPDATE @meta SET next_slot = $1, next_document = $2,
		title_terms = title_terms + $3, heading_terms = heading_terms + $4, body_terms = body_terms + $5`,
		w.nextSlot, w.nextDocument, w.more.Title, w.more.Headings, w.more.Body)
	if err != nil {
		return fmt.Errorf("write totals: %w", err)
	}
	return nil
}

// writeSegment writes the changes of the posting lists.
func (w *batchWrite) writeSegment(ctx context.Context) error {
	builder := make(segmentBuilder)
	for _, words := range w.round.leavingWords {
		builder.removePassage(words)
	}
	for i, p := range w.round.placed {
		if !p.same {
			builder.addPassage(p.slot, w.round.placedWords[i])
		}
	}
	pages := paginator{size: w.index.PageSize}
	for e := range builder.allEntries {
		pages.addEntry(e)
	}
	pages.flushPage()
	if pages.bytes == 0 {
		return nil
	}
	if err := insertSegment(ctx, w.tx, segment{id: w.segment, first: w.generation, last: w.generation, bytes: pages.bytes}); err != nil {
		return err
	}
	return insertPages(ctx, w.tx, w.segment, pages.takePages())
}
