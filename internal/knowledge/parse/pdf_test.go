package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// minimalPDF is a file of pages with these instructions, all in one font. It has no
// cross-reference table: none is needed.
func minimalPDF(trailer string, pages ...string) []byte {
	var out strings.Builder
	out.WriteString("%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[")
	for i := range pages {
		fmt.Fprintf(&out, "%d 0 R ", 10+2*i)
	}
	fmt.Fprintf(&out, "]/Count %d/Resources<</Font<</F 3 0 R>>>>>>\nendobj\n", len(pages))
	out.WriteString("3 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>\nendobj\n")
	for i, page := range pages {
		fmt.Fprintf(&out, "%d 0 obj\n<</Type/Page/Parent 2 0 R/Contents %d 0 R>>\nendobj\n", 10+2*i, 11+2*i)
		fmt.Fprintf(&out, "%d 0 obj\n<</Length %d>>stream\n%s\nendstream\nendobj\n", 11+2*i, len(page), page)
	}
	out.WriteString("trailer\n<</Root 1 0 R" + trailer + ">>\n%%EOF\n")
	return []byte(out.String())
}

// at draws text at a height, of a size.
func at(size, x, y int, text string) string {
	return fmt.Sprintf("BT /F %d Tf %d %d Td (%s) Tj ET\n", size, x, y, text)
}

func TestReadsPagesOfPDF(t *testing.T) {
	long := "This line is about as long as the lines of the page are and it ends with a hyphen-"
	page1 := at(20, 50, 700, "Security") + at(10, 50, 670, long) + at(10, 50, 658, "ated word. Then it goes on for a while, as long as the first one was, over the page") +
		at(10, 50, 646, "and has no end until the next")
	page2 := at(10, 50, 700, "page is read. So much for that, and this is a line that is long enough for this test") +
		at(14, 50, 660, "Passwords") + at(10, 50, 640, "Rotate them \\(yearly\\).") + at(10, 50, 620, "\\225 an item")
	content := minimalPDF("/Info<</Title(Microsoft Word - a.docx)/Author(\xfe\xff\x00A\x00d\x00a)>>", page1, page2)
	text, err := Parse(t.Context(), Detect("a.pdf", content), "a.pdf", content, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "pages.pdf", written(text))
}

func TestRefusesPDF(t *testing.T) {
	var noText *NoTextError
	if _, err := Parse(t.Context(), PDF, "scan.pdf", minimalPDF("", "q 100 0 0 100 0 0 cm /Im Do Q"), Limits{}); !errors.As(err, &noText) || noText.Pages != 1 {
		t.Errorf("without text: %v, want a NoTextError", err)
	}
	var encrypted *EncryptedError
	if _, err := Parse(t.Context(), PDF, "a.pdf", minimalPDF("/Encrypt 9 0 R", at(10, 0, 0, "x")), Limits{}); !errors.As(err, &encrypted) {
		t.Errorf("encrypted: %v, want an EncryptedError", err)
	}
	var tooLarge *TooLargeError
	if _, err := Parse(t.Context(), PDF, "a.pdf", minimalPDF("", at(10, 0, 0, "x"), at(10, 0, 0, "y")), Limits{Pages: 1}); !errors.As(err, &tooLarge) {
		t.Errorf("too many pages: %v, want a TooLargeError", err)
	}
}
