// Package terminal shows the bot in a terminal: a Renderer for single answers, and
// Chat, the adapter that talks with one person line by line.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// Renderer writes what the bot says. All text is taken as data: control characters,
// escape sequences and bidi overrides in it are left out.
type Renderer struct {
	Out        io.Writer
	Width      int              // columns; below 20 counts as 20
	Color      bool             // styles by escape sequences
	Hyperlinks bool             // links that a click opens, by OSC 8
	Now        func() time.Time // what ages are told from; nil is time.Now
}

// Reply writes an answer, its note, and its sources by category.
func (r Renderer) Reply(reply chat.Reply) error {
	width := r.width()
	lines := markdown(reply.Text, reply.Sources, width)
	if reply.Outcome == chat.Failure {
		failed := line{{"✗ ", style{bad: true}}}
		lines = prefixed(markdown(reply.Text, nil, width-2), failed, plain("  "))
		lines = append(lines, hanging(plain("  "), faint("run "+markup.CleanLine(string(reply.Run))), width)...)
	}
	if note := markup.CleanLine(reply.Note); note != "" {
		lines = append(append(lines, line{}), wrap(line{{note, style{faint: true, italic: true}}}, width)...)
	}
	for _, group := range reply.Sources {
		lines = append(lines, line{})
		lines = append(lines, wrap(line{{markup.CleanLine(group.Category), style{bold: true}}}, width)...)
		for _, source := range group.Sources {
			lines = append(lines, r.source(source)...)
		}
	}
	return r.write(lines)
}

// source is one row: its marks, title, sections, place and age.
func (r Renderer) source(source chat.Source) []line {
	marks := line{{" · ", style{faint: true}}}
	if len(source.Numbers) > 0 {
		numbers := make([]string, len(source.Numbers))
		for i, number := range source.Numbers {
			numbers[i] = strconv.Itoa(number)
		}
		marks = line{{"[" + strings.Join(numbers, ",") + "]", style{mark: true}}, {text: " "}}
	}
	row := line{{markup.CleanLine(source.Title), style{bold: true, link: link(source.Sections, 0)}}}
	separator := " — "
	for i, section := range source.Sections {
		heading := markup.CleanLine(section.Heading)
		if heading == "" {
			continue
		}
		row = append(row, span{text: separator}, span{heading, style{link: link(source.Sections, i)}})
		separator = " · "
	}
	if place, address := r.place(source); place != "" {
		row = append(row, span{text: "  "}, span{place, style{faint: true, link: address}})
	}
	if fresh := markup.Freshness(source, r.now()); fresh != "" {
		row = append(row, span{text: "  "}, span{"(" + fresh + ")", style{faint: source.State == "live", bad: source.State == "gone"}})
	}
	return hanging(marks, row, r.width())
}

// place is where the source's first cited section is: short where a click opens it,
// else the address to copy.
func (r Renderer) place(source chat.Source) (shown, address string) {
	if len(source.Sections) == 0 {
		return markup.CleanLine(source.Path), ""
	}
	address = link(source.Sections, 0)
	if web, ok := markup.WebAddress(source.Sections[0].URL); ok && !r.Hyperlinks {
		return web, address
	}
	return markup.Place(source, source.Sections[0]), address
}

func link(sections []chat.Section, i int) string {
	if i >= len(sections) {
		return ""
	}
	if address, ok := markup.WebAddress(sections[i].URL); ok {
		return address
	}
	if address, ok := markup.FileAddress(sections[i].URL); ok {
		return address
	}
	return ""
}

// Question writes a question and its choices, numbered from 1.
func (r Renderer) Question(question chat.Question) error {
	width := r.width()
	asks := line{{"? ", style{bold: true, mark: true}}}
	lines := prefixed(markdown(question.Text, nil, width-2), asks, plain("  "))
	for i, choice := range question.Choices {
		row := plain(markup.CleanLine(choice.Label))
		if detail := markup.CleanLine(choice.Detail); detail != "" {
			row = append(row, span{"  " + detail, style{faint: true}})
		}
		lines = append(lines, hanging(line{{fmt.Sprintf("  %2d", i+1), style{mark: true}}, {text: "  "}}, row, width)...)
	}
	if hint := hint(question); hint != "" {
		lines = append(lines, hanging(plain("  "), faint(hint), width)...)
	}
	return r.write(lines)
}

func hint(question chat.Question) string {
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
	row := faint(markup.CleanLine(progress.Description) + took(progress.Took))
	return r.write(hanging(sign, row, r.width()))
}

func took(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " (" + duration(d) + ")"
}

// duration is a time to three digits: "300µs", "21ms", "1.5s".
func duration(d time.Duration) string {
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

func (r Renderer) width() int { return max(r.Width, 20) }

func (r Renderer) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// write prints lines, styled where the terminal is to show it.
func (r Renderer) write(lines []line) error {
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
		l = plain(strings.TrimRight(text(l), " "))
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
		if sgr := s.style.sgr(); r.Color && sgr != "" {
			shown = sgr + shown + "\x1b[0m"
		}
		out.WriteString(shown)
	}
}
