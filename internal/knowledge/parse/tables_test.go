package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func readContent(t *testing.T, name, content string) Text {
	t.Helper()
	text, err := Parse(t.Context(), Detect(name, []byte(content)), name, []byte(content), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestReadsTables(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"offices.csv": {"City,Phone,Note\nBerlin,030 1,\"two\nlines, one | bar\"\nParis,01 2,\n",
			"title \"Offices\" owner \"\" language \"\"\n\n0 #L2-L4 []\n  table\n    | City | Phone | Note |\n    | --- | --- | --- |\n    | Berlin | 030 1 | two lines, one \\| bar |\n    | Paris | 01 2 |  |\n"},
		"german.csv": {"Stadt;Preis\nKöln;1,50\n", "title \"German\" owner \"\" language \"\"\n\n0 #L2-L2 []\n  table\n    | Stadt | Preis |\n    | --- | --- |\n    | Köln | 1,50 |\n"},
		"tabs.tsv":   {"a\tb\n1, 2\t3\n", "title \"Tabs\" owner \"\" language \"\"\n\n0 #L2-L2 []\n  table\n    | a | b |\n    | --- | --- |\n    | 1, 2 | 3 |\n"},
		"head.csv":   {"only,names\n", "title \"Head\" owner \"\" language \"\"\n\n0 #L1-L1 []\n  table\n    | only | names |\n    | --- | --- |\n"},
	} {
		if got := written(readContent(t, name, test.content)); got != test.want {
			t.Errorf("%s is read as:\n%s\nwanted:\n%s", name, got, test.want)
		}
	}
}

func TestEachPartOfATableHasItsHeadings(t *testing.T) {
	var b strings.Builder
	b.WriteString("Name,Number\n")
	for i := range 100 {
		fmt.Fprintf(&b, "row %d,%d\n", i, i)
	}
	text := readContent(t, "long.csv", b.String())
	if len(text.Sections) != 5 || text.Sections[1].Anchor != "L22-L41" {
		t.Errorf("%d sections, the second at %s", len(text.Sections), text.Sections[1].Anchor)
	}
	for _, section := range text.Sections {
		if !strings.HasPrefix(section.Blocks[0].Text, "| Name | Number |\n") {
			t.Errorf("a part without headings: %s", section.Blocks[0].Text)
		}
	}
}

func TestReadsNotebooks(t *testing.T) {
	got := written(readContent(t, "fit.ipynb", `{"metadata":{"language_info":{"name":"python"}},"cells":[
		{"cell_type":"markdown","source":["# Fit\n","\n","How it is fitted."]},
		{"cell_type":"code","source":"x = 1\nprint(x)","outputs":[{"text":["1\n"]},{"data":{"text/plain":"<Plot>","image/png":"AAAA"}}]},
		{"cell_type":"raw","source":""}]}`))
	want := "title \"Fit\" owner \"\" language \"\"\n\n1 #fit [\"Fit\"]\n  paragraph\n    How it is fitted.\n  code\n    ```python\n    x = 1\n    print(x)\n    ```\n  code\n    ```\n    1\n    ```\n  code\n    ```\n    <Plot>\n    ```\n"
	if got != want {
		t.Errorf("read as:\n%s\nwanted:\n%s", got, want)
	}
	var broken *BrokenError
	if _, err := Parse(t.Context(), Notebook, "x.ipynb", []byte(`{"a":1}`), Limits{}); !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
}

func TestReadsPresentations(t *testing.T) {
	shape := func(kind, text string) string {
		return `<p:sp><p:nvPr><p:ph type="` + kind + `"/></p:nvPr><p:txBody>` + text + `</p:txBody></p:sp>`
	}
	paragraph := func(level, text string) string {
		return `<a:p><a:pPr lvl="` + level + `"/><a:r><a:t>` + text + `</a:t></a:r></a:p>`
	}
	slide := func(shapes ...string) string {
		return `<p:sld xmlns:p="p" xmlns:a="a">` + strings.Join(shapes, "") + `</p:sld>`
	}
	deck := zippedParts(t, map[string]string{
		"ppt/slides/slide1.xml":           slide(shape("ctrTitle", paragraph("", "Plans for 2027")), shape("body", paragraph("", "Grow &amp; hire")+paragraph("1", "in Berlin")), shape("sldNum", paragraph("", "1"))),
		"ppt/slides/slide2.xml":           slide(shape("body", paragraph("", "No title"))),
		"ppt/notesSlides/notesSlide1.xml": slide(shape("body", paragraph("", "Say why."))),
		"docProps/core.xml":               `<c xmlns:dc="dc"><dc:title>Plans</dc:title><dc:creator>Ada</dc:creator></c>`,
	})
	want := "title \"Plans\" owner \"Ada\" language \"\"\n\n1 #slide=1 [\"Plans for 2027\"]\n  item\n    - Grow & hire\n  item\n      - in Berlin\n  paragraph\n    Say why.\n\n1 #slide=2 [\"Slide 2\"]\n  item\n    - No title\n"
	if got := written(readContent(t, "plans.pptx", string(deck))); got != want {
		t.Errorf("read as:\n%s\nwanted:\n%s", got, want)
	}
	var broken *BrokenError
	if _, err := Parse(t.Context(), PPTX, "x.pptx", zippedParts(t, map[string]string{"ppt/x.xml": "<a/>"}), Limits{}); !errors.As(err, &broken) || broken.Format != "PPTX" {
		t.Errorf("%v", err)
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("a,b\n1,\"2\n3\"\n"))
	f.Add([]byte("\n;\n\""))
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, CSV, "a.csv", content) })
}

func FuzzNotebook(f *testing.F) {
	f.Add([]byte(`{"cells":[{"cell_type":"code","source":["x"],"outputs":[{"text":"y"}]}]}`))
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, Notebook, "a.ipynb", content) })
}
