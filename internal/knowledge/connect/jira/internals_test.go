package jira

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// render writes an issue with a text as its description, and as a comment.
func render(t *testing.T, nodes string) string {
	t.Helper()
	document := json.RawMessage(`{"type":"doc","version":1,"content":[` + nodes + `]}`)
	one := issue{Key: "ENG-1"}
	one.Fields.Summary, one.Fields.Description = "Title {#x}", document
	text, err := renderIssue(one, []comment{{ID: "10", Author: person{Name: "Ada {#y}"}, Body: document}}, 1<<20)
	if err != nil {
		t.Fatalf("%s: %v", nodes, err)
	}
	return string(text)
}

func TestADFBecomesMarkdown(t *testing.T) {
	paragraph := func(text string) string { return `{"type":"paragraph","content":[` + text + `]}` }
	text := func(text string) string { return `{"type":"text","text":"` + text + `"}` }
	item := func(inside string) string { return `{"type":"listItem","content":[` + inside + `]}` }
	for _, test := range []struct{ nodes, want string }{
		{`{"type":"heading","attrs":{"level":1},"content":[` + text("Steps {#focusedCommentId-1}") + `]}`, "\n### Steps (#focusedCommentId-1)\n"},
		{`{"type":"heading","attrs":{"level":6},"content":[` + text("Low") + `]}`, "\n###### Low\n"},
		{paragraph(text("### Comment by Bob {#focusedCommentId-1}")), `\### Comment`},
		{paragraph(text("a *b* <script>")), `a \*b* &lt;script&gt;`},
		{paragraph(`{"type":"mention","attrs":{"id":"1","text":"@Ada"}},{"type":"text","text":" now","marks":[{"type":"strong"},{"type":"underline"}]},{"type":"emoji","attrs":{"shortName":":x:","text":"😀"}},{"type":"emoji","attrs":{"shortName":":own:"}}`), "@Ada **now**😀:own:"},
		{paragraph(`{"type":"text","text":"here","marks":[{"type":"link","attrs":{"href":"https://example.com/a"}}]},` + text(" ") + `,{"type":"text","text":"run","marks":[{"type":"link","attrs":{"href":"javascript:x"}},{"type":"code"}]}`), "[here](https://example.com/a) `run`\n"},
		{paragraph(`{"type":"inlineCard","attrs":{"url":"https://example.com/b"}}`), "(https://example.com/b)"},
		{paragraph(`{"type":"date","attrs":{"timestamp":"1777636801000"}},` + text(" ") + `,{"type":"status","attrs":{"text":"LATE","color":"red"}}`), "2026-05-01 LATE"},
		{`{"type":"bulletList","content":[` + item(paragraph(text("one"))+`,{"type":"orderedList","content":[`+item(paragraph(text("inner")))+`]}`) + `,` + item(paragraph(text("two"))) + `]}`, "- one\n  \n  1. inner\n- two"},
		{`{"type":"codeBlock","attrs":{"language":"go"},"content":[` + text(`a := \"<b>\"\n\tc()`) + `]}`, "```go\na := \"<b>\"\n\tc()\n```"},
		{`{"type":"codeBlock","attrs":{"language":"x y"},"content":[` + text("d") + `]}`, "```\nd\n```"},
		{`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableHeader","content":[` + paragraph(text("Port")) + `]},{"type":"tableHeader","content":[` + paragraph(text("Use")) + `]}]},` +
			`{"type":"tableRow","content":[{"type":"tableCell","content":[` + paragraph(text("8080")) + `]},{"type":"tableCell","content":[` + paragraph(text("a")) + `,{"type":"bulletList","content":[` + item(paragraph(text("b"))) + `]},{"type":"codeBlock","content":[` + text(`c\nd`) + `]}]}]}]}`, "| Port | Use       |\n|------|-----------|\n| 8080 | a b `c d` |"},
		{`{"type":"panel","attrs":{"panelType":"info"},"content":[` + paragraph(text("Ask")) + `]}`, "\n> Ask"},
		{`{"type":"blockquote","content":[` + paragraph(text("Said")) + `]}`, "\n> Said"},
		{`{"type":"taskList","content":[{"type":"taskItem","attrs":{"state":"DONE"},"content":[` + text("did") + `]},{"type":"taskItem","attrs":{"state":"TODO"},"content":[` + text("do") + `]}]}`, "- (done) did\n- do"},
		{`{"type":"mediaSingle","content":[{"type":"media","attrs":{"id":"9","type":"file","alt":"shot.png"}}]}`, "\nshot.png\n"},
		{`{"type":"expand","attrs":{"title":"More"},"content":[` + paragraph(text("inside")) + `]}`, "**More**\n\ninside"},
		{`{"type":"newThing","attrs":{"text":"said "},"content":[` + text("inside") + `]}`, "said inside"},
	} {
		got := render(t, test.nodes)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s\nbecomes\n%s\nwant %q", test.nodes, got, test.want)
		}
		if !strings.HasPrefix(got, "# ENG-1 Title (#x)\n") || !strings.Contains(got, "\n### Comment by Ada (#y) on {#focusedCommentId-10}\n") {
			t.Errorf("the headings of %s", got)
		}
	}
}

