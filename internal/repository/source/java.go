package source

var javaSyntax = syntax{
	comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: []string{`"""`}, newlines: true,
}

// parseJava reads Java, and Kotlin, which writes imports without semicolons.
func parseJava(content []byte) Facts {
	c := &cursor{tokens: javaSyntax.scan(content)}
	var facts Facts
	for c.more() {
		first := c.begins()
		t := c.next()
		switch {
		case t.is("main") && c.peek(0).is("(") && facts.Main == 0 && (c.peek(-2).is("void") || c.peek(-2).is("fun")):
			facts.Main = t.line
		case !first:
		case t.is("package") && facts.Package == "":
			facts.Package = c.dotted(".")
		case t.is("import"):
			c.take("static")
			path := c.dotted(".")
			if path == "" {
				continue
			}
			if c.peek(0).is(".") && c.peek(1).is("*") {
				path += ".*"
			}
			facts.Imports = append(facts.Imports, Import{Path: path, Line: t.line})
		}
	}
	return facts
}
