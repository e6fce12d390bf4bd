package terminal

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// style is how a span looks. Without colour a span is its text alone.
type style struct {
	bold, faint, italic, strike, code, mark, good, bad bool
	whole                                              bool   // to copy: never broken inside
	link                                               string // address of an OSC 8 hyperlink, printable ASCII; "" for none
}

// escapeSequence returns the style's escape sequence after a reset.
func (s style) escapeSequence() string {
	codes := ""
	for _, c := range []struct {
		on   bool
		code string
	}{{s.bold, ";1"}, {s.faint, ";2"}, {s.italic, ";3"}, {s.strike, ";9"}, {s.code, ";33"}, {s.mark, ";36"}, {s.good, ";32"}, {s.bad, ";31"}} {
		if c.on {
			codes += c.code
		}
	}
	if codes == "" {
		return ""
	}
	return "\x1b[" + codes[1:] + "m"
}

// span is text of one style; a line break in it is "\n".
type span struct {
	text  string
	style style
}

// line is the spans of one line, without line breaks.
type line []span

func (l line) width() int { return displaywidth.String(spansText(l)) }

func plainLine(text string) line { return line{{text: text}} }

func faintLine(text string) line { return line{{text: text, style: style{faint: true}}} }

// cell is one grapheme cluster.
type cell struct {
	text  string
	width int
	style style
}

// splitCells cuts spans into clusters. One that spans meet in has the style of the first.
func splitCells(spans []span) []cell {
	var out []cell
	span, left := 0, 0 // where the cluster begins, and what is left of its span in bytes
	if len(spans) > 0 {
		left = len(spans[0].text)
	}
	for graphemes := displaywidth.StringGraphemes(spansText(spans)); graphemes.Next(); {
		for left <= 0 {
			span++
			left += len(spans[span].text)
		}
		out = append(out, cell{graphemes.Value(), graphemes.Width(), spans[span].style})
		left -= len(graphemes.Value())
	}
	return out
}

// wrapSpans breaks spans into lines of at most width columns: at spaces, next to wide
// characters, and inside a word only when it alone is wider than a line. What is to be kept
// whole is never broken, even where it is wider than the line. A cluster wider than the line
// stands alone on one. width must be positive.
func wrapSpans(spans []span, width int) []line {
	var lines []line
	rest := splitCells(spans)
	for len(rest) > 0 {
		end, next := breakAt(rest, width)
		lines = append(lines, joinCells(rest[:end]))
		rest = rest[next:]
	}
	if len(lines) == 0 {
		lines = []line{{}}
	}
	return lines
}

// breakAt returns where the first line of rest ends and where the next one begins.
func breakAt(rest []cell, width int) (end, next int) {
	used, last, lastNext, overruns := 0, 0, 0, false
	for i, c := range rest {
		inside := i > 0 && c.style.whole && rest[i-1].style.whole
		switch {
		case c.text == "\n":
			return i, i + 1
		case inside:
		case c.text == " ":
			if i > 0 && rest[i-1].text != " " {
				last = i
			}
			lastNext = i + 1
		case i > 0 && breaksBetween(rest[i-1], c):
			last, lastNext = i, i
		}
		used += c.width
		if used <= width {
			continue
		}
		switch {
		case last > 0:
			for overruns && lastNext < len(rest) && rest[lastNext].text == " " {
				lastNext++
			}
			return last, lastNext
		case overruns || c.style.whole: // the line ends where the next word begins
			overruns = true
			continue
		case c.text == " ": // only spaces so far, or a word that just fits
			return i, i + 1
		}
		return max(i, 1), max(i, 1)
	}
	return len(rest), len(rest)
}

// breaksBetween reports whether a line may break between two clusters that no space
// parts: scripts with wide characters break anywhere but before closing punctuation
// and after opening punctuation.
func breaksBetween(before, after cell) bool {
	if before.width < 2 && after.width < 2 || before.text == " " {
		return false
	}
	return !strings.ContainsAny(after.text, "，。、；：！？）」』】》.,;:!?)]}") && !strings.ContainsAny(before.text, "（「『【《([{")
}

// joinCells makes spans of the cells of a line. Marks that have nothing to combine with at
// its beginning are dropped: they would change what the line is put behind.
func joinCells(cells []cell) line {
	for len(cells) > 0 && cells[0].width == 0 {
		cells = cells[1:]
	}
	var out line
	var text strings.Builder
	for i, c := range cells {
		text.WriteString(c.text)
		if i+1 == len(cells) || cells[i+1].style != c.style {
			out = append(out, span{text.String(), c.style})
			text.Reset()
		}
	}
	return out
}

// prefixLines puts first before the first line and rest before the others.
func prefixLines(lines []line, first, rest line) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		out[i] = append(append(line{}, prefix...), l...)
	}
	return out
}

// hangingIndent wraps spans behind a first prefix; the following lines are indented by as
// much, or by two columns where that would leave less than half the width.
func hangingIndent(first line, spans []span, width int) []line {
	indent := first.width()
	if indent > width/2 {
		return prefixLines(wrapSpans(append(append(line{}, first...), spans...), max(width-2, 1)), nil, plainLine("  "))
	}
	return prefixLines(wrapSpans(spans, width-indent), first, plainLine(strings.Repeat(" ", indent)))
}

// padLine fills a line with spaces up to width.
func padLine(l line, width int) line {
	if missing := width - l.width(); missing > 0 {
		return append(append(line{}, l...), span{text: strings.Repeat(" ", missing)})
	}
	return l
}
