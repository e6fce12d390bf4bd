package parse

import (
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"
)

// fuzzed checks what holds for every document, whatever its bytes.
func fuzzed(t *testing.T, mediaType, name string, content []byte) {
	limits := Limits{Bytes: 1 << 20, Time: 5 * time.Second}
	text, err := Parse(t.Context(), mediaType, name, content, limits)
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without a reason")
		}
		return
	}
	if text.Title == "" {
		t.Error("no title")
	}
	for _, section := range text.Sections {
		if section.Level == 0 && section.Heading != "" || section.Level < 0 || section.Level > 6 {
			t.Errorf("section %q of level %d", section.Heading, section.Level)
		}
		if section.Level > 0 && (len(section.Headings) == 0 || section.Headings[len(section.Headings)-1] != section.Heading) {
			t.Errorf("section %q under %q", section.Heading, section.Headings)
		}
		for _, block := range section.Blocks {
			if block.Text == "" || !utf8.ValidString(block.Text) {
				t.Errorf("block %q", block.Text)
			}
		}
	}
}

func seed(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join("testdata", "read", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
}

func FuzzMarkdown(f *testing.F) {
	seed(f, "notes.md", "inline.md")
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, Markdown, "a.md", content) })
}

func FuzzHTML(f *testing.F) {
	seed(f, "page.html")
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, HTML, "a.html", content) })
}

func FuzzPlain(f *testing.F) {
	seed(f, "manual.txt")
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, Plain, "a.txt", content) })
}

// FuzzDOCX varies the parts inside the archive: an archive of random bytes is none.
func FuzzDOCX(f *testing.F) {
	f.Add(`<w:document xmlns:w="w"><w:body>`+styled("berschrift1", "A")+listed("1", "0", "b")+`<w:tbl><w:tr><w:tc>`+styled("Code", "c")+`</w:tc></w:tr></w:tbl></w:body></w:document>`, wordStyles, wordNumbering)
	f.Fuzz(func(t *testing.T, document, styles, numbering string) {
		fuzzed(t, DOCX, "a.docx", zippedParts(t, map[string]string{
			"word/document.xml": document, "word/styles.xml": styles, "word/numbering.xml": numbering,
		}))
	})
}

func FuzzPDF(f *testing.F) {
	f.Add(minimalPDF("/Info<</Title(x)>>", at(20, 50, 700, "Head")+at(10, 50, 680, "text"), "[(a)-300(b)]TJ"))
	seed(f, "travel.pdf")
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, PDF, "a.pdf", content) })
}

func FuzzDetect(f *testing.F) {
	f.Add("a.md", []byte("PK\x03\x04word/"))
	f.Add("a", []byte("\x00"))
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		if Detect(name, head) == "" {
			t.Error("no media type")
		}
	})
}
