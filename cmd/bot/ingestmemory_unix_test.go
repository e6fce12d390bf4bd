//go:build unix

package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
)

const (
	largeDocument = 30 << 20
	// wantedMemory is the most memory that reading one such document may take, in bytes.
	wantedMemory = 250_000_000
)

// BenchmarkIngestMemory measures the resident memory at its peak of `cairn ingest` over one document of
// 30 MiB of each kind: until it is written and a few of its passages have vectors, then it is
// interrupted, for the others take what those took, and time:
//
//	go test -run '^$' -bench IngestMemory -benchtime 1x -timeout 60m ./cmd/bot
func BenchmarkIngestMemory(b *testing.B) {
	file, err := buildPlain()
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range largeKinds {
		b.Run(kind.name, func(b *testing.B) {
			folder := b.TempDir()
			writeLarge(b, filepath.Join(folder, "large"+kind.name), kind.write)
			for b.Loop() {
				peak, took, said := ingestPeak(b, file, folder)
				b.ReportMetric(float64(peak)/1e6, "peak-MB")
				b.ReportMetric(took.Seconds(), "read-s")
				b.Log(said)
				if peak > wantedMemory {
					b.Errorf("%d MB, wanted %d at most", peak/1_000_000, wantedMemory/1_000_000)
				}
			}
		})
	}
}

