package source

import "strings"

// cursor reads tokens in a row. Behind the last there are empty ones.
type cursor struct {
	tokens []token
	at     int
}

func (c *cursor) hasMore() bool { return c.at < len(c.tokens) }

// peek returns the token some places ahead, or behind for a negative number.
func (c *cursor) peek(ahead int) token {
	if at := c.at + ahead; at >= 0 && at < len(c.tokens) {
		return c.tokens[at]
	}
	return token{kind: newline}
}

func (c *cursor) next() token {
	t := c.peek(0)
	c.at++
	return t
}

// takeToken passes a token if it is the one named.
func (c *cursor) takeToken(text string) bool {
	if c.peek(0).hasText(text) {
		c.at++
		return true
	}
	return false
}

// readDotted reads words with a separator between them: "a.b.c", "a::b", `A\B`. The separator
// is one character, once or several times.
func (c *cursor) readDotted(separator string) string {
	var parts []string
	for {
		t := c.peek(0)
		if t.kind != word {
			break
		}
		parts = append(parts, t.text)
		c.at++
		length := 0
		for length < len(separator) && c.peek(length).hasText(separator[:1]) {
			length++
		}
		if length < len(separator) || c.peek(length).kind != word {
			break
		}
		c.at += length
	}
	return strings.Join(parts, separator)
}

// startsStatement reports whether the token at the cursor is the first of a statement in a language
// with braces.
func (c *cursor) startsStatement() bool {
	before := c.peek(-1)
	return c.at == 0 || before.hasText(";") || before.hasText("{") || before.hasText("}") || before.hasText(")") || before.hasText("]") || before.kind == newline
}
