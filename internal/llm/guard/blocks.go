package guard

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// block is a stretch of Markdown that no link reaches out of.
type block struct {
	text string
	code bool // a fenced one, its fences included
}

// blocks cuts Markdown at empty lines and fences; joined they are the whole again.
func blocks(markdown string) []block {
	var cut []block
	var current strings.Builder
	fence := ""
	flush := func(code bool) {
		if current.Len() > 0 {
			cut = append(cut, block{text: current.String(), code: code})
			current.Reset()
		}
	}
	for line := range strings.Lines(markdown) {
		opened := fenceOf(line)
		switch {
		case fence == "" && opened != "":
			flush(false)
			fence = opened
			current.WriteString(line)
		case fence != "":
			current.WriteString(line)
			if strings.HasPrefix(opened, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "" {
				flush(true)
				fence = ""
			}
		default:
			current.WriteString(line)
			if strings.TrimSpace(line) == "" {
				flush(false)
			}
		}
	}
	flush(fence != "")
	return cut
}

// fenceOf gives the run of backticks or tildes that a line begins with, "" for fewer
// than three.
func fenceOf(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 {
		return ""
	}
	for _, mark := range []string{"`", "~"} {
		run := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, mark))]
		if len(run) >= 3 && (mark == "~" || !strings.Contains(trimmed[len(run):], "`")) {
			return run
		}
	}
	return ""
}

var reader = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// leaks says whether a reader of Markdown finds a link that must not leave.
func (g Guard) leaks(markdown string) bool {
	if !strings.ContainsAny(markdown, "[<:@") && !strings.Contains(markdown, "www.") {
		return false
	}
	source := []byte(markdown)
	leaking := false
	err := ast.Walk(reader.Parse(text.NewReader(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch found := node.(type) {
		case *ast.Link:
			leaking = !g.Allows(string(found.Destination))
		case *ast.Image:
			leaking = true
		case *ast.AutoLink:
			leaking = found.AutoLinkType == ast.AutoLinkURL && !g.Allows(string(found.URL(source)))
		}
		if leaking {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return leaking || err != nil
}

// defuse takes from a text whatever could make a link.
func defuse(markdown string) string {
	return strings.NewReplacer(
		"](", "]"+joiner+"(", "][", "]"+joiner+"[", "]:", "]"+joiner+":", "<", "<"+joiner,
		"://", ":"+joiner+"//", "www.", "www"+joiner+".", "[", "\\[",
	).Replace(markdown)
}
