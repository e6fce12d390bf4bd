package source

import "strings"

var rubySyntax = syntax{comments: []string{"#"}, block: [2]string{"\n=begin", "\n=end"}, quotes: `"'`, newlines: true}

// parseRuby reads Ruby. What is required from the file's own folder is an import of a path
// that begins with "./" or "../".
func parseRuby(content []byte) Facts {
	c := &cursor{tokens: rubySyntax.scan(content)}
	var facts Facts
	for c.hasMore() {
		first := c.startsStatement()
		t := c.next()
		relative := t.hasText("require_relative")
		if !first || !relative && !t.hasText("require") && !t.hasText("load") {
			continue
		}
		c.takeToken("(")
		if path := c.peek(0); path.kind == text && path.text != "" && !strings.Contains(path.text, "#{") {
			found := Import{Path: path.text, Line: t.line}
			if relative && !strings.HasPrefix(found.Path, ".") {
				found.Path = "./" + found.Path
			}
			facts.Imports = append(facts.Imports, found)
		}
	}
	return facts
}
