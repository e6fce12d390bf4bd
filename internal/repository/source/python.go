package source

import (
	"bytes"
	"regexp"
	"strings"
)

var pythonSyntax = syntax{comments: []string{"#"}, quotes: `"'`, long: []string{`"""`, "'''"}, newlines: true}

func parsePython(content []byte) Facts {
	c := &cursor{tokens: pythonSyntax.scan(content)}
	var facts Facts
	for c.hasMore() {
		before := c.peek(-1)
		first := c.at == 0 || before.kind == newline || before.hasText(";") || before.hasText(":")
		t := c.next()
		switch {
		case !first:
		case t.hasText("import"):
			for {
				path := c.readDotted(".")
				if path == "" {
					break
				}
				facts.Imports = append(facts.Imports, Import{Path: path, Line: t.line})
				if c.takeToken("as") {
					c.next()
				}
				if !c.takeToken(",") {
					break
				}
			}
		case t.hasText("from"):
			if found, ok := c.readFrom(t.line); ok {
				facts.Imports = append(facts.Imports, found)
			}
		case t.hasText("if") && facts.Main == 0 && c.peek(0).hasText("__name__") && c.peek(3).kind == text && c.peek(3).text == "__main__":
			facts.Main = t.line
		}
	}
	deferred := deferredLines(content)
	for i := range facts.Imports {
		facts.Imports[i].Deferred = deferred[facts.Imports[i].Line]
	}
	return facts
}

// deferredBlock is the head of a block that loading a file of Python does not run.
var deferredBlock = regexp.MustCompile(`^(?:(?:async\s+)?def\s|if\s+(?:\w+\.)*TYPE_CHECKING\s*:)`)

// deferredLines returns the lines that stand in functions, or are for type checkers alone.
func deferredLines(content []byte) map[int]bool {
	deferred := make(map[int]bool)
	number, block := 0, -1 // the indent of the outermost such block, -1 outside of any
	for line := range bytes.Lines(content) {
		number++
		text := bytes.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] == '#' {
			continue
		}
		if block >= 0 && indent <= block && text[0] != ')' {
			block = -1
		}
		if block >= 0 {
			deferred[number] = true
		} else if deferredBlock.Match(text) {
			block = indent
		}
	}
	return deferred
}

// readFrom reads what stands behind "from".
func (c *cursor) readFrom(line int) (Import, bool) {
	var dots strings.Builder
	for c.takeToken(".") {
		dots.WriteByte('.')
	}
	found := Import{Line: line}
	if !c.peek(0).hasText("import") {
		found.Path = c.readDotted(".")
	}
	found.Path = dots.String() + found.Path
	if found.Path == "" || !c.takeToken("import") {
		return Import{}, false
	}
	inside := c.takeToken("(")
	for c.hasMore() {
		t := c.peek(0)
		switch {
		case t.kind == newline && inside, t.hasText(","):
			c.at++
		case t.kind == word:
			found.Names = append(found.Names, t.text)
			c.at++
			if c.takeToken("as") {
				c.next()
			}
		default:
			return found, true
		}
	}
	return found, true
}
