// Package correction finds by rules what people's messages correct in a document: another number,
// version, default, name or command than it has. A correction is an edit of the document's lines,
// with the message that it rests on; whether it is made is for a person to say.
//
// Reading order: correction.go is the contract, message.go reads what a sentence asserts, locate.go
// finds where the document says otherwise, patch.go writes edits as a patch.
package correction

import (
	"slices"
	"strings"
)

// Message is what a person said.
type Message struct {
	Author string // "" is not known
	Text   string
	// Objects tells that it was said to object to an answer: the reason of a thumbs-down.
	Objects bool
}

// Kind is the rule that found a correction.
type Kind string

// The kinds.
const (
	Renamed Kind = "renamed" // a name, command, flag or path is another one
	Value   Kind = "value"   // what a setting, key or default has is another value
)

// Correction is a change of a document that a message calls for.
type Correction struct {
	Kind     Kind
	Old, New string
	Message  int    // index of the message
	Sentence string // of it, which says so
	Edits    []Edit // of the document, by line and place; never empty
}

// Edit replaces Line[Start:End], in bytes, by New.
type Edit struct {
	Line       int // index from 0
	Start, End int
	New        string
}

// Bounds of what is read: messages and documents are outside input.
const (
	maxMessage   = 4000  // bytes of a message
	maxLines     = 20000 // of a document
	maxLine      = 2000  // bytes of a line that is looked at
	maxEdits     = 40    // of one correction
	maxSentences = 40    // of a message
)

// Find returns the corrections of a document, one for each statement, the first message's first.
// question is what the thread is about, "" for nothing; lines are the document's, without their ends.
func Find(messages []Message, question string, lines []string) []Correction {
	document := newDocument(lines[:min(len(lines), maxLines)])
	var found []Correction
	for i, message := range messages {
		for _, said := range readStatements(message) {
			correction, ok := document.correct(said, question)
			if !ok || overlaps(found, correction) {
				continue
			}
			correction.Message, correction.Sentence = i, said.text
			found = append(found, correction)
		}
	}
	return found
}

// MayCorrect tells whether a message states anything that could correct a document, whichever.
func MayCorrect(message Message) bool {
	return slices.ContainsFunc(readStatements(message), func(said statement) bool { return said.cued || said.objects })
}

// FindBest returns, for each of several documents, the most relevant first, the corrections that hold
// for all of them together: where a message names what is wrong, only the documents that say so are
// changed; where it does not, only the first that a rule finds a place in; and what is no name that
// stands for one thing is changed in one document alone.
func FindBest(messages []Message, question string, documents [][]string) [][]Correction {
	found := make([][]Correction, len(documents))
	for i, lines := range documents {
		found[i] = Find(messages, question, lines)
	}
	for message := range messages {
		named := false
		for _, corrections := range found {
			named = named || slices.ContainsFunc(corrections, func(c Correction) bool { return c.Message == message && c.Kind == Renamed })
		}
		taken := false
		for i := range found {
			kept := found[i][:0:0]
			placed := false
			for _, c := range found[i] {
				single := c.Kind == Value || !isDistinctive(c.Old)
				if c.Message == message && (named && c.Kind == Value || single && taken) {
					continue
				}
				placed = placed || c.Message == message && single
				kept = append(kept, c)
			}
			found[i], taken = kept, taken || placed
		}
	}
	return found
}

// overlaps tells that a place of a correction is changed by another one already.
func overlaps(found []Correction, correction Correction) bool {
	for _, other := range found {
		for _, edit := range correction.Edits {
			if slices.ContainsFunc(other.Edits, func(o Edit) bool { return o.Line == edit.Line && o.Start < edit.End && edit.Start < o.End }) {
				return true
			}
		}
	}
	return false
}

// Apply returns the lines with all edits made; lines stays as it is. Edits must not overlap.
func Apply(lines []string, edits []Edit) []string {
	changed := slices.Clone(lines)
	sorted := slices.Clone(edits)
	slices.SortFunc(sorted, func(a, b Edit) int { return b.Start - a.Start })
	for _, edit := range sorted {
		line := changed[edit.Line]
		changed[edit.Line] = line[:edit.Start] + edit.New + line[edit.End:]
	}
	return changed
}

// Edits gives the edits of all corrections.
func Edits(corrections []Correction) []Edit {
	var edits []Edit
	for _, correction := range corrections {
		edits = append(edits, correction.Edits...)
	}
	return edits
}

// SplitLines cuts a text into lines without their ends; joined by "\n" they are the text again.
func SplitLines(text string) []string { return strings.Split(text, "\n") }
