package ranking

import (
	"cmp"
	"slices"
	"strings"

	"cairn/internal/knowledge"
)

// MostSpellings bounds how many ways to define one abbreviation a backend looks at.
const MostSpellings = 200

// Definitions adds up how often each expansion of an abbreviation was given, without
// regard to letter case.
type Definitions struct {
	counted []countedDefinition
}

type countedDefinition struct {
	knowledge.Definition
	count int
}

// Add takes in a spelling that stands in so many passages. Spellings come commonest first.
func (d *Definitions) Add(definition knowledge.Definition, count int) {
	same := func(known countedDefinition) bool { return strings.EqualFold(known.Long, definition.Long) }
	if at := slices.IndexFunc(d.counted, same); at >= 0 {
		d.counted[at].count += count
		return
	}
	d.counted = append(d.counted, countedDefinition{Definition: definition, count: count})
}

// Sorted returns the expansions in their commonest spellings, most often given first.
func (d *Definitions) Sorted() []knowledge.Definition {
	slices.SortStableFunc(d.counted, func(a, b countedDefinition) int { return cmp.Compare(b.count, a.count) })
	sorted := make([]knowledge.Definition, len(d.counted))
	for i, c := range d.counted {
		sorted[i] = c.Definition
	}
	return sorted
}
