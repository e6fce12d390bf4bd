package index

import (
	"context"
	"fmt"
	"iter"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Spelling is a reader that can spell; all backends can.
type Spelling interface {
	Reader
	Speller
}

// Guard returns a reader that shows only what the viewers of its caller's context may see
// (knowledge.WithViewers): what is public, where there are none. Whatever answers people
// reads the index through it. Statistics of terms are those of the whole index: they hold
// no text and weigh words that the caller brings.
func Guard(of Spelling) Spelling { return &guarded{of} }

type guarded struct{ Spelling }

// Search implements Reader.
func (g *guarded) Search(ctx context.Context, query Query) (Candidates, error) {
	query.Filter.Viewers = knowledge.ViewersFrom(ctx)
	return g.Spelling.Search(ctx, query)
}

// Passages implements Reader; those that the viewers may not see are left out.
func (g *guarded) Passages(ctx context.Context, ids []knowledge.PassageID) ([]Found, error) {
	found, err := g.Spelling.Passages(ctx, ids)
	if err != nil {
		return nil, err
	}
	viewers := knowledge.ViewersFrom(ctx)
	seen := make([]Found, 0, len(found))
	for _, f := range found {
		if viewers.MaySee(f.Document.Audience) {
			seen = append(seen, f)
		}
	}
	return seen, nil
}

// Documents implements Reader.
func (g *guarded) Documents(ctx context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error] {
	return func(yield func(knowledge.Document, error) bool) {
		viewers := knowledge.ViewersFrom(ctx)
		for document, err := range g.Spelling.Documents(ctx, source) {
			if err == nil && !viewers.MaySee(document.Audience) {
				continue
			}
			if !yield(document, err) || err != nil {
				return
			}
		}
	}
}

// Definitions implements Reader.
func (g *guarded) Definitions(ctx context.Context, short string, _ knowledge.Viewers) ([]knowledge.Definition, error) {
	return g.Spelling.Definitions(ctx, short, knowledge.ViewersFrom(ctx))
}

// spellings is how many terms are looked at for each that is wanted: the nearest may stand
// only in documents that the viewers may not see.
const spellings = 8

// Similar implements Speller: a term that no document of the viewers' holds is not shown.
func (g *guarded) Similar(ctx context.Context, term string, limit int) ([]TermStats, error) {
	if limit <= 0 {
		return nil, nil
	}
	similar, err := g.Spelling.Similar(ctx, term, limit*spellings)
	if err != nil {
		return nil, err
	}
	var seen []TermStats
	for _, candidate := range similar {
		found, err := g.Search(ctx, Query{Terms: []Term{{Text: candidate.Term, Weight: 1}}, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("look for the spelling %q: %w", candidate.Term, err)
		}
		if len(found.Lexical) > 0 {
			seen = append(seen, candidate)
		}
		if len(seen) == limit {
			break
		}
	}
	return seen, nil
}
