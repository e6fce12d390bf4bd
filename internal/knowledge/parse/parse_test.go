package parse

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what is read as the wanted result")

func read(t *testing.T, name string) Text {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "read", name))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Parse(t.Context(), Detect(name, content), name, content, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// written shows a text with all that is in it.
func written(text Text) string {
	kinds := map[BlockKind]string{Paragraph: "paragraph", ListItem: "item", Code: "code", Table: "table"}
	var out strings.Builder
	fmt.Fprintf(&out, "title %q owner %q language %q\n", text.Title, text.Owner, text.Language)
	for _, section := range text.Sections {
		fmt.Fprintf(&out, "\n%d #%s %q\n", section.Level, section.Anchor, section.Headings)
		for _, block := range section.Blocks {
			fmt.Fprintf(&out, "  %s\n    %s\n", kinds[block.Kind], strings.ReplaceAll(block.Text, "\n", "\n    "))
		}
	}
	return out.String()
}

func TestReadsFormats(t *testing.T) {
	for _, name := range []string{"notes.md", "inline.md", "page.html", "manual.txt", "travel.pdf"} {
		t.Run(name, func(t *testing.T) { compare(t, name, written(read(t, name))) })
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", "read", name+".golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("read as:\n%s\nwanted:\n%s", got, want)
	}
}

func TestSlug(t *testing.T) {
	for heading, want := range map[string]string{
		"Getting Started":                         "getting-started",
		"What's new in v2.10?":                    "whats-new-in-v210",
		"`argocd app sync` & more":                "argocd-app-sync--more",
		"[Link](https://example.com/a_b) text":    "link-text",
		"![img](x.png) Logo":                      "img-logo",
		"snake_case and _emphasis_":               "snake_case-and-emphasis",
		"__strong__ **bold**":                     "__strong__-bold",
		"Custom {#my-id}":                         "custom",
		"Generic<T> tag":                          "generic-tag",
		"Ünïcode Größe 日本":                        "ünïcode-größe-日本",
		"⚠️ Deprecation Notice":                   "-deprecation-notice",
		"_Applications in any namespace_ (alpha)": "applications-in-any-namespace-alpha",
	} {
		if got := slug(heading); got != want {
			t.Errorf("slug(%q) = %q, want %q", heading, got, want)
		}
	}
}

func TestRepeatedHeadingsGetNumbers(t *testing.T) {
	text := parsed(t, "a.md", "# A\n## Limits\n## Limits\n## Limits\n")
	var anchors []string
	for _, section := range text.Sections {
		anchors = append(anchors, section.Anchor)
	}
	if got, want := strings.Join(anchors, " "), "a limits limits-1 limits-2"; got != want {
		t.Errorf("anchors %s, want %s", got, want)
	}
}

func parsed(t *testing.T, name, content string) Text {
	t.Helper()
	text, err := Parse(t.Context(), Detect(name, []byte(content)), name, []byte(content), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTitles(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"a.md", "---\ntitle: From matter\n---\n# Heading", "From matter"},
		{"a.md", "---\ntitle: broken: yaml: here\n---\n# Heading", "broken: yaml: here"},
		{"a.md", "## Two\n\n# One", "One"},
		{"a.md", "## Two\n", "Two"},
		{"docs/getting_started-guide.md", "text", "Getting started guide"},
		{"handbook/README.md", "text", "Handbook"},
		{"README.md", "", "README"},
		{"a.md", "---\nno end\n# Heading", "Heading"},
	} {
		if got := parsed(t, c.name, c.content).Title; got != c.want {
			t.Errorf("title of %q named %s: %q, want %q", c.content, c.name, got, c.want)
		}
	}
}

func TestReadsEncodings(t *testing.T) {
	for name, content := range map[string]string{
		"UTF-8 with mark": "\xef\xbb\xbfGrüße",
		"UTF-16 LE":       "\xff\xfeG\x00r\x00\xfc\x00\xdf\x00e\x00",
		"UTF-16 BE":       "\xfe\xff\x00G\x00r\x00\xfc\x00\xdf\x00e",
		"Latin-1":         "Gr\xfc\xdfe",
	} {
		text := parsed(t, "a.txt", content)
		if got := text.Sections[0].Blocks[0].Text; got != "Grüße" {
			t.Errorf("%s read as %q", name, got)
		}
	}
	text := parsed(t, "a.txt", "Grüße über Straßen \xff\x1b[31m bei Köln")
	if got := text.Sections[0].Blocks[0].Text; got != "Grüße über Straßen \uFFFD[31m bei Köln" {
		t.Errorf("broken bytes read as %q", got)
	}
}

func TestLongPlainTextGetsNearAnchors(t *testing.T) {
	text := parsed(t, "a.txt", strings.Repeat("A paragraph of some words that says nothing in particular, really.\n\n", 100))
	if len(text.Sections) < 5 {
		t.Fatalf("%d sections", len(text.Sections))
	}
	if first, second := text.Sections[0].Anchor, text.Sections[1].Anchor; first != "L1-L33" || second != "L35-L67" {
		t.Errorf("anchors %s and %s", first, second)
	}
}

func TestDetectsByContentThenName(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"a.md", "# x", Markdown},
		{"A.MD", "# x", Markdown},
		{"a.html", "<p>x", HTML},
		{"page", "<!DOCTYPE html><html>", HTML},
		{"LICENSE", "text", Plain},
		{"wrong.docx", "just text", Plain},
		{"a.md", "%PDF-1.7\n", PDF},
		{"a.md", "\x89PNG\r\n\x1a\n\x00\x00", "image/png"},
		{"report.pdf", "MZ\x90\x00\x03\x00\x00", "application/vnd.microsoft.portable-executable"},
		{"a.docx", "PK\x03\x04....[Content_Types].xml", DOCX},
		{"a.zip", "PK\x03\x04....word/document.xml", DOCX},
		{"a.txt", "PK\x03\x04....stuff", "application/zip"},
		{"a.xlsx", "PK\x03\x04....xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"a.md", "\x00\x01\x02", binary},
		{"a.go", "package a", Source},
		{"options.rst.inc", "text", ReST},
		{"a.inc", "text", "text/x-inc"},
		{"a.eml", "Subject: a", Mail},
		{"a.zig", "a", "text/x-zig"},
		{"a.md", "", Markdown},
	} {
		if got := Detect(c.name, []byte(c.head)); got != c.want {
			t.Errorf("Detect(%q, %q) = %s, want %s", c.name, c.head, got, c.want)
		}
	}
}

