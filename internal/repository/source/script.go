package source

var scriptSyntax = syntax{
	comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, template: true, regexps: true,
}

// parseScript reads JavaScript and TypeScript, with JSX or without.
func parseScript(content []byte) Facts {
	c := &cursor{tokens: scriptSyntax.scan(content)}
	var facts Facts
	add := func(t token, deferred bool) {
		if t.text != "" {
			facts.Imports = append(facts.Imports, Import{Path: t.text, Line: t.line, Deferred: deferred})
		}
	}
	for c.hasMore() {
		member := c.peek(-1).hasText(".")
		t := c.next()
		switch {
		case member:
		case t.hasText("import"), t.hasText("require"):
			call := c.peek(0).hasText("(")
			if call && c.peek(1).kind == text && (c.peek(2).hasText(")") || c.peek(2).hasText(",")) {
				add(c.peek(1), t.hasText("import")) // a call of import waits for nothing
			} else if !call && t.hasText("import") {
				types := c.importsTypes()
				if from, found := c.skipClause(); found {
					add(from, types)
				}
			}
		case t.hasText("export") && (c.peek(0).hasText("*") || c.peek(0).hasText("{") || c.peek(0).hasText("type")):
			types := c.importsTypes()
			if from, found := c.skipClause(); found && c.peek(-2).hasText("from") {
				add(from, types)
			}
		}
	}
	return facts
}

// importsTypes tells whether a clause is "type {…} from": one with another meaning is
// "type from".
func (c *cursor) importsTypes() bool {
	return c.peek(0).hasText("type") && (c.peek(1).hasText("{") || c.peek(1).hasText("*") || c.peek(1).kind == word && !c.peek(1).hasText("from"))
}

// longestClause is how many tokens stand between "import" and the module's name.
const longestClause = 2000

// skipClause passes what is imported, up to the module's name.
func (c *cursor) skipClause() (module token, found bool) {
	for ahead := range longestClause {
		t := c.peek(ahead)
		switch {
		case t.kind == text && (ahead == 0 || c.peek(ahead-1).hasText("from")):
			c.at += ahead + 1
			return t, true
		case t.kind == text && c.peek(ahead+1).hasText("as"):
			// import {"a name" as name}
		case t.kind == word, t.hasText("{"), t.hasText("}"), t.hasText(","), t.hasText("*"):
		default:
			return token{}, false
		}
	}
	return token{}, false
}