// ingestPeak reads a folder with a build of Cairn until some passages have vectors. It gives the most
// memory that it took, how long it was until there were passages, and what was printed.
func ingestPeak(b *testing.B, file, folder string) (peak int64, took time.Duration, said string) {
	b.Helper()
	data := filepath.Join(b.TempDir(), "data")
	settings := filepath.Join(b.TempDir(), "cairn.yaml")
	sources := fmt.Sprintf("sources:\n  - {name: large, kind: files, path: %q, source_code: true}\n", folder)
	if err := os.WriteFile(settings, []byte(sources), 0o600); err != nil {
		b.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(b.Context()), file, "ingest")
	command.Env = append(os.Environ(), "CAIRN_DATA_DIR="+data, "CAIRN_CONFIG="+settings)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	began := time.Now()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for interrupted := false; ; {
		select {
		case err := <-ended:
			usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok || err != nil && !interrupted {
				b.Fatalf("%v\n%s", err, out.String())
			}
			if peak = usage.Maxrss; runtime.GOOS != "darwin" {
				peak <<= 10 // KiB, and bytes on macOS
			}
			if took == 0 {
				took = time.Since(began)
			}
			return peak, took, strings.TrimSpace(out.String())
		case <-poll.C:
		}
		stats := statsOf(b, data)
		if stats.Passages > 0 && took == 0 {
			took = time.Since(began)
		}
		if stats.Embedded > 0 && !interrupted {
			interrupted = true
			if err := command.Process.Signal(os.Interrupt); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// statsOf looks into an index that another process writes; there may be none yet.
func statsOf(b *testing.B, data string) index.Stats {
	b.Helper()
	embedder, err := local.Load()
	if err != nil {
		b.Fatal(err)
	}
	opened, err := embedded.Open(b.Context(), embedded.Options{Dir: data, Embedder: embedder.Name(), Dimension: embedder.Dimension(), ReadOnly: true})
	if err != nil {
		return index.Stats{}
	}
	defer opened.Close()
	stats, err := opened.Stats(b.Context())
	if err != nil {
		return index.Stats{}
	}
	return stats
}

func writeLarge(b *testing.B, name string, write func(out io.Writer, words *wordMaker) error) {
	b.Helper()
	made, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriter(made)
	if err := write(out, newWordMaker()); err != nil {
		b.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := made.Close(); err != nil {
		b.Fatal(err)
	}
}

// wordMaker makes text of 20,000 words, of which some are common and most are rare.
type wordMaker struct {
	random *rand.Rand
	common *rand.Zipf
	words  []string
}

func newWordMaker() *wordMaker {
	random := rand.New(rand.NewPCG(1, 2))
	m := &wordMaker{random: random, common: rand.NewZipf(random, 1.1, 4, 19_999)}
	for range 20_000 {
		word := make([]byte, 2+random.IntN(9))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgk"[random.IntN(22)]
		}
		m.words = append(m.words, string(word))
	}
	return m
}

// text is about so many bytes of sentences.
func (m *wordMaker) text(size int) string {
	var out strings.Builder
	for out.Len() < size {
		for i := range 6 + m.random.IntN(14) {
			word := m.words[m.common.Uint64()]
			if i == 0 {
				word = strings.ToUpper(word[:1]) + word[1:]
			} else {
				out.WriteByte(' ')
			}
			out.WriteString(word)
		}
		out.WriteString(". ")
	}
	return strings.TrimSpace(out.String())
}

// repeat writes pieces until there are so many bytes.
func repeat(out io.Writer, size int, piece func(n int) string) error {
	for written, n := 0, 1; written < size; n++ {
		count, err := io.WriteString(out, piece(n))
		if err != nil {
			return err
		}
		written += count
	}
	return nil
}

var largeKinds = []struct {
	name  string
	write func(out io.Writer, words *wordMaker) error
}{
	{".txt", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(int) string { return m.text(400) + "\n\n" })
	}},
	{"-one-line.txt", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(int) string { return m.text(400) + " " })
	}},
	{".md", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			return fmt.Sprintf("## Section %d: %s\n\n%s\n\n- %s\n- %s\n\n```go\nfunc f%d() {}\n```\n\n", n, m.words[n%20_000], m.text(700), m.text(60), m.text(60), n)
		})
	}},
	{"-no-headings.md", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(int) string { return m.text(300) + "\n" })
	}},
	{".csv", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			if n == 1 {
				return "number,name,place,remark\n"
			}
			return fmt.Sprintf("%d,%s,%s,\"%s\"\n", n, m.words[n%20_000], m.words[n%777], m.text(70))
		})
	}},
	{".html", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			if n == 1 {
				return "<!doctype html><html><head><title>Large</title></head><body><nav>menu</nav><main>"
			}
			return fmt.Sprintf("<section><h2 id=s%d>Section %d</h2><p class=\"text body\">%s</p><ul><li>%s<li>%s</ul></section>\n", n, n, m.text(500), m.text(50), m.text(50))
		})
	}},
	{"-table.html", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			if n == 1 {
				return "<html><body><table><tr><th>number</th><th>name</th><th>remark</th></tr>"
			}
			return fmt.Sprintf("<tr><td>%d</td><td>%s</td><td>%s</td></tr>\n", n, m.words[n%20_000], m.text(70))
		})
	}},
	{".xlsx", writeLargeXLSX},
	{".pdf", writeLargePDF},
	{".docx", writeLargeDOCX},
	{".ipynb", func(out io.Writer, m *wordMaker) error {
		if _, err := io.WriteString(out, `{"metadata": {"title": "Large"}, "cells": [`); err != nil {
			return err
		}
		err := repeat(out, largeDocument, func(n int) string {
			text, _ := json.Marshal(fmt.Sprintf("# Cell %d\n\n%s", n, m.text(900))) //nolint:errcheck // a string
			return fmt.Sprintf("%s{\"cell_type\": \"markdown\", \"source\": %s}", ","[:min(n-1, 1)], text)
		})
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, "]}")
		return err
	}},
	{".go", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			return fmt.Sprintf("// f%d is %s\nfunc f%d(%s int) {\n\tprintln(%q)\n\tprintln(%q)\n}\n\n", n, m.text(80), n, m.words[n%999], m.text(90), m.text(90))
		})
	}},
	{".eml", func(out io.Writer, m *wordMaker) error {
		_, err := io.WriteString(out, "From: ada@example.com\nTo: bob@example.com\nSubject: Large\nContent-Type: text/plain; charset=utf-8\n\n")
		if err != nil {
			return err
		}
		return repeat(out, largeDocument, func(int) string { return m.text(500) + "\n\n" })
	}},
	{"-attached.eml", func(out io.Writer, m *wordMaker) error {
		_, err := io.WriteString(out, "From: ada@example.com\nSubject: Large\nContent-Type: multipart/mixed; boundary=xyz\n\n--xyz\nContent-Type: text/plain\n\nSee the file.\n"+
			"--xyz\nContent-Disposition: attachment; filename=a.bin\nContent-Transfer-Encoding: base64\n\n")
		if err != nil {
			return err
		}
		err = repeat(out, largeDocument, func(int) string { return base64.StdEncoding.EncodeToString([]byte(randomBytes(m, 54))) + "\n" })
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, "--xyz--\n")
		return err
	}},
	{".rst", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			title := fmt.Sprintf("Section %d", n)
			return title + "\n" + strings.Repeat("=", len(title)) + "\n\n" + m.text(800) + "\n\n- " + m.text(50) + "\n\n"
		})
	}},
	{".adoc", func(out io.Writer, m *wordMaker) error {
		return repeat(out, largeDocument, func(n int) string {
			return fmt.Sprintf("== Section %d\n\n%s\n\n* %s\n\n", n, m.text(800), m.text(50))
		})
	}},
}

