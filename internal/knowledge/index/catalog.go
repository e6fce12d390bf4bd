package index

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// ClassSummary is what an index holds of a class of documents.
type ClassSummary struct {
	Class

	Documents int       // at least 1
	Modified  time.Time // the latest Document.Modified
	LastSeen  time.Time // the latest Document.LastSeen
}

// Catalog tells what is in an index without reading every document. Its methods may be
// called as those of a Reader. What viewers may not see is left out by the caller: see
// VisibleClasses.
type Catalog interface {
	// Classes gives the classes that have documents, ordered by source, kind and audience.
	Classes(ctx context.Context) ([]ClassSummary, error)
	// LatestDocuments gives the documents of these classes that were modified last, the
	// latest first, ties by id, at most limit, which is positive. No classes have none.
	LatestDocuments(ctx context.Context, classes []Class, limit int) ([]knowledge.Document, error)
	// IsPublic tells that every document is for everybody. It may be false for some time
	// after the last one went that was not.
	IsPublic(ctx context.Context) (bool, error)
}

// VisibleClasses returns the classes of which viewers may see the documents.
func VisibleClasses(classes []ClassSummary, viewers knowledge.Viewers) []ClassSummary {
	return slices.DeleteFunc(slices.Clone(classes), func(c ClassSummary) bool { return !viewers.MaySee(c.Audience) })
}

// SourceSummary is what an index holds of a source; its fields are those of ClassSummary.
type SourceSummary struct {
	Source             knowledge.SourceID
	Documents          int
	Modified, LastSeen time.Time
}

// SummarizeSources adds the classes of each source up, ordered by source.
func SummarizeSources(classes []ClassSummary) []SourceSummary {
	ordered := slices.SortedStableFunc(slices.Values(classes), func(a, b ClassSummary) int { return cmp.Compare(a.Source, b.Source) })
	var sources []SourceSummary
	for _, class := range ordered {
		if len(sources) == 0 || sources[len(sources)-1].Source != class.Source {
			sources = append(sources, SourceSummary{Source: class.Source})
		}
		source := &sources[len(sources)-1]
		source.Documents += class.Documents
		if class.Modified.After(source.Modified) {
			source.Modified = class.Modified
		}
		if class.LastSeen.After(source.LastSeen) {
			source.LastSeen = class.LastSeen
		}
	}
	return sources
}
