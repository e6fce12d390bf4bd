package source

var csharpSyntax = syntax{
	comments: []string{"//", "#"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: []string{`"""`}, verbatim: true,
}

func parseCSharp(content []byte) Facts {
	c := &cursor{tokens: csharpSyntax.scan(content)}
	var facts Facts
	for c.more() {
		first := c.begins() || c.peek(-1).is("global")
		t := c.next()
		switch {
		case t.is("Main") && c.peek(0).is("(") && facts.Main == 0 && (c.peek(-2).is("void") || c.peek(-2).is("int") || c.peek(-2).is("Task") || c.peek(-2).is(">")):
			facts.Main = t.line
		case !first:
		case t.is("namespace") && facts.Package == "":
			facts.Package = c.dotted(".")
		case t.is("using"):
			c.take("static")
			if c.peek(1).is("=") {
				c.at += 2
			}
			if path := c.dotted("."); path != "" && c.peek(0).is(";") {
				facts.Imports = append(facts.Imports, Import{Path: path, Line: t.line})
			}
		}
	}
	return facts
}
