package source

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind int

const (
	word        kind = iota // an identifier, a keyword or a number
	text                    // the inside of a string, as it is written
	punctuation             // one character
	newline
)

// token is a piece of source code.
type token struct {
	kind kind
	text string
	line int
}

func (t token) hasText(written string) bool {
	return (t.kind == word || t.kind == punctuation) && t.text == written
}

// syntax is what a scanner must know of a language.
type syntax struct {
	comments []string  // to the end of the line
	block    [2]string // a comment between these
	nested   bool      // blocks can stand in one another
	quotes   string    // of strings on one line
	long     []string  // of strings over several lines
	template bool      // strings between back-quotes have code in them
	regexps  bool      // a slash may begin a regular expression
	rust     bool      // 'a is no string; r#"…"#
	verbatim bool      // @"…" has no escapes
	newlines bool      // the ends of lines are tokens
}

// scanner cuts source code into tokens.
type scanner struct {
	syntax
	rest   []byte
	line   int
	tokens []token
}

// maxTokens is how many tokens of a file are looked at: imports stand at the beginning,
// and a file with more than that was written by a program.
const maxTokens = 200_000

// scan returns the tokens of a file.
func (s syntax) scan(content []byte) []token {
	x := &scanner{syntax: s, rest: content, line: 1}
	for len(x.rest) > 0 && len(x.tokens) < maxTokens {
		x.next()
	}
	return x.tokens
}

func (x *scanner) addToken(k kind, text string) {
	x.tokens = append(x.tokens, token{k, text, x.line})
}

// skipBytes passes bytes, counting lines.
func (x *scanner) skipBytes(length int) {
	length = min(length, len(x.rest))
	x.line += bytes.Count(x.rest[:length], []byte{'\n'})
	x.rest = x.rest[length:]
}

func (x *scanner) hasPrefix(prefix string) bool {
	return prefix != "" && len(x.rest) >= len(prefix) && string(x.rest[:len(prefix)]) == prefix
}

func (x *scanner) next() {
	c := x.rest[0]
	switch {
	case x.skipComment(), x.readQuoted():
	case c == '\n':
		if x.newlines {
			x.addToken(newline, "")
		}
		x.skipBytes(1)
	case c == '\\' && x.newlines && len(x.rest) > 1 && (x.rest[1] == '\n' || x.rest[1] == '\r'):
		x.skipBytes(1 + bytes.IndexByte(x.rest, '\n'))
	case c == ' ' || c == '\t' || c == '\r':
		x.skipBytes(1)
	case isWord(rune(c)) || c >= utf8.RuneSelf:
		x.readWord()
	default:
		x.addToken(punctuation, string(x.rest[:1]))
		x.skipBytes(1)
	}
}

// skipComment passes a comment, if one begins here.
func (x *scanner) skipComment() bool {
	for _, mark := range x.comments {
		if x.hasPrefix(mark) {
			end := bytes.IndexByte(x.rest, '\n')
			if end < 0 {
				end = len(x.rest)
			}
			x.skipBytes(end)
			return true
		}
	}
	if !x.hasPrefix(x.block[0]) {
		return false
	}
	opening, closing := x.block[0], x.block[1]
	x.skipBytes(len(opening))
	for depth := 1; depth > 0 && len(x.rest) > 0; {
		switch {
		case x.hasPrefix(closing):
			depth--
			x.skipBytes(len(closing))
		case x.nested && x.hasPrefix(opening):
			depth++
			x.skipBytes(len(opening))
		default:
			x.skipBytes(x.distanceTo(opening[0], closing[0]))
		}
	}
	return true
}

// distanceTo returns the distance to the next of two bytes behind this one.
func (x *scanner) distanceTo(a, b byte) int {
	if next := bytes.IndexAny(x.rest[1:], string([]byte{a, b})); next >= 0 {
		return 1 + next
	}
	return len(x.rest)
}

// readQuoted reads a string or regular expression, if one begins here.
func (x *scanner) readQuoted() bool {
	c := x.rest[0]
	if x.rust && x.readRustQuote() {
		return true
	}
	if x.verbatim && x.hasPrefix(`@"`) {
		x.skipBytes(1)
		x.readString(`"`, false, true)
		return true
	}
	for _, mark := range x.long {
		if x.hasPrefix(mark) {
			x.readString(mark, true, true)
			return true
		}
	}
	switch {
	case x.template && c == '`':
		x.readTemplate()
		return true
	case strings.IndexByte(x.quotes, c) >= 0:
		x.readString(string(c), true, x.rust) // those of Rust go over lines
		return true
	case x.regexps && c == '/' && x.mayBeRegexp():
		x.skipRegexp()
		return true
	}
	return false
}

