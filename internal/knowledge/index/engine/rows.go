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

// writeRows deletes the rows of all replaced documents, and adds those of the new ones.
func (w *batchWrite) writeRows(ctx context.Context) error {
	if len(w.vectors.Moved)+len(w.vectors.Gone)+len(w.vectors.Reclassed) > 0 {
		w.vectors.Generation = w.generation
		if err := w.index.options.Vectors.Change(ctx, w.tx, w.vectors); err != nil {
			return fmt.Errorf("change vectors: %w", err)
		}
	}
	var documents, slots []int32
	for _, d := range w.stored {
		documents = append(documents, d.id)
		for _, p := range d.passages {
			slots = append(slots, p.slot)
		}
	}
	for _, table := range []string{"slot", "passage", "definition"} {
		if len(slots) == 0 {
			break
		}
		if _, err := w.tx.Exec(ctx, "DELETE FROM @"+table+" WHERE slot IN (SELECT value FROM ints($1))", slots); err != nil {
			return fmt.Errorf("take rows of %s away: %w", table, err)
		}
	}
	if len(documents) > 0 {
		if _, err := w.tx.Exec(ctx, "DELETE FROM @document WHERE id IN (SELECT value FROM ints($1))", documents); err != nil {
			return fmt.Errorf("take documents away: %w", err)
		}
	}
	return w.insertRows(ctx)
}

func (w *batchWrite) insertRows(ctx context.Context) error {
	err := w.tx.Insert(ctx, Columns{"document", []string{
		"id", "key", "class", "path", "title", "url", "owner", "language", "modified", "indexed", "last_seen", "hash", "state",
	}}, len(w.documents), func(i int) []any {
		d := w.documents[i].document
		return []any{
			w.documents[i].id, string(d.ID), w.documents[i].class, d.Path, d.Title, d.URL, d.Owner, d.Language,
			d.Modified, d.Indexed, d.LastSeen, d.Hash, string(d.State),
		}
	})
	if err != nil {
		return err
	}
	err = w.tx.Insert(ctx, Columns{"passage", []string{"slot", "headings", "anchor", "text", "tokens", "hash"}}, len(w.placed), func(i int) []any {
		p := w.placed[i]
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
	for _, p := range w.placed {
		for i, d := range p.passage.Definitions {
			rows = append(rows, row{slot: p.slot, place: int32(i), definition: d})
		}
	}
	return w.tx.Insert(ctx, Columns{"definition", []string{"slot", "place", "folded", "short", "long"}}, len(rows), func(i int) []any {
		d := rows[i].definition
		return []any{rows[i].slot, rows[i].place, strings.ToLower(d.Short), d.Short, d.Long}
	})
}

// writeWords writes what the analysis found: lengths, blocks, totals, posting lists.
func (w *batchWrite) writeWords(ctx context.Context) error {
	err := w.tx.Insert(ctx, Columns{"slot", []string{"slot", "document", "position", "title_terms", "heading_terms", "body_terms"}}, len(w.placed), func(i int) []any {
		p, lengths := w.placed[i], w.placedWords[i].lengths
		return []any{p.slot, p.document, int32(p.passage.Position), int32(lengths.Title), int32(lengths.Headings), int32(lengths.Body)}
	})
	if err != nil {
		return err
	}
	if err := w.writeBlocks(ctx); err != nil {
		return fmt.Errorf("write lengths of passages: %w", err)
	}
	if err := w.writeTotals(ctx); err != nil {
		return fmt.Errorf("write totals: %w", err)
	}
	if err := w.writeSegment(ctx); err != nil {
		return fmt.Errorf("write posting lists: %w", err)
	}
	return nil
}

func (w *batchWrite) writeBlocks(ctx context.Context) error {
	edits := make(blockEdits)
	reader := passageReader{index: w.index, tx: w.tx, snap: w.snap}
	set := func(slot int32, info passageInfo) error {
		number := slot >> blockBits
		if _, ok := edits[number]; !ok {
			group, err := reader.readGroup(ctx, slot>>groupBits)
			if err != nil {
				return err
			}
			edits[number] = slices.Clone(group.blocks[number&(groupBlocks-1)])
		}
		edits.set(slot, info)
		return nil
	}
	for _, l := range w.leaving {
		if err := set(l.slot, passageInfo{}); err != nil {
			return err
		}
	}
	for i, p := range w.placed {
		if err := set(p.slot, passageInfo{class: p.class, length: float32(lexical.DefaultBM25.Weigh(w.placedWords[i].lengths))}); err != nil {
			return err
		}
	}
	for _, number := range slices.Sorted(maps.Keys(edits)) {
		_, err := w.tx.Exec(ctx, `INSERT INTO @block (number, generation, passages) VALUES ($1, $2, $3)
			ON CONFLICT (number) DO UPDATE SET generation = excluded.generation, passages = excluded.passages`, number, w.generation, edits[number].encode())
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *batchWrite) writeTotals(ctx context.Context) error {
	var more lexical.Counts
	add := func(lengths lexical.Counts, sign int) {
		more.Title += sign * lengths.Title
		more.Headings += sign * lengths.Headings
		more.Body += sign * lengths.Body
	}
	for _, l := range w.leaving {
		w.classChange(l.class).Passages--
		add(l.lengths, -1)
	}
	for i, p := range w.placed {
		if !p.same {
			w.classChange(p.class).Passages++
			add(w.placedWords[i].lengths, 1)
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
			return err
		}
	}
	_, err := w.tx.Exec(ctx, `UPDATE @meta SET next_slot = $1, next_document = $2,
		title_terms = title_terms + $3, heading_terms = heading_terms + $4, body_terms = body_terms + $5`,
		w.nextSlot, w.nextDocument, more.Title, more.Headings, more.Body)
	return err
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
