package pdf

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// font says what the codes of a string are as text, and how wide.
type font struct {
	toUnicode *cmap // nil where the font has none
	encoding  [256]string
	composite bool            // codes take two bytes unless toUnicode says otherwise
	utf16     bool            // codes are UTF-16
	widths    map[int]float64 // by code
	ranges    []widthRange    // for what widths lacks
	otherwise float64         // width of a code that widths lacks; in thousandths of the size
}

// widthRange is the width of all codes from one to another.
type widthRange struct {
	from, to int
	width    float64
}

// unit is one code of a string: what it says and how far it moves.
type unit struct {
	text  string
	width float64 // in thousandths of the font's size
	space bool    // the single byte 32, which word spacing widens
}

// fontNamed loads a font of a page's resources once.
func (f *file) fontNamed(fonts map[string]object, name string) *font {
	o := fonts[name]
	if o.kind != reference && fonts != nil {
		// A font that has no number gets one below all others, to be found again.
		id := -1 - len(f.fonts)
		f.loaded[id] = o
		o = object{kind: reference, number: float64(id)}
		fonts[name] = o
	}
	if known := f.fonts[o.toInt()]; known != nil {
		return known
	}
	made := f.newFont(f.dictOf(o))
	f.fonts[o.toInt()] = made
	return made
}

func (f *file) newFont(dict map[string]object) *font {
	made := &font{widths: map[int]float64{}, otherwise: 500}
	if stream := f.resolveReference(dict["ToUnicode"]); stream.stream != nil && f.unpacked < f.limits.Bytes {
		if data, err := f.decodeStream(stream); err == nil {
			f.unpacked += int64(len(data))
			made.toUnicode = readCMap(data)
		}
	}
	if f.nameOf(f.resolveReference(dict["Subtype"])) == "Type0" {
		f.readComposite(made, dict)
		return made
	}
	name := f.nameOf(f.resolveReference(dict["BaseFont"]))
	f.simpleEncoding(made, f.resolveReference(dict["Encoding"]), name)
	scale := 1.0
	if matrix := f.listOf(dict["FontMatrix"]); len(matrix) == 6 && f.nameOf(dict["Subtype"]) == "Type3" {
		scale = f.resolveReference(matrix[0]).number * 1000
	}
	first := f.resolveReference(dict["FirstChar"]).toInt()
	for i, width := range f.listOf(dict["Widths"]) {
		made.widths[first+i] = f.resolveReference(width).number * scale
	}
	if strings.Contains(name, "Courier") {
		made.otherwise = 600
	}
	return made
}

// readComposite reads what a font of many characters says, of which CIDs are the codes
// where its encoding is Identity.
func (f *file) readComposite(made *font, dict map[string]object) {
	made.composite, made.otherwise = true, 1000
	encoding := f.nameOf(f.resolveReference(dict["Encoding"]))
	made.utf16 = strings.Contains(encoding, "UCS2") || strings.Contains(encoding, "UTF16")
	descendants := f.listOf(dict["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	descendant := f.dictOf(descendants[0])
	if width := f.resolveReference(descendant["DW"]); width.kind == number {
		made.otherwise = width.number
	}
	f.compositeWidths(made, f.listOf(descendant["W"]))
}

// maxCode is the highest code of two bytes.
const maxCode = 0xffff

// compositeWidths reads widths as "first [w w w]" and "first last w".
func (f *file) compositeWidths(made *font, widths []object) {
	for len(widths) >= 2 {
		first, second := f.resolveReference(widths[0]).toInt(), f.resolveReference(widths[1])
		if first < 0 || first > maxCode {
			return
		}
		if second.kind == array {
			for i, width := range second.items {
				made.widths[first+i] = f.resolveReference(width).number
			}
			widths = widths[2:]
			continue
		}
		if len(widths) < 3 {
			return
		}
		width := f.resolveReference(widths[2]).number
		if last := min(second.toInt(), maxCode); len(made.ranges) < maxRanges {
			made.ranges = append(made.ranges, widthRange{from: first, to: last, width: width})
		}
		widths = widths[3:]
	}
}

// simpleEncoding fills the table of a font of at most 256 characters.
func (f *file) simpleEncoding(made *font, encoding object, fontName string) {
	base := f.nameOf(encoding)
	if encoding.kind == dictionary {
		base = f.nameOf(f.resolveReference(encoding.dict["BaseEncoding"]))
	}
	for code := range made.encoding {
		r := winAnsi(byte(code))
		if base == "MacRomanEncoding" {
			r = charmap.Macintosh.DecodeByte(byte(code))
		}
		made.encoding[code] = string(r)
		if r < ' ' { // a font's own signs, of which only that of TeX's lists is known
			made.encoding[code] = ""
		}
	}
	if strings.Contains(fontName, "CMSY") {
		made.encoding[0x0f] = "•"
	}
	code := 0
	for _, item := range f.listOf(encoding.dict["Differences"]) {
		switch item = f.resolveReference(item); item.kind {
		case number:
			code = item.toInt()
		case name:
			if text := glyphText(item.text); text != "" && code >= 0 && code < len(made.encoding) {
				made.encoding[code] = text
			}
			code++
		}
	}
}

// winAnsi decodes a byte as Windows-1252; what that leaves open is nothing.
func winAnsi(c byte) rune {
	if r := charmap.Windows1252.DecodeByte(c); r != utf8.RuneError {
		return r
	}
	return ' '
}

// decodeString decodes a string that is shown in a font.
func (t *font) decodeString(raw string) []unit {
	units := make([]unit, 0, len(raw))
	for len(raw) > 0 {
		length := 1
		if t.composite {
			length = min(2, len(raw))
			if t.toUnicode != nil && t.toUnicode.oneByte {
				length = 1
			}
		}
		code := raw[:length]
		raw = raw[length:]
		value := 0
		for i := range len(code) {
			value = value<<8 | int(code[i])
		}
		units = append(units, unit{text: t.codeText(code, value), width: t.codeWidth(value), space: code == " "})
	}
	return units
}

// codeWidth returns the width of a code and remembers it where it was in a range.
func (t *font) codeWidth(code int) float64 {
	if width, ok := t.widths[code]; ok {
		return width
	}
	t.widths[code] = t.otherwise
	for _, r := range t.ranges {
		if code >= r.from && code <= r.to {
			t.widths[code] = r.width
			break
		}
	}
	return t.widths[code]
}

func (t *font) codeText(code string, value int) string {
	if t.toUnicode != nil {
		if text, ok := t.toUnicode.lookupCode(value); ok {
			return text
		}
	}
	switch {
	case t.utf16:
		return fromUTF16(code)
	case t.composite:
		return ""
	}
	return t.encoding[value&0xff]
}

// glyphText returns what a glyph's name says: "eacute", "f_i", "uni20AC"; "" where it
// says nothing.
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".")
	if text, ok := glyphNames[name]; ok {
		return text
	}
	if len(name) == 1 {
		return name
	}
	if parts := strings.Split(name, "_"); len(parts) > 1 && len(parts) <= 4 {
		joined := ""
		for _, part := range parts {
			joined += glyphText(part)
		}
		return joined
	}
	for _, prefix := range []string{"uni", "u"} {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok || len(digits) < 4 || len(digits) > 6 {
			continue
		}
		if value, err := strconv.ParseUint(digits, 16, 32); err == nil && value > 0x1f && utf8.ValidRune(rune(value)) {
			return string(rune(value))
		}
	}
	return ""
}
