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
	for c.hasMore() {
		first := c.startsStatement()
		t := c.next()
		switch {
		case !first:
		case t.hasText("namespace") && facts.Package == "":
			facts.Package = c.readDotted(`\`)
		case t.hasText("use"):
			facts.Imports = append(facts.Imports, c.readUses(t.line)...)
		case t.hasText("require"), t.hasText("require_once"), t.hasText("include"), t.hasText("include_once"):
			if path := c.readIncluded(); path != "" {
				facts.Imports = append(facts.Imports, Import{Path: "./" + strings.TrimLeft(path, "./"), Line: t.line})
			}
		}
	}
	for i := range facts.Imports {
		facts.Imports[i].Line += before
	}
	return facts
}

// readUses reads "use A\B, C as D;", "use function A\b;" and "use A\{B, C};".
func (c *cursor) readUses(line int) []Import {
	if !c.takeToken("function") {
		c.takeToken("const")
	}
	var found []Import
	for {
		c.takeToken(`\`)
		path := c.readDotted(`\`)
		if path == "" {
			return found
		}
		if c.takeToken(`\`) && c.takeToken("{") {
			for c.hasMore() {
				name := c.readDotted(`\`)
				if name == "" {
					break
				}
				found = append(found, Import{Path: path + `\` + name, Line: line})
				if c.takeToken("as") {
					c.next()
				}
				if !c.takeToken(",") {
					break
				}
			}
			return found
		}
		found = append(found, Import{Path: path, Line: line})
		if c.takeToken("as") {
			c.next()
		}
		if !c.takeToken(",") {
			return found
		}
	}
}

// readIncluded reads the one string of an expression up to the semicolon; a path that is put
// together of several is not known.
func (c *cursor) readIncluded() string {
	const longest = 12
	path, count := "", 0
	for range longest {
		t := c.peek(0)
		if t.hasText(";") || !c.hasMore() {
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
