package parse

import (
	"slices"
	"strings"
	"testing"
)

// TestReadsMarkupOfManuals reads what manuals are written in beside Markdown.
func TestReadsMarkupOfManuals(t *testing.T) {
	for _, name := range []string{"manual.rst", "manual.adoc"} {
		t.Run(name, func(t *testing.T) { compare(t, name, written(read(t, name))) })
	}
}

// TestNoMarkupIsLeft checks that no mark of the language is quoted as text.
func TestNoMarkupIsLeft(t *testing.T) {
	for name, marks := range map[string][]string{
		"manual.rst":  {"::", "``", ":ref:", "`_", ".. ", "|version|", "[1]_", "===", "\x00"},
		"manual.adoc": {"[source", "----\n", "|===", "{product}", "<<", "xref:", "NOTE:", "<1>", "\x00"},
	} {
		text := written(read(t, name))
		for _, mark := range marks {
			if strings.Contains(strings.ReplaceAll(text, "```", ""), mark) {
				t.Errorf("%s holds %q:\n%s", name, mark, text)
			}
		}
	}
}

// TestCodeBelowItems checks that a block behind "::" in an item of a list is code.
func TestCodeBelowItems(t *testing.T) {
	text, err := Parse(t.Context(), ReST, "a.rst", []byte("#. Copy the file::\n\n    cp a b\n\n#. Start\n   it::\n\n       start a\n       start b\n"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range text.Sections[0].Blocks {
		blocks = append(blocks, block.Text)
	}
	want := []string{"1. Copy the file:", "```\ncp a b\n```", "2. Start it:", "```\nstart a\nstart b\n```"}
	if !slices.Equal(blocks, want) {
		t.Errorf("got %q, want %q", blocks, want)
	}
}

// TestReferencePagesOfCommands checks how pages are read that programs write of their commands:
// lists of options, drawn tables without a header, parts that are for print, and references to
// sections by their names.
func TestReferencePagesOfCommands(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
	}{
		{"options", "-n, --dry-run  do nothing\n--first N      consider the\n               first N\n", []string{"- `-n, --dry-run`: do nothing", "- `--first N`: consider the first N"}},
		{"options above their text", "-q\n    Say less.\n", []string{"- `-q`: Say less."}},
		{"a dash is no option", "-n\n\nand so on", []string{"-n", "and so on"}},
		{"table without header", `
+------+-----------+---------------+
| **options**                      |
+------+-----------+---------------+
|      | ''--all'' | a|b           |
+------+-----------+---------------+
| .. class:: reference             |
|                                  |
| :ref:'common_options'            |
+------+-----------+---------------+
`, []string{"options", "- `--all`: a|b", "common options"}},
		{"table with header", "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n", []string{"| a | b |\n| --- | --- |\n| 1 | 2 |"}},
		{"parts for print", ".. only:: latex\n\n    Printed.\n\n.. only:: html or man\n\n    Shown.\n", []string{"Shown."}},
		{"a place by its name", "The items_ of it.\n\n.. _items:\n\n- one\n", []string{"The items of it.", "- one"}},
		{"section by its label", "See :ref:'space'.\n\n.. _space:\n\nNote on free space\n------------------\n\nText.\n", []string{"See Note on free space."}},
	} {
		text, err := Parse(t.Context(), ReST, "a.rst.inc", []byte(strings.ReplaceAll(test.source, "'", "`")), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var blocks []string
		for _, block := range text.Sections[0].Blocks {
			blocks = append(blocks, block.Text)
		}
		if !slices.Equal(blocks, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, blocks, test.want)
		}
	}
}

func FuzzReST(f *testing.F) {
	seed(f, "manual.rst")
	f.Add([]byte("+--+\n|a|\n+==+\n\n== ==\na\n== ==\n.. list-table::\n\n   * - a\n   -\n"))
	f.Add([]byte("a\n  b\n    c\n::\n\n x\n- \n  - y\n.. note::\n   .. note::\n"))
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, ReST, "a.rst", content) })
}

func FuzzAsciiDoc(f *testing.F) {
	seed(f, "manual.adoc")
	f.Add([]byte("= T\n:a: {a}\n{a}\n|===\n|a|b\nc\n\n2+|d\n|===\n"))
	f.Add([]byte("* a\n+\n----\nx\n\n** b\n+\n+\n--\n[NOTE]\n====\n======\n"))
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, AsciiDoc, "a.adoc", content) })
}

// TestRelativeLinksGetAddresses checks that the source's addresses are asked for in every
// format, and that other links stay as they are.
func TestRelativeLinksGetAddresses(t *testing.T) {
	links := func(target string) string { return "https://docs.example.com/" + target }
	for _, test := range []struct{ mediaType, content string }{
		{Markdown, "See [the list](https://a.example.com/b) and [the keys](keys.rst)."},
		{HTML, `<p>See <a href="https://a.example.com/b">the list</a> and <a href="keys.rst">the keys</a>.</p>`},
		{ReST, "See `the list <https://a.example.com/b>`_ and :doc:`the keys <keys>`."},
		{AsciiDoc, "See https://a.example.com/b[the list] and xref:keys.rst[the keys]."},
	} {
		text, err := Read(t.Context(), Document{MediaType: test.mediaType, Name: "a", Content: []byte(test.content), Links: links}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := "See [the list](https://a.example.com/b) and [the keys](https://docs.example.com/keys.rst)."
		if got := text.Sections[0].Blocks[0].Text; got != want {
			t.Errorf("%s: %s", test.mediaType, got)
		}
	}
}
