package answer

import (
	"context"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// AttachedTexts gives the texts of the passages that a file is cut into.
func AttachedTexts(file flows.Attachment) []string {
	var texts []string
	for _, e := range attachedPassages(0, file) {
		texts = append(texts, e.Passage.Text)
	}
	return texts
}

// ShownWithListings gives the texts that a model is shown of evidence, the rest of its listings
// among them.
func (f *Flow) ShownWithListings(ctx context.Context, evidence []retrieve.Evidence) ([]string, error) {
	size := sizeOfContext{passages: len(evidence), tokens: 10000}
	complete, rest, err := completeListings(ctx, f.index, evidence, size)
	size.rest = rest
	var texts []string
	for _, source := range shownSources(f.models.Answer, complete, size).sources {
		texts = append(texts, source.Text)
	}
	return texts, err
}

// Normalize is normalize.
func Normalize(text string) string { return normalize(text) }

// PreferMending puts what speaks of an error before what shows it.
var PreferMending = preferMending

// SentencesOf gives the sentences of a passage that claims are compared with.
var SentencesOf = sentencesOf