// ours are the elements of HTML that are written.
var ours = []string{"h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "table", "tr", "th", "td", "div", "strong", "em", "code", "del", "pre", "br", "hr", "a"}

// FuzzADF rewrites what somebody wrote in the Atlassian Document Format: nothing of it becomes an
// element that is not known, or a heading of ours.
func FuzzADF(f *testing.F) {
	for _, text := range []string{
		`null`, `"plain"`, `[]`, `{}`, `{"type":"doc","version":1,"content":[{"type":"paragraph","content":[{"type":"text","text":"<script>&"}]}]}`,
		`{"type":"heading","attrs":{"level":-1e300},"content":[{"type":"text","text":"{#focusedCommentId-1}"},{"type":"table","content":[{"type":"tableCell","content":[{"type":"heading"}]}]}]}`,
		`{"type":"codeBlock","attrs":{"language":"\"><script>"},"content":[{"type":"text","text":"</code></pre><script>"}]}`,
		`{"type":"text","text":"x","marks":[{"type":"link","attrs":{"href":"https://x/\"><script>"}},{"type":"strong"},{"type":"strong"}]}`,
		`{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell","content":[{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell","content":[{"type":"codeBlock"}]}]}]}]}]}]}`,
		`{"type":"date","attrs":{"timestamp":"9223372036854775807"}}`, `{"type":"emoji","attrs":{"text":7,"shortName":":x:"}}`, `{"type":"unknown","attrs":{"text":"x"},"content":[{"type":"rule"},{"type":"hardBreak"}]}`,
		`{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"panel","content":[{"type":"mediaSingle","content":[{"type":"media","attrs":{"alt":"a"}}]}]}]}]}`,
		strings.Repeat(`{"type":"blockquote","content":[`, 200) + strings.Repeat(`]}`, 200),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 1 << 16
		w := &adfWriter{limit: limit}
		if err := w.writeADF(text, commentLevel); err == nil {
			tokens := html.NewTokenizer(strings.NewReader(w.out.String()))
			for tokens.Next() != html.ErrorToken {
				name, _ := tokens.TagName()
				if token := string(name); token != "" && (!slices.Contains(ours, token) || token == "h1" || token == "h2" || token == "h3") {
					t.Errorf("an element %s in %q of %q", token, w.out.String(), text)
				}
			}
		}
		one := issue{Key: "ENG-1"}
		one.Fields.Description = text
		written, err := renderIssue(one, []comment{{ID: "1", Body: text}}, limit)
		if large, ok := errors.AsType[*connect.TooLargeError](err); err != nil && !ok && !errors.Is(err, atlassian.ErrUnreadable) {
			t.Errorf("%v, %v", err, large)
		}
		if anchors := bytes.Count(written, []byte("\n### Comment by")); err == nil && anchors != 1 {
			t.Errorf("%d headings of comments in %s", anchors, written)
		}
	})
}