func TestRefusesWithReasons(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          string
	}{
		{"a.md", "\x89PNG\r\n\x1a\n\x00\x00", "a.md is an image (image/png), which is not read: export it as one of Markdown, HTML, reStructuredText, AsciiDoc, plain text, DOCX, PPTX, XLSX, PDF, CSV, notebooks, e-mail and source code"},
		{"a.pdf", "MZ\x90\x00\x03\x00\x00\x00", "a.pdf is an executable program, which is not read: export it as one of Markdown, HTML, reStructuredText, AsciiDoc, plain text, DOCX, PPTX, XLSX, PDF, CSV, notebooks, e-mail and source code"},
		{"a.pdf", "%PDF-1.7\nnothing", "a.pdf is a broken PDF file (no pages found): save it anew with the program it comes from"},
		{"a.docx", "PK\x03\x04word/", "a.docx is a broken DOCX file (zip: not a valid zip file): save it anew with the program it comes from"},
	} {
		_, err := Parse(t.Context(), Detect(c.name, []byte(c.content)), c.name, []byte(c.content), Limits{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		limits        Limits
	}{
		"bytes":        {"a.md", strings.Repeat("x", 2000), Limits{Bytes: 1999}},
		"quotes":       {"a.md", strings.Repeat(">", 300) + " x", Limits{}},
		"lists":        {"a.md", strings.Repeat("- ", 300) + "x", Limits{}},
		"HTML nesting": {"a.html", strings.Repeat("<div>", 400) + "x", Limits{}},
	} {
		_, err := Parse(t.Context(), Detect(c.file, []byte(c.content)), c.file, []byte(c.content), c.limits)
		var tooLarge *TooLargeError
		if !errors.As(err, &tooLarge) {
			t.Errorf("%s: %v, want a TooLargeError", name, err)
		}
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"notes.md", "travel.pdf"} {
		content, err := os.ReadFile(filepath.Join("testdata", "read", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(ctx, Detect(name, content), name, content, Limits{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "read", "travel.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(t.Context(), PDF, "travel.pdf", content, Limits{Time: time.Nanosecond})
	var tooLarge *TooLargeError
	if !errors.As(err, &tooLarge) {
		t.Errorf("%v, want a TooLargeError", err)
	}
}

// TestMarksOfFootnotesAreDropped has a footnote, and brackets that are none.
func TestMarksOfFootnotesAreDropped(t *testing.T) {
	read := written(parsed(t, "a.md", "Herons fish[^1] by `[^1]` and [^a-z].\n\n[^1]: In ponds."))
	if !strings.Contains(read, "Herons fish by `[^1]` and [^a-z].\n") || !strings.Contains(read, "    In ponds.\n") {
		t.Errorf("read as\n%s", read)
	}
}

// TestPagesFullOfMarks has pages that the Markdown parser alone would take hours for.
func TestPagesFullOfMarks(t *testing.T) {
	for _, marks := range []string{"*a_ ", "[a](", "**a\n", "[a]: b\n", ":::note\n", "[![["} {
		source := strings.Repeat(marks, 20_000)
		text := parsed(t, "a.md", source)
		read := written(text)
		if want := strings.Count(source, "a"); marks != "[a]: b\n" && strings.Count(read, "a") < want {
			t.Errorf("%q: %d of %d letters", marks, strings.Count(read, "a"), want)
		}
	}
}
