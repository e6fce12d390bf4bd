package source

var scriptSyntax = syntax{
	comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, template: true, regexps: true,
}

// parseScript reads JavaScript and TypeScript, with JSX or without.
func parseScript(content []byte) Facts {
	c := &cursor{tokens: scriptSyntax.scan(content)}
	var facts Facts
	add := func(t token) {
		if t.text != "" {
			facts.Imports = append(facts.Imports, Import{Path: t.text, Line: t.line})
		}
	}
	for c.more() {
		member := c.peek(-1).is(".")
		t := c.next()
		switch {
		case member:
		case t.is("import"), t.is("require"):
			call := c.peek(0).is("(")
			if call && c.peek(1).kind == text && (c.peek(2).is(")") || c.peek(2).is(",")) {
				add(c.peek(1))
			} else if !call && t.is("import") {
				if from, found := c.clause(); found {
					add(from)
				}
			}
		case t.is("export") && (c.peek(0).is("*") || c.peek(0).is("{") || c.peek(0).is("type")):
			if from, found := c.clause(); found && c.peek(-2).is("from") {
				add(from)
			}
		}
	}
	return facts
}

// longestClause is how many tokens stand between "import" and the module's name.
const longestClause = 2000

// clause passes what is imported, up to the module's name.
func (c *cursor) clause() (module token, found bool) {
	for ahead := range longestClause {
		t := c.peek(ahead)
		switch {
		case t.kind == text && (ahead == 0 || c.peek(ahead-1).is("from")):
			c.at += ahead + 1
			return t, true
		case t.kind == text && c.peek(ahead+1).is("as"):
			// import {"a name" as name}
		case t.kind == word, t.is("{"), t.is("}"), t.is(","), t.is("*"):
		default:
			return token{}, false
		}
	}
	return token{}, false
}
