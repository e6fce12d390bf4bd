package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Search finds the best passages by words and by meaning, each exactly scored.
func (x *Index) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	if err := query.Validate(x.dimension); err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	if query.Limit == 0 {
		query.Limit = index.DefaultLimit
	}
	var candidates index.Candidates
	err := x.readSnapshot(ctx, func(tx *sql.Tx, snap *snapshot) error {
		allowed, err := snap.filterSlots(ctx, tx, query.Filter)
		if err != nil {
			return fmt.Errorf("filter: %w", err)
		}
		found, err := searchLexical(ctx, tx, lexicalQuery{snap: snap, allowed: allowed, terms: query.Terms, limit: query.Limit, dense: query.Vector != nil})
		if err != nil {
			return fmt.Errorf("by words: %w", err)
		}
		if query.Vector != nil {
			found.Dense, err = searchDense(ctx, tx, denseQuery{snap: snap, allowed: allowed, vector: query.Vector, limit: query.Limit})
			if err != nil {
				return fmt.Errorf("by meaning: %w", err)
			}
		}
		candidates = found
		return nil
	})
	if err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	return candidates, nil
}

// slotSet is a set of slots; nil holds all of them.
type slotSet []bool

func (s slotSet) contains(slot int32) bool {
	return s == nil || s[slot]
}

// filterSlots returns the slots that pass. Without a list of documents the file is not asked.
func (s *snapshot) filterSlots(ctx context.Context, tx *sql.Tx, filter index.Filter) (slotSet, error) {
	pass := make([]bool, len(s.classes))
	all := true
	for i, class := range s.classes {
		pass[i] = class.Passes(filter)
		all = all && pass[i]
	}
	if all && len(filter.Documents) == 0 {
		return nil, nil
	}
	set := make(slotSet, len(s.slots))
	if len(filter.Documents) == 0 {
		for i, slot := range s.slots {
			set[i] = slot.document != nil && pass[slot.document.class]
		}
		return set, nil
	}
	slotsOf, err := tx.PrepareContext(ctx, "SELECT slot FROM document JOIN passage ON passage.document = document.id WHERE key = ?")
	if err != nil {
		return nil, err
	}
	for _, document := range filter.Documents {
		if err := s.addDocument(ctx, slotsOf, document, pass, set); err != nil {
			return nil, fmt.Errorf("document %s: %w", document, err)
		}
	}
	return set, nil
}

func (s *snapshot) addDocument(ctx context.Context, slotsOf *sql.Stmt, document knowledge.DocumentID, pass []bool, set slotSet) error {
	rows, err := slotsOf.QueryContext(ctx, document)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var slot int32
		if err := rows.Scan(&slot); err != nil {
			return err
		}
		set[slot] = pass[s.slots[slot].document.class]
	}
	return rows.Err()
}
