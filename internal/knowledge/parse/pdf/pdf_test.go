package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var testLimits = Limits{Bytes: 8 << 20, Ratio: 100, Pages: 100}

// assembled is a file of numbered objects, in the order they are given.
func assembled(objects ...string) []byte {
	return []byte("%PDF-1.5\n" + strings.Join(objects, "\n") + "\ntrailer<</Root 1 0 R>>\n%%EOF")
}

func object1(id int, body string) string { return fmt.Sprintf("%d 0 obj\n%s\nendobj", id, body) }

func stream(id int, dict, data string) string {
	return object1(id, fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data))
}

func deflated(data string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write([]byte(data)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.String()
}

const (
	catalog  = "<</Type/Catalog/Pages 2 0 R>>"
	pageTree = "<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>"
	onePage  = "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>"
	latin    = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
)

// drawn is a file of one page with these instructions, and more objects.
func drawn(instructions string, more ...string) []byte {
	objects := []string{object1(1, catalog), object1(2, pageTree), object1(3, onePage), stream(4, "", instructions)}
	return assembled(append(objects, more...)...)
}

func linesOf(t *testing.T, content []byte) []string {
	t.Helper()
	document, err := Read(t.Context(), content, testLimits)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, page := range document.Pages {
		for _, line := range page.Lines {
			lines = append(lines, line.Text)
		}
	}
	return lines
}

func wantLines(t *testing.T, content []byte, want string) {
	t.Helper()
	if got := strings.Join(linesOf(t, content), "|"); got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}

func TestShowsText(t *testing.T) {
	for name, c := range map[string]struct{ instructions, want string }{
		"one string":            {"BT /F 10 Tf 50 700 Td (Hello \\(world\\)) Tj ET", "Hello (world)"},
		"gap between words":     {"BT /F 10 Tf [(Hel) 20 (lo) -300 (world)] TJ ET", "Hello world"},
		"lines":                 {"BT /F 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' ET", "a|b|c"},
		"hex and octal":         {"BT /F 10 Tf <48 69> Tj (\\041) Tj ET", "Hi!"},
		"upwards":               {"BT /F 10 Tf 0 1 -1 0 50 50 Tm (up) Tj ET", "up"},
		"aside of the page":     {"BT /F 10 Tf (the text of it) Tj 0 1 -1 0 9 9 Tm (side) Tj ET", "the text of it"},
		"form":                  {"/X Do", "form"},
		"image between":         {"BI /W 1 ID \x00(Tj\x01 EI BT /F 10 Tf (after) Tj ET", "after"},
		"saved state":           {"q BT /F 10 Tf (a) Tj ET Q BT (b) Tj ET", "a"},
		"too few operands":      {"BT Td Tm Tf /F 10 Tf (ok) Tj TJ ET Q Q", "ok"},
		"unknown font":          {"BT /G 10 Tf (x) Tj ET", "x"},
		"ligature and en dash":  {"BT /F 10 Tf (a\\226b) Tj ET", "a–b"},
		"exponent on its line":  {"BT /F 10 Tf (x) Tj 3 Ts /F 6 Tf (2) Tj 0 Ts /F 10 Tf ( y) Tj ET", "x2 y"},
		"back to the left edge": {"BT /F 10 Tf 200 700 Td (right) Tj -150 0 Td (left) Tj ET", "right|left"},
	} {
		form := stream(6, "/Subtype/Form/Resources<</Font<</F 5 0 R>>>>", "BT /F 10 Tf (form) Tj ET /X Do")
		if got := strings.Join(linesOf(t, drawn(c.instructions, object1(5, latin), form)), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFonts(t *testing.T) {
	const cmapText = "1 begincodespacerange <0000> <ffff> endcodespacerange 9999999999 beginbfchar <0001> <00660069> endbfchar " +
		"2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<0078> <0079>] endbfrange"
	composite := object1(5, "<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[7 0 R]/ToUnicode 8 0 R>>")
	wantLines(t, drawn("BT /F 10 Tf <000100100011001200200021> Tj ET", composite,
		object1(7, "<</Subtype/CIDFontType2/DW 500/W[1[600] 16 18 400]>>"), stream(8, "", cmapText)), "fiabcxy")
	differences := object1(5, "<</Type/Font/Subtype/Type1/Encoding<</Differences[1/eacute/f_i/uni20AC 65/odieresis/unknown]>>>>")
	wantLines(t, drawn("BT /F 10 Tf (\x01\x02\x03ABC) Tj ET", differences), "éfi€öBC")
}

func TestFilters(t *testing.T) {
	for filter, data := range map[string]string{
		"/FlateDecode":                   deflated("BT /F 10 Tf (text) Tj ET"),
		"/ASCIIHexDecode":                fmt.Sprintf("%x>", "BT /F 10 Tf (text) Tj ET"),
		"[/ASCIIHexDecode /FlateDecode]": fmt.Sprintf("%x>", deflated("BT /F 10 Tf (text) Tj ET")),
		"/RunLengthDecode":               "\x17BT /F 10 Tf (text) Tj ET\x80",
		"/ASCII85Decode":                 `6<#'\7NaE>+B2qq.!0$FF=A>3C*5rE~>`,
	} {
		content := assembled(object1(1, catalog), object1(2, pageTree), object1(3, onePage), object1(5, latin), stream(4, "/Filter "+filter, data))
		wantLines(t, content, "text")
	}
}

func TestLZW(t *testing.T) {
	data, err := readLimited(newLZW([]byte("\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01"), true), 100)
	if err != nil || string(data) != "-----A---B" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestPredictors(t *testing.T) {
	f := newFile(nil, testLimits)
	parameter := map[string]object{
		"Predictor": {kind: number, number: 12}, "Columns": {kind: number, number: 3},
	}
	got, err := f.undoPredictor(strings.NewReader("\x00abc\x02\x01\x01\x01\x01a\x01\x01"), parameter, 100)
	if err != nil || string(got) != "abcbcdabc" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReadsWithoutTable reads a file whose objects are packed, whose page was changed
// later, and whose cross-reference table is not there at all.
func TestReadsWithoutTable(t *testing.T) {
	first, second := catalog, strings.Replace(pageTree, "3 0 R", "13 0 R", 1)
	header := fmt.Sprintf("1 0 2 %d ", len(first)+1)
	packed := deflated(header + first + " " + second)
	content := assembled(
		stream(20, fmt.Sprintf("/Type/ObjStm/N 2/First %d/Filter/FlateDecode", len(header)), packed),
		object1(5, latin), object1(13, onePage),
		stream(4, "", "BT /F 10 Tf (old) Tj ET"), stream(4, "", "BT /F 10 Tf (new) Tj ET"))
	wantLines(t, content, "new")
	lost := bytes.Replace(content, []byte("/Root 1 0 R"), nil, 1)
	wantLines(t, lost, "new")
}

func TestHarmlessLies(t *testing.T) {
	for name, content := range map[string][]byte{
		"circle of pages":      assembled(object1(1, catalog), object1(2, "<</Type/Pages/Kids[2 0 R 3 0 R]>>"), object1(3, onePage), stream(4, "", "")),
		"circle of objects":    assembled(object1(1, catalog), object1(2, pageTree), object1(3, "<</Type/Page/Contents 9 0 R>>"), object1(9, "9 0 R")),
		"object in itself":     assembled(stream(2, "/Type/ObjStm/N 1/First 5", "2 0  <<>>"), object1(1, catalog), object1(3, onePage)),
		"huge numbers":         drawn("BT /F 99999999999999999999 Tf 1e300 -1e300 Td (x) Tj ET", object1(5, "<</FirstChar -99999999999/Widths[1 2]>>")),
		"endless nesting":      drawn(strings.Repeat("[", 100000)+strings.Repeat("<<", 100000), object1(5, latin)),
		"length far too long":  assembled(object1(1, catalog), object1(2, pageTree), object1(3, onePage), "4 0 obj<</Length 99999999>>stream\nBT ET endstream endobj"),
		"columns of gigabytes": drawn("", stream(9, "/Type/ObjStm/N 1/First 4/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 99999999999>>", deflated("1 0 <<>>"))),
	} {
		if _, err := Read(t.Context(), content, testLimits); err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLimitsHold(t *testing.T) {
	bomb := deflated(strings.Repeat(" ", 4<<20))
	for name, content := range map[string][]byte{
		"content":       assembled(object1(1, catalog), object1(2, pageTree), object1(3, onePage), stream(4, "/Filter/FlateDecode", bomb)),
		"object stream": drawn("", stream(9, "/Type/ObjStm/N 1/First 1/Filter/FlateDecode", bomb)),
		"form again and again": drawn(strings.Repeat("/X Do ", 9000), object1(5, latin),
			stream(6, "/Subtype/Form", strings.Repeat(" ", 4000))),
	} {
		var limit *LimitError
		if _, err := Read(t.Context(), content, testLimits); !errors.As(err, &limit) {
			t.Errorf("%s: %v, want a LimitError", name, err)
		}
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, drawn(""), testLimits); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(drawn("q BT /F 10 Tf 1 0 0 1 9 9 Tm [(a) -300 <41>] TJ T* (b) ' ET Q /X Do", object1(5, latin), stream(6, "/Subtype/Form", "(c) Tj")))
	f.Add(drawn("BT /F 10 Tf <0001> Tj ET", object1(5, "<</Subtype/Type0/DescendantFonts[7 0 R]/ToUnicode 8 0 R>>"),
		object1(7, "<</W[1[600] 2 3 400]>>"), stream(8, "", "<00> <ff> endcodespacerange <01> <0041> endbfchar <02> <04> <0042> endbfrange")))
	f.Add(assembled(stream(20, "/Type/ObjStm/N 2/First 8", "1 0 2 3 <<>> [1 0 R]"), object1(3, onePage)))
	f.Fuzz(func(t *testing.T, content []byte) {
		document, err := Read(t.Context(), content, Limits{Bytes: 1 << 20, Ratio: 100, Pages: 20})
		if err == nil && (len(document.Pages) == 0 || len(document.Pages) > 20) {
			t.Errorf("%d pages", len(document.Pages))
		}
	})
}

func FuzzLZW(f *testing.F) {
	f.Add([]byte("\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01"), true)
	f.Fuzz(func(t *testing.T, data []byte, early bool) {
		if out, err := readLimited(newLZW(data, early), 1<<16); err == nil && len(out) > 1<<16 {
			t.Errorf("%d bytes", len(out))
		}
	})
}
