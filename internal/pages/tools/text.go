package tools

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// maxReplacements is how many places one call changes.
const maxReplacements = 10_000

// replaceText replaces a text where it stands, also where it has several marks: the new text has
// the marks of the first letter of the old one.
func replaceText(_ context.Context, e *edit, a struct {
	SearchText, NewText  string
	UseRegex, ReplaceAll bool
	NodeIDs              []string
}) error {
	search := a.SearchText
	if !a.UseRegex {
		search = regexp.QuoteMeta(search)
	}
	pattern, err := regexp.Compile(search)
	if err != nil {
		return &Error{Code: InvalidContent, Reason: "searchText is no regular expression: " + err.Error()}
	}
	if strings.ContainsAny(a.NewText, "\n\r") {
		return &Error{Code: InvalidContent, Reason: "newText is one line: use updateNode or createNode for more"}
	}
	places := []*tree.Node{e.root}
	if len(a.NodeIDs) > 0 {
		places = nil
		for _, id := range a.NodeIDs {
			n, _, err := e.find(id)
			if err != nil {
				return err
			}
			places = append(places, n)
		}
	}
	r := &replacer{pattern: pattern, text: a.NewText, expand: a.UseRegex, all: a.ReplaceAll}
	for _, n := range places {
		r.replaceBelow(n)
	}
	if r.found == 0 {
		return &Error{Code: NoSuchText, Reason: "the text is not there: mind marks of other nodes, line breaks and links in between"}
	}
	if r.done > maxReplacements {
		return &Error{Code: TooLarge, Reason: fmt.Sprintf("it is there more than %d times", maxReplacements)}
	}
	e.touch(r.changed...)
	e.text = fmt.Sprintf("replaced %d of %d", r.done, r.found)
	return nil
}

type replacer struct {
	pattern     *regexp.Regexp
	text        string
	expand, all bool
	found, done int
	changed     []*tree.Node // the blocks
}

// replaceBelow replaces in each run of texts below a node.
func (r *replacer) replaceBelow(n *tree.Node) {
	if n.Kind == tree.Text || n.Kind == tree.CodeText {
		r.replaceRun([]*tree.Node{n}, n)
		return
	}
	var run []*tree.Node
	for _, child := range append(slices.Clone(n.Children), nil) {
		if child != nil && (child.Kind == tree.Text || child.Kind == tree.CodeText) {
			run = append(run, child)
			continue
		}
		if len(run) > 0 {
			r.replaceRun(run, n)
			run = nil
		}
		if child != nil {
			r.replaceBelow(child)
		}
	}
}

// replaceRun replaces in texts that stand side by side.
func (r *replacer) replaceRun(run []*tree.Node, block *tree.Node) {
	var whole strings.Builder
	for _, n := range run {
		whole.WriteString(n.Text)
	}
	text := whole.String()
	matches := slices.DeleteFunc(r.pattern.FindAllStringSubmatchIndex(text, -1), func(m []int) bool { return m[0] == m[1] })
	first := r.found == 0
	if r.found += len(matches); len(matches) == 0 {
		return
	}
	if !r.all {
		if !first {
			return
		}
		matches = matches[:1]
	}
	for _, match := range slices.Backward(matches) {
		replacement := r.text
		if r.expand {
			replacement = string(r.pattern.ExpandString(nil, r.text, text, match))
		}
		splice(run, match[0], match[1], replacement)
		r.done++
	}
	r.changed = append(r.changed, block)
}

// splice puts a text in the place of what stands between two places of texts side by side.
func splice(run []*tree.Node, from, to int, replacement string) {
	at := 0
	for _, n := range run {
		start, end := at, at+len(n.Text)
		at = end
		if end <= from || start >= to {
			continue
		}
		head, tail := n.Text[:max(from-start, 0)], n.Text[min(to-start, len(n.Text)):]
		if from >= start {
			head += replacement
		}
		n.Text = head + tail
	}
}
