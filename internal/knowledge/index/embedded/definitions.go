package embedded

import (
	"cmp"
	"slices"
	"strings"

	"cairn/internal/knowledge"
)

// definitionCounts adds up how often each expansion of an abbreviation was given,
// without regard to letter case. Spellings are added commonest first.
type definitionCounts struct {
	definitions []knowledge.Definition
	counts      []int
}

func (c *definitionCounts) add(d knowledge.Definition, count int) {
	for i, known := range c.definitions {
		if strings.EqualFold(known.Long, d.Long) {
			c.counts[i] += count
			return
		}
	}
	c.definitions = append(c.definitions, d)
	c.counts = append(c.counts, count)
}

// sorted gives the expansions, most often given first.
func (c *definitionCounts) sorted() []knowledge.Definition {
	order := make([]int, len(c.definitions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.counts[b], c.counts[a]) })
	sorted := make([]knowledge.Definition, len(order))
	for i, at := range order {
		sorted[i] = c.definitions[at]
	}
	return sorted
}
