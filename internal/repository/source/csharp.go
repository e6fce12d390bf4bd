package source

var csharpSyntax = syntax{
	comments: []string{"//", "#"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: []string{`"""`}, verbatim: true,
}

func parseCSharp(content []byte) Facts {
	c := &cursor{tokens: csharpSyntax.scan(content)}
	var facts Facts
	for c.hasMore() {
		first := c.startsStatement() || c.peek(-1).hasText("global")
		t := c.next()
		switch {
		case t.hasText("Main") && c.peek(0).hasText("(") && facts.Main == 0 && (c.peek(-2).hasText("void") || c.peek(-2).hasText("int") || c.peek(-2).hasText("Task") || c.peek(-2).hasText(">")):
			facts.Main = t.line
		case !first:
		case t.hasText("namespace") && facts.Package == "":
			facts.Package = c.readDotted(".")
		case t.hasText("using"):
			c.takeToken("static")
			if c.peek(1).hasText("=") {
				c.at += 2
			}
			if path := c.readDotted("."); path != "" && c.peek(0).hasText(";") {
				facts.Imports = append(facts.Imports, Import{Path: path, Line: t.line})
			}
		}
	}
	return facts
}
