package pdf

import (
	"context"
	"math"
	"strings"
)

// wordGap is the distance between two characters, in parts of their size, from which
// there is a space between them: the narrowest that typesetters set is about .2.
const wordGap = 0.16

// pageLines returns the lines of a page in the order they are drawn.
func (f *file) pageLines(ctx context.Context, p page) ([]Line, error) {
	glyphs, err := f.paintPage(ctx, p)
	if err != nil {
		return nil, err
	}
	glyphs = rotateUpright(glyphs)
	var lines []Line
	var current lineBuilder
	for _, g := range glyphs {
		if !current.continuesLine(g) {
			lines = current.appendTo(lines)
			current = lineBuilder{}
		}
		current.addGlyph(g)
	}
	return current.appendTo(lines), nil
}

// rotateUpright turns a page so that most of its text runs from left to right, and leaves
// out what then does not.
func rotateUpright(glyphs []glyph) []glyph {
	var directions [4]int
	for _, g := range glyphs {
		directions[lineDirection(g)]++
	}
	most := 0
	for d, count := range directions {
		if count > directions[most] {
			most = d
		}
	}
	kept := glyphs[:0]
	for _, g := range glyphs {
		if lineDirection(g) != most {
			continue
		}
		switch most {
		case 1: // upwards
			g.x, g.y, g.advanceX = g.y, -g.x, g.advanceY
		case 2:
			g.x, g.y, g.advanceX = -g.x, -g.y, -g.advanceX
		case 3:
			g.x, g.y, g.advanceX = -g.y, g.x, -g.advanceY
		}
		kept = append(kept, g)
	}
	return kept
}

// lineDirection returns where a character's line runs to: 0 right, 1 up, 2 left, 3 down.
func lineDirection(g glyph) int {
	switch {
	case math.Abs(g.advanceX) >= math.Abs(g.advanceY) && g.advanceX >= 0:
		return 0
	case math.Abs(g.advanceX) >= math.Abs(g.advanceY):
		return 2
	case g.advanceY > 0:
		return 1
	}
	return 3
}

// lineBuilder collects the characters of one line.
type lineBuilder struct {
	text  strings.Builder
	line  Line
	right float64
	begun bool
}

// continuesLine reports whether a character goes on with the line: on about the same baseline
// (an index or exponent may leave it a little), and not back to the left.
func (b *lineBuilder) continuesLine(g glyph) bool {
	if !b.begun {
		return true
	}
	size := max(b.line.Size, g.size, 1)
	return math.Abs(g.y-b.line.Y) < 0.5*size && g.x > b.right-size
}

func (b *lineBuilder) addGlyph(g glyph) {
	if !b.begun {
		b.begun = true
		b.line = Line{X: g.x, Y: g.y, Size: g.size}
	} else if g.x-b.right > wordGap*max(g.size, 1) && !strings.HasSuffix(b.text.String(), " ") {
		b.text.WriteByte(' ')
	}
	if g.size > b.line.Size {
		b.line.Size, b.line.Y = g.size, g.y
	}
	b.text.WriteString(g.text)
	b.right = max(g.x, g.x+g.advanceX)
}

// appendTo adds the line unless it is empty.
func (b *lineBuilder) appendTo(lines []Line) []Line {
	b.line.Text = ligatures.Replace(strings.Join(strings.Fields(b.text.String()), " "))
	b.line.Right = b.right
	if b.line.Text == "" {
		return lines
	}
	return append(lines, b.line)
}

// ligatures are letters that fonts draw as one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "ft", "ﬆ", "st")
