// Package chunk cuts structured text into passages: a section each, or parts of a
// long one. A passage never spans two sections, so that its anchor names the place
// it comes from.
package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
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

// Passages gives the passages of a document in reading order. The text of a section without
// text of its own is its heading, unless the sections below it carry that; that of a document
// without any text its title, so that both are found. Sections that are too long are cut between blocks where
// possible, else between sentences, lines of code or rows; then a code block opens
// its fence again, and a table repeats its header.
func Passages(document knowledge.Document, text parse.Text, options Options) []knowledge.Passage {
	return PassagesFrom(0, document, text, options)
}

// PassagesFrom gives the passages of a part of a document as Passages does, in which they have the
// positions from first on.
func PassagesFrom(first int, document knowledge.Document, text parse.Text, options Options) []knowledge.Passage {
	var passages []knowledge.Passage
	limit := options.maxTokens()
	for i, section := range withTitle(document.Title, text.Sections) {
		parts := split(section.Blocks, limit)
		if len(parts) == 0 && !continues(text.Sections, i) {
			parts = split([]parse.Block{{Kind: parse.Paragraph, Text: section.Heading}}, limit)
		}
		for _, part := range parts {
			passage := knowledge.Passage{
				ID:       knowledge.MakePassageID(document.ID, first+len(passages)),
				Document: document.ID,
				Position: first + len(passages),
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

// withTitle gives the sections, or for a document without any one of its title alone.
func withTitle(title string, sections []parse.Section) []parse.Section {
	if len(sections) > 0 {
		return sections
	}
	return []parse.Section{{Heading: title}}
}

// continues tells whether the section after the one at the position stands under the same
// heading, so that its passages carry that.
func continues(sections []parse.Section, position int) bool {
	if position+1 >= len(sections) {
		return false
	}
	above, below := sections[position].Headings, sections[position+1].Headings
	return len(below) >= len(above) && slices.Equal(below[:len(above)], above)
}

// hash is of all that is embedded and indexed of a passage.
func hash(title string, passage knowledge.Passage) string {
	sum := sha256.Sum256([]byte(title + "\x00" + strings.Join(passage.Headings, "\x00") + "\x00\x00" + knowledge.WithoutAddresses(passage.Text)))
	return hex.EncodeToString(sum[:])
}
