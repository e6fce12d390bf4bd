package index

import (
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Class is what a Filter looks at but for its Documents. Documents of one class pass
// or fail together.
type Class struct {
	Source   knowledge.SourceID
	Kind     knowledge.Kind
	Audience knowledge.Audience
}

// ClassOf returns the class of a document; one without an audience is public.
func ClassOf(d knowledge.Document) Class {
	return Class{Source: d.Source, Kind: d.Kind, Audience: d.Audience.OrPublic()}
}

// Passes reports whether a filter lets documents of the class pass.
func (c Class) Passes(filter Filter) bool {
	return (len(filter.Sources) == 0 || slices.Contains(filter.Sources, c.Source)) &&
		(len(filter.Kinds) == 0 || slices.Contains(filter.Kinds, c.Kind)) &&
		filter.Viewers.MaySee(c.Audience)
}
