package source

import (
	"bytes"
	"strings"
)

var phpSyntax = syntax{comments: []string{"//", "#"}, block: [2]string{"/*", "*/"}, quotes: `"'`}

// parsePHP reads PHP. A file that is included is an import of a path with a slash in it:
// "./lib/mail.php"; "use" gives one with backslashes.
func parsePHP(content []byte) Facts {
	start := bytes.Index(content, []byte("<?php"))
	if start < 0 {
		return Facts{}
	}
	c := &cursor{tokens: phpSyntax.scan(content[start+len("<?php"):])}
	before := bytes.Count(content[:start], []byte{'\n'})
	var facts Facts
	for c.more() {
		first := c.begins()
		t := c.next()
		switch {
		case !first:
		case t.is("namespace") && facts.Package == "":
			facts.Package = c.dotted(`\`)
		case t.is("use"):
			facts.Imports = append(facts.Imports, c.uses(t.line)...)
		case t.is("require"), t.is("require_once"), t.is("include"), t.is("include_once"):
			if path := c.included(); path != "" {
				facts.Imports = append(facts.Imports, Import{Path: "./" + strings.TrimLeft(path, "./"), Line: t.line})
			}
		}
	}
	for i := range facts.Imports {
		facts.Imports[i].Line += before
	}
	return facts
}

// uses reads "use A\B, C as D;", "use function A\b;" and "use A\{B, C};".
func (c *cursor) uses(line int) []Import {
	if !c.take("function") {
		c.take("const")
	}
	var found []Import
	for {
		c.take(`\`)
		path := c.dotted(`\`)
		if path == "" {
			return found
		}
		if c.take(`\`) && c.take("{") {
			for c.more() {
				name := c.dotted(`\`)
				if name == "" {
					break
				}
				found = append(found, Import{Path: path + `\` + name, Line: line})
				if c.take("as") {
					c.next()
				}
				if !c.take(",") {
					break
				}
			}
			return found
		}
		found = append(found, Import{Path: path, Line: line})
		if c.take("as") {
			c.next()
		}
		if !c.take(",") {
			return found
		}
	}
}

// included reads the one string of an expression up to the semicolon; a path that is put
// together of several is not known.
func (c *cursor) included() string {
	const longest = 12
	path, count := "", 0
	for range longest {
		t := c.peek(0)
		if t.is(";") || !c.more() {
			break
		}
		if t.kind == text {
			path = t.text
			count++
		}
		c.at++
	}
	if count != 1 {
		return ""
	}
	return path
}
