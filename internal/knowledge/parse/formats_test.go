package parse

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

func workbookBytes(t testing.TB, fill func(book *excelize.File) error) []byte {
	t.Helper()
	book := excelize.NewFile()
	if err := fill(book); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := errors.Join(book.Write(&out), book.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func offices(book *excelize.File) error {
	_, secondErr := book.NewSheet("Opening hours")
	_, hiddenErr := book.NewSheet("Salaries")
	return errors.Join(secondErr, hiddenErr, book.SetSheetName("Sheet1", "Offices"),
		book.SetCellValue("Offices", "A1", "Our offices, as of May"),
		book.SetSheetRow("Offices", "A3", &[]any{"City", "People", "Since"}),
		book.SetSheetRow("Offices", "A4", &[]any{"Berlin", 12, "2019"}),
		book.SetSheetRow("Offices", "A7", &[]any{"Paris | Nord", nil, "2021"}),
		book.SetSheetRow("Opening hours", "A1", &[]any{"Day", "Hours"}),
		book.SetSheetRow("Opening hours", "A2", &[]any{"Monday", "9 to 5"}),
		book.SetSheetRow("Salaries", "A1", &[]any{"Name", "Salary"}), book.SetSheetVisible("Salaries", false))
}

func TestReadsWorkbooks(t *testing.T) {
	text := readContent(t, "offices.xlsx", string(workbookBytes(t, offices)))
	want := "title \"Offices\" owner \"\" language \"\"\n\n1 #sheet=1 [\"Offices\"]\n  paragraph\n    Our offices, as of May\n" +
		"\n1 #sheet=1&rows=3-7 [\"Offices\"]\n  table\n    | City | People | Since |\n    | --- | --- | --- |\n    | Berlin | 12 | 2019 |\n    | Paris \\| Nord |  | 2021 |\n" +
		"\n1 #sheet=2 [\"Opening hours\"]\n" +
		"\n1 #sheet=2&rows=1-2 [\"Opening hours\"]\n  table\n    | Day | Hours |\n    | --- | --- |\n    | Monday | 9 to 5 |\n"
	if got := written(text); got != want {
		t.Errorf("read as:\n%s\nwanted:\n%s", got, want)
	}
}

func TestRefusesWorkbooksThatUnpackToTooMuch(t *testing.T) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	part, err := archive.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(bytes.Repeat([]byte("<row/>"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	var tooLarge *TooLargeError
	if _, err := Parse(t.Context(), XLSX, "bomb.xlsx", out.Bytes(), Limits{}); !errors.As(err, &tooLarge) {
		t.Errorf("a bomb gives %v", err)
	}
	var broken *BrokenError
	if _, err := Parse(t.Context(), XLSX, "none.xlsx", []byte("PK\x03\x04xl/"), Limits{}); !errors.As(err, &broken) {
		t.Errorf("a broken workbook gives %v", err)
	}
}

const letter = "From: =?utf-8?q?J=C3=B6rg?= <j@example.com>\r\nTo: team@example.com\r\nDate: Mon, 2 Mar 2026 09:00:00 +0000\r\nSubject: =?utf-8?b?TmV3IFZQTg==?=\r\n" +
	"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\nContent-Type: multipart/alternative; boundary=inner\r\n\r\n" +
	"--inner\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe VPN moves on Monday. Gr=FC=DFe\r\n\r\n> When?\r\n\r\nConnect to vpn2.\r\n" +
	"--inner\r\nContent-Type: text/html\r\n\r\n<p>The VPN moves</p>\r\n--inner--\r\n--outer\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=guide.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0=\r\n--outer--\r\n"

func TestReadsMail(t *testing.T) {
	want := "title \"New VPN\" owner \"\" language \"\"\n\n0 # []\n  paragraph\n    From: Jörg <j@example.com> · To: team@example.com · Date: Mon, 2 Mar 2026 09:00:00 +0000\n" +
		"  paragraph\n    The VPN moves on Monday. Grüße\n  paragraph\n    Connect to vpn2.\n\n0 # []\n  paragraph\n    Attached: guide.pdf\n"
	if got := written(readContent(t, "vpn.eml", letter)); got != want {
		t.Errorf("read as:\n%s\nwanted:\n%s", got, want)
	}
	page := "Subject: x\r\nContent-Type: text/html\r\n\r\n<h1>Plan</h1><p>All of it.</p><script>no()</script>"
	if got := written(readContent(t, "x.eml", page)); !strings.Contains(got, "1 #plan [\"Plan\"]\n  paragraph\n    All of it.") || strings.Contains(got, "no()") {
		t.Errorf("a page is read as:\n%s", got)
	}
	nested := ""
	for i := range maxMailDepth + 2 {
		nested += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	var broken *BrokenError
	for _, content := range []string{"no header", nested} {
		if _, err := Parse(t.Context(), Mail, "x.eml", []byte(content), Limits{}); !errors.As(err, &broken) {
			t.Errorf("%.20q gives %v", content, err)
		}
	}
}

func TestReadsSourceCode(t *testing.T) {
	got := written(readContent(t, "pkg/rate.go", "// Package rate limits calls.\npackage rate\n\nconst most = 5 // calls\n\n// Limiter counts calls.\ntype Limiter struct {\n\tcalls int\n}\n\n// Take waits for a turn.\nfunc (l *Limiter) Take(n int) error {\n\tif n > most {\n\t\treturn nil\n\t}\n\treturn nil\n}\n"))
	want := "title \"rate.go\" owner \"\" language \"\"\n\n0 #L1-L5 []\n  paragraph\n    Package rate limits calls.\n  code\n    ```go\n    package rate\n    \n    const most = 5 // calls\n    ```\n" +
		"\n1 #L6-L10 [\"type Limiter struct\"]\n  paragraph\n    Limiter counts calls.\n  code\n    ```go\n    type Limiter struct {\n    \tcalls int\n    }\n    ```\n" +
		"\n1 #L11-L18 [\"func (l *Limiter) Take(n int) error\"]\n  paragraph\n    Take waits for a turn.\n  code\n    ```go\n    func (l *Limiter) Take(n int) error {\n    \tif n > most {\n    \t\treturn nil\n    \t}\n    \treturn nil\n    }\n    ```\n"
	if got != want {
		t.Errorf("read as:\n%s\nwanted:\n%s", got, want)
	}
	for name, test := range map[string]struct {
		source string
		want   []string
	}{
		"a.py":   {"import os\n\nclass Job:\n    \"\"\"One job.\"\"\"\n    def run(self):\n        return 1\n\nasync def main():\n    pass\n", []string{"class Job", "def run(self)", "async def main()"}},
		"a.ts":   {"export interface Plan { a: string }\nexport default async function load(id: string) {\n  return id\n}\n", []string{"export interface Plan { a: string }", "export default async function load(id: string)"}},
		"A.java": {"public class A {\n  private static int add(int a, int b) {\n    return a + b;\n  }\n}\n", []string{"public class A", "private static int add(int a, int b)"}},
		"a.c":    {"#include <a.h>\nstatic int f(int x);\nint f(int x)\n{\n  return g(x);\n}\n", []string{"int f(int x)"}},
		"a.sql":  {"-- People.\nCREATE TABLE people (\n  id int\n);\nSELECT 1;\n", []string{"CREATE TABLE people"}},
		"a.sh":   {"#!/bin/sh\nset -e\ndeploy() {\n  if true; then echo; fi\n}\ndeploy\n", []string{"deploy()"}},
	} {
		var headings []string
		for _, section := range readContent(t, name, test.source).Sections {
			if section.Heading != "" {
				headings = append(headings, section.Heading)
			}
		}
		if strings.Join(headings, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s has the symbols %q, want %q", name, headings, test.want)
		}
	}
	long := "func long() {\n" + strings.Repeat("\tx()\n", 200) + "}\n"
	sections := readContent(t, "long.go", long).Sections
	if len(sections) != 4 || sections[0].Anchor != "L1-L60" || sections[3].Anchor != "L181-L203" {
		t.Errorf("a long function has %d sections: %+v", len(sections), sections)
	}
}

func FuzzMail(f *testing.F) {
	f.Add([]byte(letter))
	f.Add([]byte("Content-Type: text/plain; charset=utf-16\n\n\xff\xfe"))
	f.Fuzz(func(t *testing.T, content []byte) { fuzzed(t, Mail, "a.eml", content) })
}

func FuzzSource(f *testing.F) {
	f.Add("a.go", []byte("// A\nfunc a() {\n}\n"))
	f.Add("a.c", []byte("int f(int x)\n{\n}\n"))
	f.Fuzz(func(t *testing.T, name string, content []byte) { fuzzed(t, Source, name, content) })
}

// FuzzXLSX varies the parts inside the archive.
func FuzzXLSX(f *testing.F) {
	book := workbookBytes(f, offices)
	archive, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		f.Fatal(err)
	}
	parts := make(map[string]string)
	for _, part := range archive.File {
		opened, err := part.Open()
		if err != nil {
			f.Fatal(err)
		}
		var content bytes.Buffer
		if _, err := content.ReadFrom(opened); err != nil {
			f.Fatal(err)
		}
		parts[part.Name] = content.String()
	}
	f.Add(parts["xl/worksheets/sheet1.xml"], parts["xl/sharedStrings.xml"], parts["xl/workbook.xml"])
	f.Add(`<worksheet><sheetData><row r="1048576"><c r="XFD1048576" t="s"><v>9</v></c></row></sheetData></worksheet>`, `<sst/>`, parts["xl/workbook.xml"])
	f.Fuzz(func(t *testing.T, sheet, shared, workbook string) {
		varied := make(map[string]string, len(parts))
		for name, content := range parts {
			varied[name] = content
		}
		varied["xl/worksheets/sheet1.xml"], varied["xl/sharedStrings.xml"], varied["xl/workbook.xml"] = sheet, shared, workbook
		fuzzed(t, XLSX, "a.xlsx", zippedParts(t, varied))
	})
}
