// Package terminal shows the bot in a terminal: a Renderer for single answers, and
// Chat, the adapter that talks with one person line by line.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Renderer writes what the bot says. All text is taken as data: control characters,
// escape sequences and bidi overrides in it are left out.
type Renderer struct {
	Out        io.Writer
	Width      int              // columns; below 20 counts as 20, and 0 as endless: nothing is wrapped
	Color      bool             // styles by escape sequences
	Hyperlinks bool             // links that a click opens, by OSC 8
	Now        func() time.Time // what ages are told from; nil is time.Now
}

// Reply writes an answer, its note, and the sources that it cites first.
func (r Renderer) Reply(reply chat.Reply) error {
	width := r.width()
	lines := renderMarkdown(reply.Text, reply.Sources, width)
	if reply.Outcome == chat.Failure {
		failed := line{{"✗ ", style{bad: true}}}
		lines = prefixLines(renderMarkdown(reply.Text, nil, width-2), failed, plainLine("  "))
		lines = append(lines, hangingIndent(plainLine("  "), faintLine("run "+markup.CleanLine(string(reply.Run))), width)...)
	}
	if note := markup.CleanLine(reply.Note); note != "" {
		lines = append(append(lines, line{}), wrapSpans(line{{note, style{faint: true, italic: true}}}, width)...)
	}
	return r.writeLines(append(lines, r.citedSources(reply.Sources)...))
}

// maxSources is how many sources are listed under an answer.
const maxSources = 3

// citedSources lists the sources that are cited first, a row each, and counts the others.
func (r Renderer) citedSources(groups []chat.SourceGroup) []line {
	listed := markup.SortSources(groups)
	if len(listed) == 0 {
		return nil
	}
	lines := []line{{}}
	for _, source := range listed[:min(len(listed), maxSources)] {
		lines = append(lines, r.sourceLines(source)...)
	}
	if more := len(listed) - maxSources; more > 0 {
		lines = append(lines, hangingIndent(plainLine(" · "), faintLine(markup.MoreDocuments(more)), r.width())...)
	}
	return lines
}

// sourceLines is one row: its marks, title, sections, place and age.
func (r Renderer) sourceLines(source chat.Source) []line {
	marks := line{{" · ", style{faint: true}}}
	if len(source.Numbers) > 0 {
		marks = markSpans(source)
	}
	row := line{{markup.CleanLine(source.Title), style{bold: true, link: sectionLink(source.Sections, 0)}}}
	separator := " — "
	for i, section := range source.Sections {
		heading := markup.CleanLine(section.Heading)
		if heading == "" {
			continue
		}
		row = append(row, span{text: separator}, span{heading, style{link: sectionLink(source.Sections, i)}})
		separator = " · "
	}
	if place, address := r.sourcePlace(source); place != "" {
		row = append(row, span{text: "  "}, span{place, style{faint: true, whole: true, link: address}})
	}
	if fresh := markup.Freshness(source, r.now()); fresh != "" {
		row = append(row, span{text: "  "}, span{"(" + fresh + ")", style{faint: source.State == "live" || source.State == "old", bad: source.State == "gone"}})
	}
	return hangingIndent(marks, row, r.width())
}

// sourcePlace returns where the source's first cited section is: short where a click opens it,
// else the address to copy.
func (r Renderer) sourcePlace(source chat.Source) (shown, address string) {
	if len(source.Sections) == 0 {
		return markup.CleanLine(source.Path), ""
	}
	address = sectionLink(source.Sections, 0)
	if web, ok := markup.WebAddress(source.Sections[0].URL); ok && !r.Hyperlinks {
		return web, address
	}
	return markup.Place(source, source.Sections[0]), address
}

func sectionLink(sections []chat.Section, i int) string {
	if i >= len(sections) {
		return ""
	}
	if address, ok := markup.WebAddress(sections[i].URL); ok {
		return address
	}
	address, _ := markup.WebAddress(sections[i].View)
	return address
}

