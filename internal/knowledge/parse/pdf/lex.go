package pdf

import (
	"bytes"
	"strconv"
)

// kind is the type of an object.
type kind byte

const (
	null kind = iota
	number
	text // a string
	name
	array
	dictionary
	reference
	keyword // an operator, or a word of the file's structure
	end     // of the input
)

// object is a PDF object; which fields count depends on its kind.
type object struct {
	kind   kind
	number float64 // also the object number of a reference
	text   string  // of strings, names and keywords
	items  []object
	dict   map[string]object
	stream []byte // packed, of a dictionary that has one
}

func (o object) toInt() int {
	if o.kind != number && o.kind != reference || o.number > 1<<40 || o.number < -1<<40 {
		return 0
	}
	return int(o.number)
}

const (
	maxNesting  = 64
	maxElements = 3_000_000 // objects made of one file's dictionaries and arrays
)

// lexer reads objects from bytes.
type lexer struct {
	data     []byte
	at       int
	elements *int // counted up to maxElements, beyond which containers end
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0
}

func (l *lexer) skipSpace() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case isSpace(c):
			l.at++
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// readObject reads an object. References are only known where refs is set: content streams
// have none.
func (l *lexer) readObject(refs bool, depth int) object {
	l.skipSpace()
	if l.at >= len(l.data) {
		return object{kind: end}
	}
	*l.elements++
	switch c := l.data[l.at]; {
	case c == '/':
		l.at++
		return object{kind: name, text: l.readName()}
	case c == '(':
		return object{kind: text, text: l.readLiteral()}
	case c == '<' && l.peek(1) == '<':
		l.at += 2
		return l.readDictionary(refs, depth)
	case c == '<':
		l.at++
		return object{kind: text, text: l.readHex()}
	case c == '[':
		l.at++
		return object{kind: array, items: l.readItems(refs, depth)}
	case c == '>' && l.peek(1) == '>':
		l.at += 2
		return object{kind: keyword, text: ">>"}
	case isDelimiter(c):
		l.at++
		return object{kind: keyword, text: string(c)}
	}
	return l.readWord(refs)
}

func (l *lexer) peek(ahead int) byte {
	if l.at+ahead < len(l.data) {
		return l.data[l.at+ahead]
	}
	return 0
}

func (l *lexer) readRegular() []byte {
	start := l.at
	for l.at < len(l.data) && !isSpace(l.data[l.at]) && !isDelimiter(l.data[l.at]) {
		l.at++
	}
	return l.data[start:l.at]
}

func (l *lexer) readName() string {
	raw := l.readRegular()
	if bytes.IndexByte(raw, '#') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) && hexValue(raw[i+1]) >= 0 && hexValue(raw[i+2]) >= 0 {
			out = append(out, byte(hexValue(raw[i+1])<<4|hexValue(raw[i+2])))
			i += 2
			continue
		}
		out = append(out, raw[i])
	}
	return string(out)
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) readHex() string {
	var out []byte
	high := -1
	for l.at < len(l.data) {
		c := l.data[l.at]
		l.at++
		if c == '>' {
			break
		}
		value := hexValue(c)
		switch {
		case value < 0:
		case high < 0:
			high = value
		default:
			out = append(out, byte(high<<4|value))
			high = -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return string(out)
}

// readLiteral reads a string in parentheses, which may nest.
func (l *lexer) readLiteral() string {
	var out []byte
	open := 0
	for l.at < len(l.data) {
		c := l.data[l.at]
		l.at++
		switch c {
		case '(':
			if open++; open == 1 {
				continue
			}
		case ')':
			if open--; open == 0 {
				return string(out)
			}
		case '\\':
			out = l.readEscape(out)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func (l *lexer) readEscape(out []byte) []byte {
	c := l.peek(0)
	l.at++
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b', 'f':
		return append(out, ' ')
	case '\r':
		if l.peek(0) == '\n' {
			l.at++
		}
		return out
	case '\n':
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	value := int(c - '0')
	for range 2 {
		if d := l.peek(0); d >= '0' && d <= '7' {
			value = value<<3 | int(d-'0')
			l.at++
		}
	}
	return append(out, byte(value))
}

// readItems reads the elements of an array up to its end.
func (l *lexer) readItems(refs bool, depth int) []object {
	var items []object
	for depth < maxNesting && *l.elements < maxElements {
		item := l.readObject(refs, depth+1)
		if item.kind == end || item.kind == keyword && (item.text == "]" || item.text == "endobj") {
			break
		}
		items = append(items, item)
	}
	return items
}

func (l *lexer) readDictionary(refs bool, depth int) object {
	dict := make(map[string]object)
	for depth < maxNesting && *l.elements < maxElements {
		key := l.readObject(refs, depth+1)
		if key.kind == end || key.kind == keyword && (key.text == ">>" || key.text == "endobj" || key.text == "stream") {
			break
		}
		if key.kind != name {
			continue
		}
		value := l.readObject(refs, depth+1)
		if value.kind == keyword && value.text == ">>" {
			break
		}
		dict[key.text] = value
	}
	return object{kind: dictionary, dict: dict}
}

// readWord reads a number, a reference or a keyword.
func (l *lexer) readWord(refs bool) object {
	raw := l.readRegular()
	if len(raw) == 0 {
		l.at++
		return object{}
	}
	if c := raw[0]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' {
		if string(raw) == "null" {
			return object{}
		}
		return object{kind: keyword, text: string(raw)}
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || value != value || value > 1e12 || value < -1e12 {
		return object{kind: number} // damaged: nothing depends on one number
	}
	if refs && value >= 0 && isDigits(raw) && l.endsReference() {
		return object{kind: reference, number: value}
	}
	return object{kind: number, number: value}
}

func isDigits(raw []byte) bool {
	return len(bytes.Trim(raw, "0123456789")) == 0
}

// endsReference takes "0 R" if that is what follows.
func (l *lexer) endsReference() bool {
	before := l.at
	l.skipSpace()
	generation := l.readRegular()
	l.skipSpace()
	if len(generation) > 0 && isDigits(generation) && l.peek(0) == 'R' {
		if after := l.peek(1); l.at+1 >= len(l.data) || isSpace(after) || isDelimiter(after) {
			l.at++
			return true
		}
	}
	l.at = before
	return false
}
