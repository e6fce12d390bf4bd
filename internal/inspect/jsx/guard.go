package jsx

import (
	"fmt"
	"strings"
)

// Limits of a file that is read. Parsers nest as deep as what they read: one level costs up to
// 7 KB of stack, and nested functions cost esbuild the third power of their depth (measured: 10 s
// for 1,000 of them, 0.03 s for 100). The largest generated files have 50 KB, 1,200 brackets and 110 functions.
const (
	// MaxBytes is the size of a file.
	MaxBytes = 256 << 10
	// maxBrackets is how many brackets, tags and templates a file opens.
	maxBrackets = 20_000
	// maxDepth is how deep these nest; operators before a value count as well.
	maxDepth = 250
	// maxBlocks is how deep functions and blocks nest: at 300, both limits together, the slowest
	// kind took 0.5 s.
	maxBlocks = 100
	// maxHidden is how many functions may begin in strings and comments: the scan may take code
	// for one of these, and can't know how deep it nests.
	maxHidden = 200
)

// checkLimits refuses a file that would cost its parsers too much.
func checkLimits(path string, content []byte) *SyntaxError {
	if len(content) > MaxBytes {
		return &SyntaxError{Path: path, Text: fmt.Sprintf("larger than the %d KiB that are read", MaxBytes>>10)}
	}
	opened := 0
	for _, c := range content {
		switch c {
		case '(', '[', '{', '<', '`':
			opened++
		}
	}
	if opened > maxBrackets {
		return &SyntaxError{Path: path, Text: fmt.Sprintf("more than the %d brackets that are read", maxBrackets)}
	}
	m := depthMeter{content: content, line: 1}
	if limit := m.findExcess(); limit != "" {
		return &SyntaxError{Path: path, Line: m.line, Text: limit}
	}
	return nil
}

// depthMeter follows the nesting of a file by its brackets, outside of strings and comments.
// It knows no JSX text and no regular expressions: an apostrophe there hides the rest of its line.
type depthMeter struct {
	content []byte
	at      int
	line    int
	open    []byte // brackets that are open; of a block: '}'
	prefix  int    // arrows and operators that wait for a value
	blocks  int    // of the open brackets
	hidden  int    // functions that began in strings and comments
	last    byte   // that is no space
}

// findExcess returns the limit that the file exceeds, with the remedy; "" for none.
func (m *depthMeter) findExcess() string {
	for m.at < len(m.content) {
		c := m.content[m.at]
		switch {
		case c == '\n':
			m.line++
		case c == '"' || c == '\'':
			m.skipString(c)
		case c == '/' && m.hasNext('/'):
			m.skipTo("\n")
			continue
		case c == '/' && m.hasNext('*'):
			m.skipTo("*/")
		case c == '`' && len(m.open) > 0 && m.open[len(m.open)-1] == '`':
			m.open = m.open[:len(m.open)-1]
		case c == '(' || c == '[' || c == '{' || c == '`':
			m.push(c)
		case c == ')' || c == ']' || c == '}':
			m.pop()
		case c == ';' || c == ',':
			m.prefix = 0
		case c == '=' && m.hasNext('>'), c == '!', c == '~', c == '?', c == '<' && !m.hasNext('/'):
			m.prefix++
		case c == '<':
			m.prefix = max(0, m.prefix-1)
		}
		switch {
		case m.blocks > maxBlocks:
			return fmt.Sprintf("functions and blocks are nested deeper than the %d levels that are read: split the function", maxBlocks)
		case m.hidden > maxHidden:
			return fmt.Sprintf("more than the %d functions in strings and comments that are read: move them to another file", maxHidden)
		case len(m.open)+m.prefix > maxDepth:
			return fmt.Sprintf("nested deeper than the %d levels that are read: split it into smaller components or functions", maxDepth)
		}
		if c > ' ' {
			m.last = c
		}
		m.at++
	}
	return ""
}

// push opens a bracket. A brace where no value stands is a block's.
func (m *depthMeter) push(c byte) {
	if c == '{' && strings.IndexByte("=(,:[?&|$", m.last) < 0 {
		c = '}'
		m.blocks++
	}
	m.open = append(m.open, c)
}

func (m *depthMeter) pop() {
	m.prefix = 0
	if len(m.open) == 0 || m.open[len(m.open)-1] == '`' {
		return
	}
	if m.open[len(m.open)-1] == '}' {
		m.blocks--
	}
	m.open = m.open[:len(m.open)-1]
}

// countHidden counts the functions in a string or comment: a brace after a parenthesis, or an
// arrow, begins one.
func (m *depthMeter) countHidden(text []byte) {
	afterParameters := false
	for i, c := range text {
		switch {
		case c == ')':
			afterParameters = true
		case c == '{' && afterParameters:
			m.hidden++
			afterParameters = false
		case c == '>' && i > 0 && text[i-1] == '=':
			m.hidden++
			afterParameters = false
		}
	}
}

func (m *depthMeter) hasNext(c byte) bool { return m.at+1 < len(m.content) && m.content[m.at+1] == c }

// skipString goes to the end of a string, or of its line.
func (m *depthMeter) skipString(quote byte) {
	for at := m.at + 1; at < len(m.content) && m.content[at] != '\n'; at++ {
		switch m.content[at] {
		case '\\':
			at++
		case quote:
			m.countHidden(m.content[m.at:at])
			m.at = at
			return
		}
	}
}

// skipTo goes to the last byte before a line's end, or of a comment's.
func (m *depthMeter) skipTo(end string) {
	begin := m.at
	defer func() { m.countHidden(m.content[begin:min(m.at, len(m.content))]) }()
	for m.at < len(m.content) {
		if m.content[m.at] == '\n' {
			if end == "\n" {
				return
			}
			m.line++
		}
		if end == "*/" && m.content[m.at] == '*' && m.hasNext('/') {
			m.at++
			return
		}
		m.at++
	}
}
