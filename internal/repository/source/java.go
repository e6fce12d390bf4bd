package source

var javaSyntax = syntax{
	comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: []string{`"""`}, newlines: true,
}

// parseJava reads Java, and Kotlin, which writes imports without semicolons.
func parseJava(content []byte) Facts {
	c := &cursor{tokens: javaSyntax.scan(content)}
	var facts Facts
	for c.hasMore() {
		first := c.startsStatement()
		t := c.next()
		switch {
		case t.hasText("main") && c.peek(0).hasText("(") && facts.Main == 0 && (c.peek(-2).hasText("void") || c.peek(-2).hasText("fun")):
			facts.Main = t.line
		case !first:
		case t.hasText("package") && facts.Package == "":
			facts.Package = c.readDotted(".")
		case t.hasText("import"):
			c.takeToken("static")
			path := c.readDotted(".")
			if path == "" {
				continue
			}
			if c.peek(0).hasText(".") && c.peek(1).hasText("*") {
				path += ".*"
			}
			facts.Imports = append(facts.Imports, Import{Path: path, Line: t.line})
		}
	}
	return facts
}
