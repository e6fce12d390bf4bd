package tree_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

const handbook = `# Leave

Every employee has **27 days** of *paid* leave, see [the handbook](https://example.com/leave "Leave").
Ask ` + "`@people`" + `, ~~not~~ <u>before</u> March\
or later. <script>alert(1)</script>

- one
- two
  - nested
  - more

3. third
4. fourth

- [x] done
- [ ] open

> A quote.

` + "```go\nfunc main() {\n\tx := 1\n}\n```" + `

| Name | Days |
| --- | --- |
| Ada \| Bob | 27 |
|  | **5** |

---

2\. is no item, \# no heading, \*no\* marks.
`

func parse(t *testing.T, markdown string) *tree.Node {
	t.Helper()
	root, err := tree.ParseMarkdown(markdown)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestMarkdownThereAndBack reads what is written, until both are the same.
func TestMarkdownThereAndBack(t *testing.T) {
	root := parse(t, handbook)
	written := tree.Markdown(root)
	again := parse(t, written)
	if a, b := tree.Encode(root), tree.Encode(again); !bytes.Equal(a, b) {
		t.Errorf("%s\n%s", written, difference(b, a))
	}
	if !strings.Contains(written, "| Ada \\| Bob | 27 |") || !strings.Contains(written, "- [x] done\n- [ ] open\n") || !strings.Contains(written, "2\\. is no item") {
		t.Errorf("%s", written)
	}
	normalized, err := newOracle(t).Normalize(tree.Encode(root))
	if err != nil || !bytes.Equal(normalized, tree.Encode(root)) {
		t.Errorf("Lexical changes it: %v\n%s", err, difference(tree.Encode(root), normalized))
	}
}

func TestPlainTextHasALineForEachBlock(t *testing.T) {
	root := parse(t, "# One\n\ntwo **three**\n\n- four\n  - five\n- six\n\n| seven | eight |\n|---|---|\n")
	if got, want := root.PlainText(), "One\ntwo three\nfour\nfive\nsix\nseven\neight"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHTMLRunsNothing(t *testing.T) {
	root := parse(t, handbook)
	link := tree.NewBlock(tree.Link, tree.NewText("<b>click</b>", tree.Bold))
	link.URL = "java\tscript:alert(1)"
	root.Children = append(root.Children, tree.NewBlock(tree.Paragraph, link, &tree.Node{Kind: tree.Image, URL: "https://evil.example/x.png", Alt: `" onload="x`}))
	root.Children = append(root.Children, &tree.Node{Kind: "callout<script>", Raw: []byte(`{}`)})
	tree.AssignIDs(root, tree.RandomID)
	html := tree.HTML(root, "page-")
	for _, bad := range []string{"<script", "javascript", "java\tscript", "<img", ` onload="`, "<b>"} {
		if strings.Contains(html, bad) {
			t.Errorf("%q is in %s", bad, html)
		}
	}
	for _, want := range []string{"<strong>27 days</strong>", `<a href="https://example.com/leave" rel="noopener noreferrer nofollow">`, `<h1 id="page-n`, "<th ", "&lt;script&gt;"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in %s", want, html)
		}
	}
}

// TestXMLThereAndBack loses nothing of random pages: neither what XML shows nor what it
// does not show, such as colours.
func TestXMLThereAndBack(t *testing.T) {
	t.Logf("-tree.seed=%d", *seed)
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 2)), unusual: true}
	compared := 0
	for range *pages {
		root, err := tree.Decode(bytes.ReplaceAll(g.page(), []byte("javascript:alert(1)"), []byte("mailto:a@example.com")))
		if err != nil || bytes.Contains(tree.Encode(root), []byte(`"url":""`)) {
			continue // an address that a page may not link to is refused
		}
		tree.AssignIDs(root, tree.RandomID)
		text := tree.XML(root)
		back, err := tree.ParseXML(text, root)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		tree.AssignIDs(back, tree.RandomID)
		if got, want := withoutBreakFields(t, back), withoutBreakFields(t, root); !bytes.Equal(got, want) {
			t.Fatalf("%s\n%s", text, difference(got, want))
		}
		compared++
	}
	if compared < *pages/6 {
		t.Errorf("only %d pages were compared", compared)
	}
}

// withoutBreakFields leaves out what tabs and roots, which have no ids, have beside their kind.
func withoutBreakFields(t *testing.T, root *tree.Node) []byte {
	t.Helper()
	copied := root.Clone()
	copied.Walk(func(n, _ *tree.Node) bool {
		if n.Kind == tree.Tab || n.Kind == tree.Root || n.Kind == tree.LineBreak {
			n.Format, n.Style, n.Direction, n.State = 0, "", "", nil
		}
		if n.Kind == tree.AutoLink {
			n.Kind = tree.Link
		}
		return true
	})
	return tree.Encode(copied)
}

func TestXMLIsCutByWholeBlocks(t *testing.T) {
	root := parse(t, strings.Repeat("A paragraph of some words.\n\n", 50))
	tree.AssignIDs(root, tree.RandomID)
	text, left := tree.CutXML(root, 1000)
	if left == 0 || left == 50 || len(text) > 1100 || !strings.Contains(text, "<cut blocks=") || strings.Count(text, "<p ")+left != 50 {
		t.Errorf("left out %d: %s", left, text)
	}
	if text, left := tree.CutXML(root, 1<<20); left != 0 || text != tree.XML(root) {
		t.Errorf("%d left out of all", left)
	}
}

func FuzzDecode(f *testing.F) {
	g := &generator{Rand: rand.New(rand.NewPCG(7, 7)), unusual: true}
	for range 20 {
		f.Add(g.page())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := tree.Decode(data)
		if err != nil {
			return
		}
		once := tree.Encode(root)
		again, err := tree.Decode(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := tree.Encode(again); !bytes.Equal(once, twice) {
			t.Errorf("%s", difference(twice, once))
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{handbook, "- a\n\n  b\n- > c\n  > - d", "*a_b**c*", "[a](<b c> \"d\")", "1) a\n   ```\n   x", "a|b\n-|-\n`|`|\\|", "**a <u>b** c</u>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		root, err := tree.ParseMarkdown(markdown)
		if err != nil {
			return
		}
		tree.AssignIDs(root, tree.RandomID)
		back, err := tree.ParseMarkdown(tree.Markdown(root))
		if err != nil {
			t.Fatal(err)
		}
		words := func(n *tree.Node) string { return strings.Join(strings.Fields(n.PlainText()), "") }
		if got, want := words(back), words(root); got != want {
			t.Errorf("%q became %q, by %q", want, got, tree.Markdown(root))
		}
		if _, err := tree.ParseXML(tree.XML(root), root); err != nil {
			t.Errorf("%v in %s", err, tree.XML(root))
		}
		tree.HTML(root, "")
	})
}
