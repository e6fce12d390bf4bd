package source

var rustSyntax = syntax{comments: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, quotes: `"`, rust: true}

// parseRust reads Rust. "mod a;" is an import of "mod::a".
func parseRust(content []byte) Facts {
	c := &cursor{tokens: rustSyntax.scan(content)}
	var facts Facts
	named := make(map[string]bool) // crates
	for c.hasMore() {
		first := c.startsStatement() || c.peek(-1).hasText("pub")
		t := c.next()
		if crate := c.namedCrate(t); crate != "" && !named[crate] {
			named[crate] = true
			facts.Imports = append(facts.Imports, Import{Path: crate, Line: t.line, Named: true})
		}
		switch {
		case !first:
		case t.hasText("use"):
			for range 2 { // an absolute path begins with "::"
				c.takeToken(":")
			}
			facts.Imports = append(facts.Imports, c.readTree("", t.line, 0)...)
		case t.hasText("mod") && c.peek(0).kind == word && c.peek(1).hasText(";"):
			facts.Imports = append(facts.Imports, Import{Path: "mod::" + c.peek(0).text, Line: t.line})
		case t.hasText("extern") && c.peek(0).hasText("crate") && c.peek(1).kind == word:
			facts.Imports = append(facts.Imports, Import{Path: c.peek(1).text, Line: t.line})
		case t.hasText("fn") && facts.Main == 0 && c.peek(0).hasText("main") && c.peek(1).hasText("("):
			facts.Main = t.line
		}
	}
	return facts
}

// namedCrate returns the word that a path of code begins with, as "a" of "a::B::new()", where it may
// be a crate's name.
func (c *cursor) namedCrate(first token) string {
	switch {
	case first.kind != word || !c.peek(0).hasText(":") || !c.peek(1).hasText(":") || c.peek(-2).hasText(":"):
		return ""
	case first.hasText("self"), first.hasText("super"), first.hasText("crate"), first.hasText("std"), first.hasText("core"), first.hasText("use"):
		return ""
	}
	return first.text
}

// deepest is how deep the braces of one "use" may stand in one another.
const deepest = 16

// readTree reads "a::{b, c::{d, e as f}, g::*}" as a list of whole paths.
func (c *cursor) readTree(prefix string, line, depth int) []Import {
	path := c.readDotted("::")
	if prefix != "" && path != "" {
		path = prefix + "::" + path
	} else if path == "" {
		path = prefix
	}
	colons := c.peek(0).hasText(":") && c.peek(1).hasText(":")
	if colons {
		c.at += 2
	}
	var found []Import
	switch {
	case c.takeToken("{"):
		for c.hasMore() && !c.takeToken("}") && depth < deepest {
			before := c.at
			found = append(found, c.readTree(path, line, depth+1)...)
			c.takeToken(",")
			if c.at == before {
				return found
			}
		}
		return found
	case c.takeToken("*"):
	case c.takeToken("as"):
		c.next()
	}
	if path != "" {
		found = append(found, Import{Path: path, Line: line})
	}
	return found
}