// markSpans are the marks that cite a source, each with a link to its passage as Cairn has it.
func markSpans(source chat.Source) line {
	if !slices.ContainsFunc(source.Sections, func(s chat.Section) bool { return s.View != "" }) {
		return line{{"[" + joinNumbers(source.Numbers) + "]", style{mark: true}}, {text: " "}}
	}
	marks := line{{"[", style{mark: true}}}
	for i, number := range source.Numbers {
		if i > 0 {
			marks = append(marks, span{",", style{mark: true}})
		}
		to := ""
		for _, section := range source.Sections {
			if section.Number == number {
				to, _ = markup.WebAddress(section.View)
			}
		}
		marks = append(marks, span{strconv.Itoa(number), style{mark: true, link: to}})
	}
	return append(marks, span{"]", style{mark: true}}, span{text: " "})
}

func joinNumbers(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = strconv.Itoa(number)
	}
	return strings.Join(texts, ",")
}

// Question writes a question and its choices, numbered from 1.
func (r Renderer) Question(question chat.Question) error {
	width := r.width()
	asks := line{{"? ", style{bold: true, mark: true}}}
	lines := prefixLines(renderMarkdown(question.Text, nil, width-2), asks, plainLine("  "))
	for i, choice := range question.Choices {
		row := plainLine(markup.CleanLine(choice.Label))
		if detail := markup.CleanLine(choice.Detail); detail != "" {
			row = append(row, span{"  " + detail, style{faint: true}})
		}
		lines = append(lines, hangingIndent(line{{fmt.Sprintf("  %2d", i+1), style{mark: true}}, {text: "  "}}, row, width)...)
	}
	if hint := questionHint(question); hint != "" {
		lines = append(lines, hangingIndent(plainLine("  "), faintLine(hint), width)...)
	}
	return r.writeLines(lines)
}

func questionHint(question chat.Question) string {
	switch {
	case len(question.Choices) > 0 && question.FreeText:
		return "Type a number, or answer in your own words."
	case len(question.Choices) > 0:
		return "Type a number."
	}
	return "Type your answer."
}

// Progress writes one line for a step that has ended, and nothing before.
func (r Renderer) Progress(progress chat.Progress) error {
	if progress.Status != chat.Completed && progress.Status != chat.Failed {
		return nil
	}
	sign := line{{"✓ ", style{good: true}}}
	if progress.Status == chat.Failed {
		sign = line{{"✗ ", style{bad: true}}}
	}
	row := faintLine(markup.CleanLine(progress.Description) + formatTook(progress.Took))
	return r.writeLines(hangingIndent(sign, row, r.width()))
}

func formatTook(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " (" + formatDuration(d) + ")"
}

// formatDuration returns a time to three digits: "300µs", "21ms", "1.5s".
func formatDuration(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			return d.Round(unit / 10).String()
		}
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// endless is the width of what no line of text is as wide as.
const endless = 1 << 30

func (r Renderer) width() int {
	if r.Width == 0 {
		return endless
	}
	return max(r.Width, 20)
}

func (r Renderer) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// writeLines prints lines, styled where the terminal is to show it.
func (r Renderer) writeLines(lines []line) error {
	out := bufio.NewWriter(r.Out)
	for _, l := range lines {
		r.writeLine(out, l)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// writeLine leaves errors to the writer, which keeps the first one for Flush.
func (r Renderer) writeLine(out *bufio.Writer, l line) {
	if !r.Color && !r.Hyperlinks {
		l = plainLine(strings.TrimRight(spansText(l), " "))
	}
	r.writeSpans(out, l)
	out.WriteString("\n")
}

func (r Renderer) writeSpans(out *bufio.Writer, l line) {
	for _, s := range l {
		shown := s.text
		if r.Hyperlinks && s.style.link != "" {
			shown = "\x1b]8;;" + s.style.link + "\x1b\\" + shown + "\x1b]8;;\x1b\\"
		}
		if sgr := s.style.escapeSequence(); r.Color && sgr != "" {
			shown = sgr + shown + "\x1b[0m"
		}
		out.WriteString(shown)
	}
}
