package source

var rustSyntax = syntax{comments: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, quotes: `"`, rust: true}

// parseRust reads Rust. "mod a;" is an import of "mod::a".
func parseRust(content []byte) Facts {
	c := &cursor{tokens: rustSyntax.scan(content)}
	var facts Facts
	for c.more() {
		first := c.begins() || c.peek(-1).is("pub")
		t := c.next()
		switch {
		case !first:
		case t.is("use"):
			for range 2 { // an absolute path begins with "::"
				c.take(":")
			}
			facts.Imports = append(facts.Imports, c.tree("", t.line, 0)...)
		case t.is("mod") && c.peek(0).kind == word && c.peek(1).is(";"):
			facts.Imports = append(facts.Imports, Import{Path: "mod::" + c.peek(0).text, Line: t.line})
		case t.is("extern") && c.peek(0).is("crate") && c.peek(1).kind == word:
			facts.Imports = append(facts.Imports, Import{Path: c.peek(1).text, Line: t.line})
		case t.is("fn") && facts.Main == 0 && c.peek(0).is("main") && c.peek(1).is("("):
			facts.Main = t.line
		}
	}
	return facts
}

// deepest is how deep the braces of one "use" may stand in one another.
const deepest = 16

// tree reads "a::{b, c::{d, e as f}, g::*}" as a list of whole paths.
func (c *cursor) tree(prefix string, line, depth int) []Import {
	path := c.dotted("::")
	if prefix != "" && path != "" {
		path = prefix + "::" + path
	} else if path == "" {
		path = prefix
	}
	colons := c.peek(0).is(":") && c.peek(1).is(":")
	if colons {
		c.at += 2
	}
	var found []Import
	switch {
	case c.take("{"):
		for c.more() && !c.take("}") && depth < deepest {
			before := c.at
			found = append(found, c.tree(path, line, depth+1)...)
			c.take(",")
			if c.at == before {
				return found
			}
		}
		return found
	case c.take("*"):
	case c.take("as"):
		c.next()
	}
	if path != "" {
		found = append(found, Import{Path: path, Line: line})
	}
	return found
}
