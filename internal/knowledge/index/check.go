package index

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// DefaultLimit is what a Query.Limit of 0 means.
const DefaultLimit = 100

// Validate says why a backend must refuse the batch, or nil. Backends call it before
// they write.
func (b Batch) Validate() error {
	named := make(map[knowledge.DocumentID]bool)
	for id := range b.Named() {
		if id == "" {
			return errors.New("a document has no id")
		}
		if named[id] {
			return fmt.Errorf("document %q is named twice in one batch", id)
		}
		named[id] = true
	}
	for _, entry := range b.Put {
		if err := entry.validate(); err != nil {
			return err
		}
	}
	return nil
}

// Named yields the ids of all documents that the batch changes or marks.
func (b Batch) Named() iter.Seq[knowledge.DocumentID] {
	return func(yield func(knowledge.DocumentID) bool) {
		for _, entry := range b.Put {
			if !yield(entry.Document.ID) {
				return
			}
		}
		for _, id := range b.Delete {
			if !yield(id) {
				return
			}
		}
		for _, document := range b.Seen {
			if !yield(document.ID) {
				return
			}
		}
	}
}

func (e Entry) validate() error {
	_, err := e.check(e.Passages, -1)
	return err
}

// AllPassages yields the entry's passages, some at a time. It checks those of Rest: an error is the
// last that it yields.
func (e Entry) AllPassages() iter.Seq2[[]knowledge.Passage, error] {
	return func(yield func([]knowledge.Passage, error) bool) {
		if !yield(e.Passages, nil) || e.Rest == nil {
			return
		}
		last := -1
		if len(e.Passages) > 0 {
			last = e.Passages[len(e.Passages)-1].Position
		}
		for passages, err := range e.Rest {
			if err == nil {
				last, err = e.check(passages, last)
			}
			if !yield(passages, err) || err != nil {
				return
			}
		}
	}
}

// check says why passages that follow the one at a position must be refused, or nil, and the
// position of the last one.
func (e Entry) check(passages []knowledge.Passage, last int) (position int, err error) {
	for _, passage := range passages {
		want := knowledge.MakePassageID(e.Document.ID, passage.Position)
		if passage.ID != want || passage.Document != e.Document.ID {
			return last, fmt.Errorf("passage %q of document %q must have the id %q of its document and position", passage.ID, passage.Document, want)
		}
		if passage.Position <= last {
			return last, fmt.Errorf("passage %q comes after position %d", passage.ID, last)
		}
		if passage.Hash == "" {
			return last, fmt.Errorf("passage %q has no hash", passage.ID)
		}
		last = passage.Position
	}
	return last, nil
}

// Validate says why an index of a dimension can't answer the query, or nil.
func (q Query) Validate(dimension int) error {
	if q.Limit < 0 {
		return fmt.Errorf("limit %d is below 0", q.Limit)
	}
	for _, term := range q.Terms {
		if !(term.Weight > 0) || math.IsInf(term.Weight, 1) {
			return fmt.Errorf("term %q has the weight %v, must be above 0", term.Text, term.Weight)
		}
	}
	if q.Vector != nil {
		return validateVector(q.Vector, dimension)
	}
	return nil
}

// Validate says why an index of a dimension can't store the vectors, or nil.
func (v Vectors) Validate(dimension int) error {
	for _, window := range v.Windows {
		if err := validateVector(window, dimension); err != nil {
			return err
		}
	}
	return nil
}

// validateVector lets a vector's length differ from 1 by what rounding leaves.
func validateVector(vector []float32, dimension int) error {
	if len(vector) != dimension {
		return fmt.Errorf("vector has %d components, the index has %d", len(vector), dimension)
	}
	var sum float64
	for _, component := range vector {
		sum += float64(component) * float64(component)
	}
	if !(math.Abs(sum-1) < 0.01) {
		return errors.New("vector is not of length 1")
	}
	return nil
}
