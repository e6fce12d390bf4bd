package jsx

import "fmt"

// Limits of a file that is read. Parsers nest as deep as what they read: one level costs up to
// 7 KB of stack, and nested functions cost esbuild the third power of their depth (measured: 10 s
// for 1,000 of them). The largest generated files have 50 KB, 1,200 brackets and 110 functions.
const (
	// MaxBytes is the size of a file.
	MaxBytes = 256 << 10
	// maxBrackets is how many brackets, tags and templates a file opens.
	maxBrackets = 20_000
	// maxDepth is how deep these nest; operators before a value count as well.
	maxDepth = 250
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
	if m.exceeds(maxDepth) {
		return &SyntaxError{Path: path, Line: m.line, Text: fmt.Sprintf("nested deeper than the %d levels that are read", maxDepth)}
	}
	return nil
}

// depthMeter follows the nesting of a file by its brackets, outside of strings and comments.
// It knows no JSX text: an apostrophe there hides the rest of its line.
type depthMeter struct {
	content []byte
	at      int
	line    int
	open    []byte // brackets that are open
	prefix  int    // arrows and operators that wait for a value
}

func (m *depthMeter) exceeds(most int) bool {
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
			m.open = append(m.open, c)
		case c == ')' || c == ']' || c == '}':
			if len(m.open) > 0 && m.open[len(m.open)-1] != '`' {
				m.open = m.open[:len(m.open)-1]
			}
			m.prefix = 0
		case c == ';' || c == ',':
			m.prefix = 0
		case c == '=' && m.hasNext('>'), c == '!', c == '~', c == '?', c == '<' && !m.hasNext('/'):
			m.prefix++
		case c == '<':
			m.prefix = max(0, m.prefix-1)
		}
		if len(m.open)+m.prefix > most {
			return true
		}
		m.at++
	}
	return false
}

func (m *depthMeter) hasNext(c byte) bool { return m.at+1 < len(m.content) && m.content[m.at+1] == c }

// skipString goes to the end of a string, or of its line.
func (m *depthMeter) skipString(quote byte) {
	for at := m.at + 1; at < len(m.content) && m.content[at] != '\n'; at++ {
		switch m.content[at] {
		case '\\':
			at++
		case quote:
			m.at = at
			return
		}
	}
}

// skipTo goes to the last byte before a line's end, or of a comment's.
func (m *depthMeter) skipTo(end string) {
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
