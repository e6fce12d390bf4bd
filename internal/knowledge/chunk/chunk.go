// Package chunk cuts structured text into passages: a section each, or parts of a
// long one. A passage never spans two sections, so that its anchor names the place
// it comes from.
package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/parse"
)

// Options say how long passages are.
type Options struct {
	// MaxTokens is what no passage goes over, by CountTokens; 0 means 400, and less
	// than 64 is taken as 64. The parts of a longer section are made about equal.
	MaxTokens int
}

func (o Options) maxTokens() int {
	if o.MaxTokens == 0 {
		return 400
	}
	return max(o.MaxTokens, 64)
}

// Passages gives the passages of a document in reading order. A section without text
// of its own gives none. Sections that are too long are cut between blocks where
// possible, else between sentences, lines of code or rows; then a code block opens
// its fence again, and a table repeats its header.
func Passages(document knowledge.Document, text parse.Text, options Options) []knowledge.Passage {
	var passages []knowledge.Passage
	limit := options.maxTokens()
	for _, section := range text.Sections {
		for _, part := range split(section.Blocks, limit) {
			passage := knowledge.Passage{
				ID:       knowledge.MakePassageID(document.ID, len(passages)),
				Document: document.ID,
				Position: len(passages),
				Headings: section.Headings,
				Anchor:   section.Anchor,
				Text:     part,
				Tokens:   CountTokens(part),
			}
			passage.Hash = hash(document.Title, passage)
			passage.Definitions = definitions(passage)
			passages = append(passages, passage)
		}
	}
	return passages
}

// hash is of all that is embedded and indexed of a passage.
func hash(title string, passage knowledge.Passage) string {
	sum := sha256.Sum256([]byte(title + "\x00" + strings.Join(passage.Headings, "\x00") + "\x00\x00" + knowledge.WithoutAddresses(passage.Text)))
	return hex.EncodeToString(sum[:])
}
