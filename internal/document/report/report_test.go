package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

var shelf = []document.Document{
	{Name: "leave.md", ID: "1", Kind: knowledge.KindDocumentation, Title: "Leave", URL: "https://wiki.example/leave", Sections: []document.Section{
		{}, {Headings: []string{"Leave", "Days"}, Anchor: "days"},
	}},
	{Name: "notes.txt", ID: "2", Kind: flows.KindAttachment, Title: "Notes", Sections: []document.Section{{}}},
}

func at(document, section int) evidence.Place {
	return evidence.Place{Document: document, Section: section}
}

func TestWrite(t *testing.T) {
	written := report.Write(shelf, report.Report{
		Title: "Leave", Notes: []string{"By rules."}, Empty: "Nothing.",
		Parts: []evidence.Part{
			{Title: "Days", More: 3, Statements: []evidence.Statement{
				{Text: "28 days, see [the page](https://wiki.example/leave#days) and [2].", Places: []evidence.Place{at(0, 1)}},
				{Text: "# No heading", Places: []evidence.Place{at(1, 0), at(0, 1)}},
			}},
			{Title: "Dates"},
		},
	})
	const want = `# Leave

By rules.

## Days

- 28 days, see [the page](https://wiki.example/leave#days) and (2). [1] (` + "`leave.md`" + ` › Days)
- \# No heading [2][1] (` + "`notes.txt`; `leave.md`" + ` › Days)

*3 more are not listed.*

## Dates

*Nothing.*

## Sources

- [1] ` + "`leave.md`" + ` › Days <https://wiki.example/leave#days>
- [2] ` + "`notes.txt`" + `
`
	if written.Markdown != want {
		t.Errorf("got:\n%s\nwant:\n%s", written.Markdown, want)
	}
	if !strings.HasPrefix(written.Summary, "**Days**\n- 28 days") || !strings.Contains(written.Summary, "(2). [1]") {
		t.Errorf("summary %q", written.Summary)
	}
	if len(written.Groups) != 2 || written.Groups[0].Sources[0].Sections[0].URL != "https://wiki.example/leave#days" || written.Groups[1].Sources[0].Sections[0].Number != 2 {
		t.Errorf("groups %+v", written.Groups)
	}
}

func TestAReportIsBounded(t *testing.T) {
	var part evidence.Part
	long := document.Document{Name: "long.md", URL: "https://wiki.example/" + strings.Repeat("x", 1900)}
	for i := range 2000 {
		part.Statements = append(part.Statements, evidence.Statement{Text: fmt.Sprint(i, strings.Repeat(" word", 50)), Places: []evidence.Place{at(0, i)}})
		long.Sections = append(long.Sections, document.Section{})
	}
	written := report.Write([]document.Document{long}, report.Report{Title: "T", Parts: []evidence.Part{part}})
	if len(written.Markdown) > flows.MaxFile || !strings.Contains(written.Markdown, "The report ends here") || !strings.HasSuffix(written.Markdown, "more are not listed.*\n") {
		t.Errorf("%d bytes", len(written.Markdown))
	}
}

func TestFileName(t *testing.T) {
	for about, want := range map[string]string{
		"Payment service": "payment-service_context.md", "  ../../etc/passwd": "etc-passwd_context.md", "Zahlungs-Dienst ü": "zahlungs-dienst-ü_context.md",
		"": "system_context.md", "🚀": "system_context.md", strings.Repeat("long ", 50): "long-long-long-long-long-long-long-long-long-long-long-long_context.md",
	} {
		if got := report.FileName(about, "system", "_context.md"); got != want {
			t.Errorf("FileName(%q) = %q, want %q", about, got, want)
		}
	}
}

var (
	mention = regexp.MustCompile(`(?i)@(everyone|here|channel)|<[!@#][a-z0-9]`)
	number  = regexp.MustCompile(`\[(\d+)\]`)
)

// FuzzWrite checks that no statement posts links, mentions or numbers of sources that are
// not there, or begins a line of its own.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{"a [b](https://x.example) [9]", "@everyone <!channel>", "`https://x.example", "[[3]]", "- - # x\n## y", "\xff[1\u2060]", "[\\[2\\]](http://a)"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		documents := []document.Document{{Name: name, Title: name, Kind: knowledge.KindDocumentation, Sections: []document.Section{{Headings: []string{name}}}}}
		written := report.Write(documents, report.Report{Title: text, Notes: []string{text}, Parts: []evidence.Part{
			{Title: text, Statements: []evidence.Statement{{Text: text, Places: []evidence.Place{at(0, 0)}}}},
		}})
		code := report.Code(name, 120)
		markdown := strings.ReplaceAll(written.Markdown, code, "")
		if mention.MatchString(markdown) {
			t.Errorf("%q mentions: %q", text, markdown)
		}
		for _, cited := range number.FindAllString(markdown, -1) {
			if cited != "[1]" {
				t.Errorf("%q cites %s: %q", text, cited, markdown)
			}
		}
		if lines := strings.Count(written.Markdown, "\n"); lines != 11 {
			t.Errorf("%q has %d lines: %q", text, lines, written.Markdown)
		}
	})
}
