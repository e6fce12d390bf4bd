package pdf

import (
	"context"
	"fmt"
	"math"
)

const (
	maxOperands = 4096
	maxForms    = 12        // forms drawn inside one another
	maxStates   = 512       // graphics states saved
	maxGlyphs   = 2_000_000 // of one page
	maxBytes    = 32 << 20  // of one page's instructions, packed and unpacked, forms counted each time
	checkEvery  = 4096      // instructions between two looks at the context
)

// matrix is a transformation: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// multiply returns the transformation m followed by n.
func (m matrix) multiply(n matrix) matrix {
	return matrix{
		a: m.a*n.a + m.b*n.c, b: m.a*n.b + m.b*n.d,
		c: m.c*n.a + m.d*n.c, d: m.c*n.b + m.d*n.d,
		e: m.e*n.a + m.f*n.c + n.e, f: m.e*n.b + m.f*n.d + n.f,
	}
}

// state is the part of the graphics state that text depends on.
type state struct {
	ctm                    matrix
	font                   *font
	size, charSpace        float64
	wordSpace, scale, rise float64
	leading                float64
	textMatrix, lineMatrix matrix
}

// glyph is a shown character on the page.
type glyph struct {
	text               string
	x, y               float64 // where its baseline begins
	advanceX, advanceY float64
	size               float64
}

// painter follows the instructions of one page.
type painter struct {
	file   *file
	state  state
	saved  []state
	glyphs []glyph
	bytes  int // of instructions followed
	count  int
}

// paintPage returns the characters of a page in the order they are drawn.
func (f *file) paintPage(ctx context.Context, p page) ([]glyph, error) {
	made := &painter{file: f, state: state{ctm: identity, scale: 1, textMatrix: identity, lineMatrix: identity}}
	var instructions []byte
	for _, part := range f.listOf(p.contents) {
		stream := f.resolveReference(part)
		if made.bytes += len(stream.stream); made.bytes > maxBytes {
			return nil, &LimitError{What: "bytes of instructions on one page", Limit: maxBytes}
		}
		data, err := f.decodeStream(stream)
		if isLimit(err) {
			return nil, err
		}
		if err != nil {
			continue // a damaged part hides its own text alone
		}
		instructions = append(append(instructions, data...), '\n')
		if len(instructions) > maxBytes {
			return nil, &LimitError{What: "bytes of instructions on one page", Limit: maxBytes}
		}
	}
	if err := made.runInstructions(ctx, instructions, p.resources, 0); err != nil {
		return nil, err
	}
	return made.glyphs, nil
}

func (p *painter) runInstructions(ctx context.Context, instructions []byte, resources map[string]object, depth int) error {
	if p.bytes += len(instructions); p.bytes > maxBytes {
		return &LimitError{What: "bytes of instructions on one page", Limit: maxBytes}
	}
	elements := 0
	l := &lexer{data: instructions, elements: &elements}
	var operands []object
	for {
		elements = 0
		o := l.readObject(false, 0)
		switch {
		case o.kind == end:
			return nil
		case o.kind != keyword:
			if len(operands) < maxOperands {
				operands = append(operands, o)
			}
			continue
		case o.text == "BI":
			l.skipImage()
		case o.text == "Do" && len(operands) == 1:
			if err := p.runForm(ctx, operands[0].text, resources, depth); err != nil {
				return err
			}
		default:
			p.runOperator(o.text, operands, resources)
		}
		operands = operands[:0]
		if len(p.glyphs) > maxGlyphs {
			return &LimitError{What: "characters on one page", Limit: maxGlyphs}
		}
		if p.count++; p.count%checkEvery == 0 && ctx.Err() != nil {
			return fmt.Errorf("read page: %w", ctx.Err())
		}
	}
}

// skipImage steps over the bytes of an image that stands between instructions.
func (l *lexer) skipImage() {
	for at := l.at; at+2 < len(l.data); at++ {
		if l.data[at] == 'E' && l.data[at+1] == 'I' && isSpace(l.data[at-1]) && isSpace(l.data[at+2]) {
			l.at = at + 2
			return
		}
	}
	l.at = len(l.data)
}