// readString reads a string that ends with the mark that it begins with. One that should stand
// on one line ends there too: it is broken, or no string.
func (x *scanner) readString(mark string, escapes, lines bool) {
	started := x.line
	end := len(mark)
	for end < len(x.rest) {
		switch {
		case bytes.HasPrefix(x.rest[end:], []byte(mark)):
			inside := string(x.rest[len(mark):end])
			x.skipBytes(end + len(mark))
			x.tokens = append(x.tokens, token{text, inside, started})
			return
		case escapes && x.rest[end] == '\\':
			end += 2
		case !lines && x.rest[end] == '\n':
			x.skipBytes(end)
			return
		default:
			end++
		}
	}
	x.skipBytes(len(x.rest))
}

// readTemplate reads a string of JavaScript between back-quotes. Code in it is passed.
func (x *scanner) readTemplate() {
	started := x.line
	open := []byte{'`'} // what must be closed: a string, or a brace of code in one
	end := 1
	for end < len(x.rest) && len(open) > 0 {
		c, inside := x.rest[end], open[len(open)-1]
		switch {
		case c == '\\':
			end++
		case c == '`' && inside == '`':
			open = open[:len(open)-1]
		case c == '`':
			open = append(open, '`')
		case inside == '`' && c == '$' && end+1 < len(x.rest) && x.rest[end+1] == '{':
			open = append(open, '{')
			end++
		case inside == '{' && c == '{':
			open = append(open, '{')
		case inside == '{' && c == '}':
			open = open[:len(open)-1]
		}
		end++
	}
	end = min(end, len(x.rest))
	inside := string(x.rest[1:max(1, end-1)])
	x.skipBytes(end)
	x.tokens = append(x.tokens, token{text, inside, started})
}

// mayBeRegexp reports whether a slash begins a regular expression rather than divides.
func (x *scanner) mayBeRegexp() bool {
	if len(x.tokens) == 0 {
		return true
	}
	last := x.tokens[len(x.tokens)-1]
	switch last.kind {
	case word:
		switch last.text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield":
			return true
		}
		return false
	case punctuation:
		return !last.hasText(")") && !last.hasText("]") && !last.hasText("}")
	}
	return false
}

// skipRegexp passes a regular expression; a slash with no other on its line is none.
func (x *scanner) skipRegexp() {
	set := false
	for end := 1; end < len(x.rest) && x.rest[end] != '\n'; end++ {
		switch x.rest[end] {
		case '\\':
			end++
		case '[':
			set = true
		case ']':
			set = false
		case '/':
			if !set {
				x.skipBytes(end + 1)
				x.addToken(text, "")
				return
			}
		}
	}
	x.addToken(punctuation, "/")
	x.skipBytes(1)
}

// readRustQuote reads what begins with a quote or an r in Rust: a lifetime, a character, a raw
// string.
func (x *scanner) readRustQuote() bool {
	if x.rest[0] == '\'' {
		_, size := utf8.DecodeRune(x.rest[1:])
		if len(x.rest) > 1 && x.rest[1] != '\\' && (1+size >= len(x.rest) || x.rest[1+size] != '\'') {
			x.skipBytes(1)
			return true
		}
		x.readString("'", true, false)
		return true
	}
	start := 0
	if x.rest[0] == 'b' {
		start = 1
	}
	if start >= len(x.rest) || x.rest[start] != 'r' {
		return false
	}
	hashes := start + 1
	for hashes < len(x.rest) && x.rest[hashes] == '#' {
		hashes++
	}
	if hashes >= len(x.rest) || x.rest[hashes] != '"' {
		return false
	}
	closing := `"` + strings.Repeat("#", hashes-start-1)
	inside := x.rest[hashes+1:]
	end := bytes.Index(inside, []byte(closing))
	if end < 0 {
		x.skipBytes(len(x.rest))
		return true
	}
	x.addToken(text, string(inside[:end]))
	x.skipBytes(hashes + 1 + end + len(closing))
	return true
}

func (x *scanner) readWord() {
	end := 0
	for end < len(x.rest) {
		r, size := utf8.DecodeRune(x.rest[end:])
		if !isWord(r) && (r < utf8.RuneSelf || end > 0) {
			break
		}
		end += size
	}
	x.addToken(word, string(x.rest[:end]))
	x.skipBytes(end)
}

func isWord(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
