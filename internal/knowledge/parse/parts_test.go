package parse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// blocksOf lists the blocks of sections, each with where it stands; a section that is cut looks as if it
// were not.
func blocksOf(sections []Section) []string {
	var blocks []string
	for _, section := range sections {
		for _, block := range section.Blocks {
			blocks = append(blocks, fmt.Sprintf("#%s %q %d %s", section.Anchor, section.Headings, block.Kind, block.Text))
		}
	}
	return blocks
}

// readInParts gives the parts of a document together, and how many there were.
func readInParts(t *testing.T, name string, content []byte, size int64) (whole Text, parts int) {
	t.Helper()
	document := Document{MediaType: Detect(name, content), Name: name, Content: content}
	for part, err := range Parts(t.Context(), document, Limits{Part: size}) {
		if err != nil {
			t.Fatal(err)
		}
		if parts++; parts == 1 {
			whole = part
			continue
		}
		if part.Title != "" || len(part.Sections) == 0 {
			t.Errorf("part %d has the title %q and %d sections", parts, part.Title, len(part.Sections))
		}
		whole.Sections = append(whole.Sections, part.Sections...)
	}
	return whole, parts
}

// largeTexts are documents of every format that is read in parts.
func largeTexts() map[string]string {
	var markdown, plain, table, page, code, mail, rest, ascii strings.Builder
	var cells []map[string]any
	markdown.WriteString("---\ntitle: Handbook\n---\n\nIntro with a [link][far] and a note[^n].\n\n")
	table.WriteString("name,remark\n")
	page.WriteString("<html lang=en><head><title>Page</title></head><body><nav>menu</nav><main><h1>Top</h1>")
	mail.WriteString("From: ada@example.com\nSubject: Hello\n\n")
	for i := range 60 {
		fmt.Fprintf(&markdown, "## Part %d\n\nText of [part %d][far].\nIt goes on.\n\n### Same\n\n- one\n- two %d\n\n```sh\n# no heading %d\n\necho\n```\n\n", i, i, i, i)
		fmt.Fprintf(&plain, "Paragraph %d of the text, which is long enough to be one.\n\n- item %d\n\n", i, i)
		fmt.Fprintf(&table, "row %d,\"says,\nover two lines, %d\"\n", i, i)
		fmt.Fprintf(&page, "<section><h2 id=p%d>Part %d</h2><p>Text %d of <b>the</b> page.<ul><li>one<li>two</ul><script>no()</script></section>", i, i, i)
		fmt.Fprintf(&code, "// f%d does it.\nfunc f%d() {\n\tprintln(%d)\n}\n\n", i, i, i)
		fmt.Fprintf(&mail, "Line %d\ngoes on.\n> quoted\n\n", i)
		fmt.Fprintf(&rest, "Part %d\n=======\n\nText %d.\n\n- item\n\n", i%10, i)
		fmt.Fprintf(&ascii, "== Part %d\n\nText %d.\n\n* item\n\n", i, i)
		cells = append(cells, map[string]any{"cell_type": "markdown", "source": []string{fmt.Sprintf("# Cell %d\n", i), "\nSays something."}})
	}
	markdown.WriteString("[far]: https://example.com/far\n[^n]: The note.\n")
	page.WriteString("</main><footer>end</footer></body></html>")
	notebook, err := json.Marshal(map[string]any{"cells": cells, "metadata": map[string]any{"title": "Cells"}})
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"a.md": markdown.String(), "a.txt": plain.String(), "a.csv": table.String(), "a.html": page.String(), "a.go": code.String(),
		"a.eml": mail.String(), "a.rst": rest.String(), "a.adoc": ascii.String(), "a.ipynb": string(notebook),
	}
}