// writeZip writes files into an archive.
func writeZip(out io.Writer, names []string, write func(name string, out io.Writer) error) error {
	archive := zip.NewWriter(out)
	for _, name := range names {
		part, err := archive.Create(name)
		if err != nil {
			return err
		}
		if err := write(name, part); err != nil {
			return err
		}
	}
	return archive.Close()
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`

// writeLargeXLSX writes a workbook whose texts stand in the table of shared strings, as Excel writes
// them, and packed have about 30 MiB.
func writeLargeXLSX(out io.Writer, m *wordMaker) error {
	const rows, columns = 118_000, 4
	spreadsheet := `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	files := map[string]func(io.Writer) error{
		"[Content_Types].xml": text(xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>`),
		"_rels/.rels":         text(xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`),
		"xl/workbook.xml":     text(xmlHead + `<workbook ` + spreadsheet + ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Stock" sheetId="1" r:id="r1"/></sheets></workbook>`),
		"xl/_rels/workbook.xml.rels": text(xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>`),
		"xl/sharedStrings.xml": func(out io.Writer) error {
			if _, err := fmt.Fprintf(out, `%s<sst %s count="%d" uniqueCount="%d">`, xmlHead, spreadsheet, rows*columns, rows*columns); err != nil {
				return err
			}
			for range rows * columns {
				if _, err := fmt.Fprintf(out, "<si><t>%s %d</t></si>", m.text(60), m.random.Uint64()); err != nil {
					return err
				}
			}
			_, err := io.WriteString(out, "</sst>")
			return err
		},
		"xl/worksheets/sheet1.xml": func(out io.Writer) error {
			if _, err := io.WriteString(out, xmlHead+`<worksheet `+spreadsheet+`><sheetData>`); err != nil {
				return err
			}
			for row := range rows {
				var line strings.Builder
				for column := range columns {
					fmt.Fprintf(&line, `<c r="%c%d" t="s"><v>%d</v></c>`, 'A'+column, row+1, row*columns+column)
				}
				if _, err := fmt.Fprintf(out, `<row r="%d">%s</row>`, row+1, line.String()); err != nil {
					return err
				}
			}
			_, err := io.WriteString(out, "</sheetData></worksheet>")
			return err
		},
	}
	names := []string{"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"}
	return writeZip(out, names, func(name string, out io.Writer) error { return files[name](out) })
}

func text(content string) func(io.Writer) error {
	return func(out io.Writer) error {
		_, err := io.WriteString(out, content)
		return err
	}
}

// writeLargeDOCX writes 10 MiB of text, which a few pack to, and pictures.
func writeLargeDOCX(out io.Writer, m *wordMaker) error {
	return writeZip(out, []string{"[Content_Types].xml", "word/document.xml", "word/media/image1.png"}, func(name string, out io.Writer) error {
		switch name {
		case "word/document.xml":
			if _, err := io.WriteString(out, xmlHead+`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`); err != nil {
				return err
			}
			err := repeat(out, 50<<20, func(n int) string {
				if n%10 == 1 {
					return fmt.Sprintf(`<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Section %d</w:t></w:r></w:p>`, n)
				}
				return `<w:p><w:r><w:rPr><w:lang w:val="en-US"/></w:rPr><w:t xml:space="preserve">` + m.text(300) + `</w:t></w:r></w:p>`
			})
			if err != nil {
				return err
			}
			_, err = io.WriteString(out, `</w:body></w:document>`)
			return err
		case "word/media/image1.png":
			return repeat(out, 10<<20, func(int) string { return randomBytes(m, 1<<16) })
		}
		return text(xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"></Types>`)(out)
	})
}

func randomBytes(m *wordMaker, size int) string {
	made := make([]byte, size)
	for i := range made {
		made[i] = byte(m.random.Uint32())
	}
	return string(made)
}

// writeLargePDF writes 4,000 pages of text and a picture on every tenth, 30 MiB together.
func writeLargePDF(out io.Writer, m *wordMaker) error {
	const pages = 4000
	written := &countingWriter{Writer: out}
	var offsets []int
	object := func(body string, stream []byte) {
		offsets = append(offsets, written.count)
		fmt.Fprintf(written, "%d 0 obj\n%s\n", len(offsets), body)
		if stream != nil {
			fmt.Fprintf(written, "stream\n%s\nendstream\n", stream)
		}
		fmt.Fprint(written, "endobj\n")
	}
	fmt.Fprint(written, "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	object("<< /Type /Catalog /Pages 2 0 R >>", nil)
	var kids strings.Builder
	for page := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*page)
	}
	object(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", pages, kids.String()), nil)
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>", nil)
	for page := range pages {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*page), nil)
		var content bytes.Buffer
		packed := zlib.NewWriter(&content)
		fmt.Fprintf(packed, "BT /F1 18 Tf 60 780 Td (Chapter %d) Tj /F1 10 Tf 0 -30 Td\n", page)
		for range 45 {
			fmt.Fprintf(packed, "(%s) Tj 0 -14 Td\n", m.text(80))
		}
		fmt.Fprint(packed, "ET")
		if err := packed.Close(); err != nil {
			return err
		}
		object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>", content.Len()), content.Bytes())
	}
	for written.count < largeDocument {
		object(fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width 100 /Height 100 /Filter /DCTDecode /Length %d >>", 1<<16), []byte(randomBytes(m, 1<<16)))
	}
	start := written.count
	fmt.Fprintf(written, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(written, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(written, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return written.err
}

// countingWriter counts what is written, and keeps the first error.
type countingWriter struct {
	io.Writer
	count int
	err   error
}

func (w *countingWriter) Write(data []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Writer.Write(data)
	w.count, w.err = w.count+n, err
	return n, err
}
