package parse

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// zippedParts packs parts into an archive.
func zippedParts(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		content := parts[name]
		part, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const wordStyles = `<w:styles xmlns:w="w">
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:styleId="Eigene"><w:name w:val="Meine Überschrift"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Code"><w:name w:val="Source Code"/></w:style>
<w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style>
<w:style w:styleId="Punkte"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>
</w:styles>`

const wordNumbering = `<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
</w:numbering>`

func styled(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func listed(list, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func TestReadsWordDocument(t *testing.T) {
	body := styled("Titel", "Handbuch") + styled("V1", "Reisen 1") + styled("berschrift1", "Reisen") +
		`<w:p><w:r><w:t xml:space="preserve">Wer reist, </w:t></w:r><w:del><w:r><w:delText>nicht </w:delText><w:t>alt</w:t></w:r></w:del><w:ins><w:r><w:t>bucht</w:t><w:br/><w:t>früh.</w:t></w:r></w:ins></w:p>` +
		listed("1", "0", "Antrag") + listed("1", "1", "Datum") + listed("1", "0", "Freigabe") + styled("Punkte", "Punkt") +
		styled("Eigene", "Kosten") + styled("Code", "a = 1") + styled("Code", "b = 2") +
		`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Land</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Satz</w:t></w:r></w:p></w:tc></w:tr>` +
		`<w:tr><w:tc><w:p><w:r><w:t>DE</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>28</w:t></w:r></w:p><w:p><w:r><w:t>EUR</w:t></w:r></w:p></w:tc></w:tr></w:tbl>` +
		`<w:p><mc:AlternateContent xmlns:mc="mc"><mc:Choice><w:txbxContent>` + styled("", "Im Kasten") + `</w:txbxContent></mc:Choice><mc:Fallback><w:t>doppelt</w:t></mc:Fallback></mc:AlternateContent><w:r><w:t>Ende</w:t></w:r></w:p>` +
		`<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Direkt</w:t></w:r></w:p>`
	content := zippedParts(t, map[string]string{
		"word/document.xml":  `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml":    wordStyles,
		"word/numbering.xml": wordNumbering,
		"docProps/core.xml":  `<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc"><dc:creator>Ada</dc:creator><dc:language>de-DE</dc:language></cp:coreProperties>`,
	})
	text, err := Parse(t.Context(), Detect("handbuch.docx", content), "handbuch.docx", content, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "word.docx", written(text))
}

func TestRefusesZipBombs(t *testing.T) {
	bomb := `<w:document xmlns:w="w"><w:p><w:t>` + strings.Repeat("a", 8<<20) + `</w:t></w:p></w:document>`
	content := zippedParts(t, map[string]string{"word/document.xml": bomb})
	for name, limits := range map[string]Limits{
		"ratio": {}, "bytes": {Bytes: 1 << 20, Ratio: 1 << 20}, "entries": {Entries: -1},
	} {
		_, err := Parse(t.Context(), DOCX, "bomb.docx", content, limits)
		var tooLarge *TooLargeError
		if !errors.As(err, &tooLarge) {
			t.Errorf("%s: %v, want a TooLargeError", name, err)
		}
	}
	deep := `<w:document>` + strings.Repeat("<w:x>", 300)
	_, err := Parse(t.Context(), DOCX, "deep.docx", zippedParts(t, map[string]string{"word/document.xml": deep}), Limits{})
	var tooLarge *TooLargeError
	if !errors.As(err, &tooLarge) {
		t.Errorf("nesting: %v, want a TooLargeError", err)
	}
}

func TestRefusesBrokenAndProtectedOffice(t *testing.T) {
	empty := zippedParts(t, map[string]string{"[Content_Types].xml": "<Types/>"})
	var broken *BrokenError
	if _, err := Parse(t.Context(), DOCX, "a.docx", empty, Limits{}); !errors.As(err, &broken) {
		t.Errorf("without a main part: %v, want a BrokenError", err)
	}
	cut := zippedParts(t, map[string]string{"word/document.xml": "<w:document><w:p>"})
	if _, err := Parse(t.Context(), DOCX, "a.docx", cut, Limits{}); !errors.As(err, &broken) {
		t.Errorf("cut off: %v, want a BrokenError", err)
	}
	protected := []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00" + encryptedPackage)
	var encrypted *EncryptedError
	if _, err := Parse(t.Context(), DOCX, "a.docx", protected, Limits{}); !errors.As(err, &encrypted) {
		t.Errorf("with a password: %v, want an EncryptedError", err)
	}
}
