package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// FindCited gives the passage that a mark of a reply cites. ok is false where no mark has the
// number, and where what it cites is not in the index.
func FindCited(reply chat.Reply, number int) (ref chat.SourceRef, ok bool) {
	for _, group := range reply.Sources {
		for _, source := range group.Sources {
			for _, section := range source.Sections {
				if section.Number == number && source.Document != "" {
					return chat.SourceRef{Document: source.Document, Passage: section.Passage}, true
				}
			}
		}
	}
	return chat.SourceRef{}, false
}

// Neighbours of the marked passage that are shown.
const (
	neighboursBefore = 1
	neighboursAfter  = 2
)

// Source writes the passage that was asked for with its neighbours, and what is known of its
// document. The passage itself has a bar at its side.
func (r Renderer) Source(text chat.SourceText) error {
	width := r.width()
	source := text.Source
	lines := hangingIndent(line{}, line{{cmp.Or(markup.CleanLine(source.Title), markup.CleanLine(source.Path)), style{bold: true}}}, width)
	facts := []string{markup.CleanLine(text.Collection), markup.CleanLine(source.Path), markup.CleanLine(source.Owner), markup.Freshness(source, r.now())}
	if !text.Indexed.IsZero() {
		facts = append(facts, "read "+markup.Age(r.now(), text.Indexed))
	}
	facts = append(facts, "readable by "+markup.CleanLine(text.Audience))
	facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
	lines = append(lines, hangingIndent(line{}, faintLine(strings.Join(facts, " · ")), width)...)
	shown := nearMarked(text.Passages)
	for _, passage := range shown {
		if address, ok := markup.WebAddress(passage.URL); ok && (passage.Marked || len(shown) == 1) {
			lines = append(lines, hangingIndent(faintLine("original: "), line{{address, style{link: address}}}, width)...)
		}
	}
	if text.Changed {
		lines = append(lines, hangingIndent(line{}, line{{"The passage that was cited has changed since. This is the document as it is now.", style{bad: true}}}, width)...)
	}
	var before []string
	for _, passage := range shown {
		side := plainLine("  ")
		if passage.Marked {
			side = line{{"▌ ", style{mark: true}}}
		}
		body := []line{}
		if len(passage.Headings) > 0 && !slices.Equal(passage.Headings, before) {
			body = wrapSpans(line{{markup.CleanLine(strings.Join(passage.Headings, " › ")), style{bold: true}}}, width-2)
		}
		before = passage.Headings
		body = append(body, renderMarkdown(passage.Text, nil, width-2)...)
		lines = append(append(lines, line{}), prefixLines(body, side, side)...)
	}
	return r.writeLines(lines)
}

// nearMarked gives the marked passage with its neighbours; without one the first passages.
func nearMarked(passages []chat.PassageText) []chat.PassageText {
	at := max(0, slices.IndexFunc(passages, func(p chat.PassageText) bool { return p.Marked }))
	return passages[max(0, at-neighboursBefore):min(len(passages), at+neighboursAfter+1)]
}

// CitationError is that no passage can be shown for a mark.
func CitationError(number int) error {
	return fmt.Errorf("the last answer cites nothing in the index as [%d]: its marks stand in the text, and in the list under it", number)
}