// runForm follows the instructions of a form, a drawing used by name.
func (p *painter) runForm(ctx context.Context, name string, resources map[string]object, depth int) error {
	o := p.file.resolveReference(p.file.dictOf(resources["XObject"])[name])
	if p.file.nameOf(p.file.resolveReference(o.dict["Subtype"])) != "Form" || depth >= maxForms {
		return nil
	}
	p.bytes += len(o.stream)
	data, err := p.file.decodeStream(o)
	if isLimit(err) {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // a damaged form hides its own text alone
	}
	if own := p.file.dictOf(o.dict["Resources"]); own != nil {
		resources = own
	}
	before := p.state
	if m := p.file.listOf(o.dict["Matrix"]); len(m) == 6 {
		p.state.ctm = asMatrix(m).multiply(p.state.ctm)
	}
	err = p.runInstructions(ctx, data, resources, depth+1)
	p.state = before
	return err
}

func asMatrix(o []object) matrix {
	return matrix{a: o[0].number, b: o[1].number, c: o[2].number, d: o[3].number, e: o[4].number, f: o[5].number}
}

// runOperator follows one instruction; those that text does not depend on are ignored.
func (p *painter) runOperator(operator string, operands []object, resources map[string]object) {
	s := &p.state
	switch operator {
	case "q":
		if len(p.saved) < maxStates {
			p.saved = append(p.saved, *s)
		}
		return
	case "Q":
		if last := len(p.saved) - 1; last >= 0 {
			*s, p.saved = p.saved[last], p.saved[:last]
		}
		return
	case "BT":
		s.textMatrix, s.lineMatrix = identity, identity
		return
	case "T*":
		p.newLine(0, -s.leading)
		return
	}
	if len(operands) < operandCount[operator] {
		return
	}
	n := func(i int) float64 { return operands[i].number }
	switch operator {
	case "cm":
		s.ctm = asMatrix(operands).multiply(s.ctm)
	case "Tm":
		s.textMatrix = asMatrix(operands)
		s.lineMatrix = s.textMatrix
	case "Td":
		p.newLine(n(0), n(1))
	case "TD":
		s.leading = -n(1)
		p.newLine(n(0), n(1))
	case "Tf":
		s.font = p.file.fontNamed(p.file.dictOf(resources["Font"]), operands[0].text)
		s.size = n(1)
	case "Tj":
		p.showString(operands[0].text)
	case "'":
		p.newLine(0, -s.leading)
		p.showString(operands[0].text)
	case "\"":
		s.wordSpace, s.charSpace = n(0), n(1)
		p.newLine(0, -s.leading)
		p.showString(operands[2].text)
	case "TJ":
		for _, item := range operands[0].items {
			if item.kind == text {
				p.showString(item.text)
			} else {
				p.moveBy(-item.number / 1000 * s.size * s.scale)
			}
		}
	default:
		s.setNumber(operator, operands)
	}
}

// setNumber follows the instructions that only set a number.
func (s *state) setNumber(operator string, operands []object) {
	switch operator {
	case "TL":
		s.leading = operands[0].number
	case "Tc":
		s.charSpace = operands[0].number
	case "Tw":
		s.wordSpace = operands[0].number
	case "Tz":
		s.scale = operands[0].number / 100
	case "Ts":
		s.rise = operands[0].number
	}
}

// operandCount is how many operands an instruction needs.
var operandCount = map[string]int{
	"cm": 6, "Tm": 6, "Td": 2, "TD": 2, "Tf": 2, "Tj": 1, "'": 1, "\"": 3, "TJ": 1,
	"TL": 1, "Tc": 1, "Tw": 1, "Tz": 1, "Ts": 1,
}

func (p *painter) newLine(x, y float64) {
	p.state.lineMatrix = matrix{a: 1, d: 1, e: x, f: y}.multiply(p.state.lineMatrix)
	p.state.textMatrix = p.state.lineMatrix
}

func (p *painter) moveBy(x float64) {
	p.state.textMatrix = matrix{a: 1, d: 1, e: x}.multiply(p.state.textMatrix)
}

// showString draws a string.
func (p *painter) showString(raw string) {
	s := &p.state
	if s.font == nil || len(p.glyphs) > maxGlyphs {
		return
	}
	for _, u := range s.font.decodeString(raw) {
		width := u.width / 1000 * s.size * s.scale
		at := matrix{a: 1, d: 1, f: s.rise}.multiply(s.textMatrix).multiply(s.ctm)
		g := glyph{
			text: u.text, x: at.e, y: at.f, advanceX: width * at.a, advanceY: width * at.b,
			size: math.Abs(s.size) * math.Hypot(at.c, at.d),
		}
		if u.text != "" && !math.IsNaN(g.x+g.y+g.size) && !math.IsInf(g.x+g.y+g.size, 0) {
			p.glyphs = append(p.glyphs, g)
		}
		step := width + s.charSpace*s.scale
		if u.space {
			step += s.wordSpace * s.scale
		}
		p.moveBy(step)
	}
}
