// Package reply reads the Markdown that a language model wrote as an answer: once, into blocks
// and the units that are checked, each with the sources that it cites. What stays of it is
// written from the blocks, so that tables, lists and code survive whatever is marked or removed.
package reply

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/llm"
)

// MaxLength is the most bytes of a reply that are read. What is beyond is left out.
const MaxLength = 32 << 10

// Kind is what a unit is.
type Kind int

// The kinds of units. A header and a lead-in announce what stands below them, and stand or
// fall with it.
const (
	Sentence Kind = iota + 1
	Item          // a sentence of a list item
	Row           // of a table
	Code
	Header
	Lead
)

// Unit is a piece of a reply that is checked, marked and removed as one.
type Unit struct {
	Kind Kind
	// Text has no marks but those that are nouns of their sentence: "according to [1]". A row
	// has its bars, code its fences.
	Text string
	// Under is what the unit is read with: the header of a row's table, the lead-in of an item,
	// the sentence in front of code. "" for none.
	Under string
	// Cites are the numbers of the sources that the unit's own marks name, as the model was
	// given them.
	Cites []int
	// Inherited are the sources of the unit's paragraph, lead-in or table, for a unit without
	// marks.
	Inherited []int
	// Next is the position of the unit that completes this one, such as the sentence behind a
	// bare "No."; -1 for none.
	Next int

	host int // the unit at which sources of this one are named; -1: itself
}

// Decision is what becomes of a unit.
type Decision struct {
	Remove  bool
	Instead string // put in place of a removed unit; "" for nothing
	Remark  string // put behind a unit that stays; "" for none
	Add     []int  // sources to name beside those that the unit's marks name
}

// Reply is a model's text as it was read.
type Reply struct {
	Units   []Unit
	blocks  []*block
	written []string // the text of each unit, with nounSign in it
	marks   [][]mark // those of each unit, in order
}

// Read reads a reply that was given sources with the numbers 1 to sources.
func Read(markdown string, sources int) Reply {
	r := reader{sources: sources}
	markdown = strings.ReplaceAll(llm.WithoutThoughts(markdown), prompts.Sentinel, "Not in the sources")
	blocks := parseBlocks(cutReply(markdown))
	blocks = withoutReferences(blocks)
	r.addBlocks(blocks, place{})
	r.reply.blocks = blocks
	r.inheritSources()
	return r.reply
}

// cutReply gives what is read of a text: valid UTF-8, and no more than MaxLength of it.
func cutReply(markdown string) string {
	return strings.ToValidUTF8(markdown[:min(len(markdown), MaxLength)], "")
}