// TestPartsSayWhatTheWholeSays reads documents whole and in parts.
func TestPartsSayWhatTheWholeSays(t *testing.T) {
	texts := largeTexts()
	for _, name := range []string{"notes.md", "page.html", "manual.txt", "travel.pdf"} {
		content, err := os.ReadFile(filepath.Join("testdata", "read", name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(content)
	}
	for name, content := range texts {
		for _, size := range []int64{600, 1500, 1 << 20} {
			whole, err := Parse(t.Context(), Detect(name, []byte(content)), name, []byte(content), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, parts := readInParts(t, name, []byte(content), size)
			if got.Title != whole.Title || got.Language != whole.Language || got.Owner != whole.Owner {
				t.Errorf("%s in parts of %d: title %q, language %q, owner %q, want %q, %q, %q", name, size, got.Title, got.Language, got.Owner, whole.Title, whole.Language, whole.Owner)
			}
			if size == 1<<20 && parts != 1 || size == 600 && strings.HasPrefix(name, "a.") && parts < 2 {
				t.Errorf("%s in parts of %d: %d parts", name, size, parts)
			}
			wanted, found := blocksOf(whole.Sections), blocksOf(got.Sections)
			for i := range max(len(wanted), len(found)) {
				var want, have string
				if i < len(wanted) {
					want = wanted[i]
				}
				if i < len(found) {
					have = found[i]
				}
				if want != have && (!strings.HasSuffix(name, ".txt") || !sameButAnchor(want, have)) {
					t.Fatalf("%s in parts of %d: block %d is\n%s\nwant\n%s", name, size, i, have, want)
				}
			}
		}
	}
}

// sameButAnchor compares blocks of plain text: a part begins a section, which names its own lines.
func sameButAnchor(a, b string) bool {
	_, a, _ = strings.Cut(a, " ")
	_, b, _ = strings.Cut(b, " ")
	return a == b
}

// TestPartsAreCutInLongLines reads what has no line to be cut at.
func TestPartsAreCutInLongLines(t *testing.T) {
	for _, name := range []string{"a.txt", "a.md", "a.go"} {
		content := strings.Repeat("wörd ", 5000) + strings.Repeat("ü", 9000)
		text, parts := readInParts(t, name, []byte(content), 1000)
		var out strings.Builder
		for _, section := range text.Sections {
			for _, block := range section.Blocks {
				out.WriteString(strings.Trim(block.Text, "`go\n"))
			}
		}
		got := strings.Join(strings.Fields(out.String()), "")
		if want := strings.Join(strings.Fields(content), ""); got != want || parts < 3 {
			t.Errorf("%s: %d parts with %d bytes, want %d", name, parts, len(got), len(want))
		}
	}
}

// TestTablesOfLargePagesRepeatTheirHeader reads a table that is cut.
func TestTablesOfLargePagesRepeatTheirHeader(t *testing.T) {
	page := "<table><thead><tr><th>Name<th>Room</tr></thead><tbody>" + strings.Repeat("<tr><td>Ada<td>12</tr>", 300) + "</tbody></table>"
	text, parts := readInParts(t, "a.html", []byte(page), 1000)
	rows := 0
	for _, section := range text.Sections {
		for _, block := range section.Blocks {
			if !strings.HasPrefix(block.Text, "| Name | Room |\n| --- | --- |\n| Ada | 12 |") {
				t.Errorf("a part begins with %.60q", block.Text)
			}
			rows += strings.Count(block.Text, "| Ada | 12 |")
		}
	}
	if rows != 300 || parts < 3 {
		t.Errorf("%d rows in %d parts", rows, parts)
	}
}

// TestPartsEnd stops half-way, and reads what breaks half-way.
func TestPartsEnd(t *testing.T) {
	content := []byte(largeTexts()["a.md"])
	taken := 0
	for _, err := range Parts(t.Context(), Document{MediaType: Markdown, Name: "a.md", Content: content}, Limits{Part: 600}) {
		if taken++; taken == 2 || err != nil {
			break
		}
	}
	if taken != 2 {
		t.Errorf("%d parts taken", taken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failed error
	for _, err := range Parts(ctx, Document{MediaType: Markdown, Name: "a.md", Content: content}, Limits{Part: 600}) {
		cancel()
		failed = err
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("a cancelled reading ended with %v", failed)
	}
	notebook := []byte(strings.TrimSuffix(largeTexts()["a.ipynb"], "}") + `, "cells": 3}`)
	failed = nil
	for _, err := range Parts(t.Context(), Document{MediaType: Notebook, Name: "a.ipynb", Content: notebook[:len(notebook)/2]}, Limits{Part: 600}) {
		failed = err
	}
	if broken, ok := errors.AsType[*BrokenError](failed); !ok {
		t.Errorf("half a notebook: %v", broken)
	}
}
