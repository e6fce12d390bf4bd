package pages_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

func TestReplace(t *testing.T) {
	const before = "# Leave\n\nText with **bold** words.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	root := pagestest.Root(t, before)
	find := func(kind tree.Kind, text string) string {
		id := ""
		root.Walk(func(n, _ *tree.Node) bool {
			if id == "" && n.Kind == kind && n.PlainText() == text {
				id = n.ID
			}
			return true
		})
		return id
	}
	for name, test := range map[string]struct{ id, markdown, old, new string }{
		"a heading":   {find(tree.Heading, "Leave"), "Paid leave", "# Leave", "# Paid leave"},
		"a paragraph": {find(tree.Paragraph, "Text with bold words."), "New *text*.\n\nAnd more.", "Text with **bold** words.", "New *text*.\n\nAnd more."},
		"an item":     {find(tree.ListItem, "two"), "three", "- two", "- three"},
		"a cell":      {find(tree.TableCell, "2"), "3", "| 1 | 2 |", "| 1 | 3 |"},
		"a text":      {find(tree.Text, "bold"), "very", "**bold**", "very"},
		"nothing":     {find(tree.Paragraph, "Text with bold words."), "", "Text with **bold** words.\n\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			changed, err := pages.Replace(root, test.id, test.markdown)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := tree.Markdown(changed), strings.Replace(tree.Markdown(root), test.old, test.new, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if kept, _ := changed.Find(test.id); kept == nil && test.markdown != "" && name != "a text" {
				t.Error("the block lost its id")
			}
		})
	}
	for id, markdown := range map[string]string{"none": "x", find(tree.Text, "bold"): "# heading", find(tree.ListItem, "two"): "| a |\n|---|\n"} {
		_, err := pages.Replace(root, id, markdown)
		if _, ok := errors.AsType[*tree.Error](err); !ok && id != find(tree.ListItem, "two") {
			t.Errorf("%q for %s: %v", markdown, id, err)
		}
	}
	if again := tree.Markdown(root); again != tree.Markdown(pagestest.Root(t, before)) {
		t.Errorf("the page itself was changed: %s", again)
	}
}

func TestAppend(t *testing.T) {
	empty, err := pages.Append(tree.New(), "# Title")
	if err != nil || tree.Markdown(empty) != "# Title\n" {
		t.Errorf("%v, %q", err, tree.Markdown(empty))
	}
	more, err := pages.Append(empty, "- one")
	if err != nil || tree.Markdown(more) != "# Title\n\n- one\n" || more.Children[0].ID != empty.Children[0].ID || more.Children[1].ID == "" {
		t.Errorf("%v, %s", err, tree.XML(more))
	}
}
