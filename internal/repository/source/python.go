package source

import "strings"

var pythonSyntax = syntax{comments: []string{"#"}, quotes: `"'`, long: []string{`"""`, "'''"}, newlines: true}

func parsePython(content []byte) Facts {
	c := &cursor{tokens: pythonSyntax.scan(content)}
	var facts Facts
	for c.more() {
		before := c.peek(-1)
		first := c.at == 0 || before.kind == newline || before.is(";") || before.is(":")
		t := c.next()
		switch {
		case !first:
		case t.is("import"):
			for {
				path := c.dotted(".")
				if path == "" {
					break
				}
				facts.Imports = append(facts.Imports, Import{Path: path, Line: t.line})
				if c.take("as") {
					c.next()
				}
				if !c.take(",") {
					break
				}
			}
		case t.is("from"):
			if found, ok := c.from(t.line); ok {
				facts.Imports = append(facts.Imports, found)
			}
		case t.is("if") && facts.Main == 0 && c.peek(0).is("__name__") && c.peek(3).kind == text && c.peek(3).text == "__main__":
			facts.Main = t.line
		}
	}
	return facts
}

// from reads what stands behind "from".
func (c *cursor) from(line int) (Import, bool) {
	var dots strings.Builder
	for c.take(".") {
		dots.WriteByte('.')
	}
	found := Import{Line: line}
	if !c.peek(0).is("import") {
		found.Path = c.dotted(".")
	}
	found.Path = dots.String() + found.Path
	if found.Path == "" || !c.take("import") {
		return Import{}, false
	}
	inside := c.take("(")
	for c.more() {
		t := c.peek(0)
		switch {
		case t.kind == newline && inside, t.is(","):
			c.at++
		case t.kind == word:
			found.Names = append(found.Names, t.text)
			c.at++
			if c.take("as") {
				c.next()
			}
		default:
			return found, true
		}
	}
	return found, true
}
