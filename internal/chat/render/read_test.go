package render_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// plainly shows neither links in tables nor those of marks; richly shows both.
var (
	plainly = render.Format{MaxAddress: 40, MaxTitle: 20, Deepest: 1, EmptyItem: "…", SplitCode: true}
	richly  = render.Format{MaxAddress: 40, MaxTitle: 20, Deepest: 1, EmptyItem: " ", LinkMarks: true, LinkTables: true}
)

// told writes pieces for people: a line a piece, with what it is, and links and styles
// behind the runs that have them.
func told(pieces []render.Piece) string {
	var lines []string
	for _, p := range pieces {
		is := [...]string{"text", "item", "code", "quote"}[p.Shape]
		switch {
		case p.Ordered:
			is = fmt.Sprintf("%d. at %d", p.Number, p.Indent)
		case p.Shape == render.Item:
			is += fmt.Sprintf(" at %d", p.Indent)
		case p.Language != "":
			is += " in " + p.Language
		}
		var runs []string
		for _, r := range p.Runs {
			run := fmt.Sprintf("%q", r.Text)
			for _, mark := range []struct {
				on bool
				is string
			}{{r.Style.Bold, "bold"}, {r.Style.Italic, "italic"}, {r.Style.Strike, "strike"}, {r.Style.Code, "code"}, {r.URL != "", r.URL}} {
				if mark.on {
					run += "(" + mark.is + ")"
				}
			}
			runs = append(runs, run)
		}
		lines = append(lines, is+": "+strings.Join(runs, " "))
	}
	return strings.Join(lines, "\n")
}

func sources() []chat.SourceGroup {
	return []chat.SourceGroup{
		{Category: "Documentation", Sources: []chat.Source{
			{Numbers: []int{1}, Title: "Deploying", Owner: "Platform", Sections: []chat.Section{
				{Number: 1, Heading: "Rolling back", URL: "https://a.example/b"}, {Number: 1, Heading: "Limits", URL: "file:///x"},
			}},
			{Numbers: []int{2}, Path: "docs/runbook.md"},
		}},
		{Sources: []chat.Source{{Title: "A title that is much too long"}}},
	}
}

func TestReading(t *testing.T) {
	for _, test := range []struct {
		markdown      string
		plain, richer string // richer where it is another
	}{
		{"a **b** *c* ~~d~~ `e`\nf  \ng", `text: "a " "b"(bold) " " "c"(italic) " " "d"(strike) " " "e"(code) " f\ng"`, ""},
		{"# A *b*", `text: "A "(bold) "b"(bold)(italic)`, ""},
		{"***", `text: "———"`, ""},
		{"Done [1][2][9].", `text: "Done [1][2][9]."`, `text: "Done " "[1]"(https://a.example/b) "[2][9]."`},
		{"[a](https://a.example) [`b`](https://a.example) [c](ftp://c) <https://d.example>", `text: "a"(https://a.example) " " "b"(code)(https://a.example) " c (ftp://c) " "https://d.example"(https://d.example)`, ""},
		{"[a](https://a.example/" + strings.Repeat("x", 30) + ")", `text: "a (https://a.example/` + strings.Repeat("x", 30) + `)"`, ""},
		{"```go\nx\n\n```", `code in go: "x"`, ""},
		{"```a b\"c\nx\n```", `code in a: "x"`, ""},
		{"3. a\n4. b\n   - c\n     - d\n\n     ```\n     e\n     ```", "3. at 0: \"a\"\n4. at 0: \"b\"\nitem at 1: \"c\"\nitem at 1: \"d\"\ncode: \"e\"", ""},
		{"-\n- a", "item at 0: \"…\"\nitem at 0: \"a\"", "item at 0: \" \"\nitem at 0: \"a\""},
		{"> a\n>\n> - b\n>\n> ```\n> c\n> d\n> ```", `quote: "a\n• b\n" "c"(code) "\n" "d"(code)`, `quote: "a\n• b\n" "c\nd"(code)`},
		{"| a | n |\n|--|--:|\n| [b](https://b.example) | 10 |\n| 语言 | |", "code: \"a                       n\\n─────────────────────  ──\\nb (https://b.example)  10\\n语言\"", "code: \"a      n\\n────  ──\\n\" \"b\"(https://b.example) \"     10\\n语言\""},
		{"<div>\na\n</div>", `text: "<div>\na\n</div>"`, ""},
		{"<!-- a\n-->", `text: "<!-- a\n-->"`, ""},
		{" ", "", ""},
	} {
		if got := told(plainly.Read(test.markdown, sources())); got != test.plain {
			t.Errorf("%q is read as\n%s\nwant\n%s", test.markdown, got, test.plain)
		}
		want := test.richer
		if want == "" {
			want = test.plain
		}
		if got := told(richly.Read(test.markdown, sources())); got != want {
			t.Errorf("%q is read richly as\n%s\nwant\n%s", test.markdown, got, want)
		}
	}
}

func TestTablesKeepTheirCells(t *testing.T) {
	pieces := richly.Read("| a | `n` | |\n|:-:|--:|---|\n| **b** [1] | 10 |\n| c | | x | lost |", sources())
	if len(pieces) != 1 || pieces[0].Table == nil {
		t.Fatalf("read as %+v", pieces)
	}
	var rows []string
	for _, cells := range pieces[0].Table.Rows {
		var row []render.Piece
		for _, cell := range cells {
			row = append(row, render.Piece{Runs: cell})
		}
		rows = append(rows, strings.ReplaceAll(told(row), "\n", " "))
	}
	want := "text: \"a\"(bold) text: \"n\"(bold)(code) text: \n" +
		"text: \"b\"(bold) \" \" \"[1]\"(https://a.example/b) text: \"10\" text: \n" +
		"text: \"c\" text:  text: \"x\""
	if got := strings.Join(rows, "\n"); got != want {
		t.Errorf("cells\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprint(pieces[0].Table.Aligns); got != "[1 2 0]" {
		t.Errorf("columns stand at %s", got)
	}
}

func TestSources(t *testing.T) {
	room := render.Room{Rows: 9, Budget: 1000, Cost: func(p render.Piece) int { return render.Length(render.Plain(p.Runs)) }}
	all := `text: "Documentation"(bold)
item at 0: "[1] " "Deploying"(https://a.example/b) ": " "Rolling back"(https://a.example/b) ", Limits · Platform"
item at 0: "[2] " "docs/runbook.md"(bold) " · docs/runbook.md"
item at 0: "A title that is muc…"(bold)`
	pieces, folded := plainly.Sources(sources(), chattest.Now, room)
	if got := told(pieces); got != all || folded != 0 {
		t.Errorf("%d are folded of\n%s\nwant none of\n%s", folded, got, all)
	}
	lines := strings.Split(all, "\n")
	for name, test := range map[string]struct {
		rows, budget int
		want         []string
		folded       int
	}{
		"one row":                     {1, 1000, lines[:2], 2},
		"no rows":                     {0, 1000, nil, 3},
		"no budget for the first":     {9, 40, nil, 3}, // and then none of those that would fit
		"budget for the first only":   {9, 70, lines[:2], 2},
		"budget for all but the last": {9, 100, lines[:3], 1},
	} {
		room.Rows, room.Budget = test.rows, test.budget
		pieces, folded := plainly.Sources(sources(), chattest.Now, room)
		if got, want := told(pieces), strings.Join(test.want, "\n"); got != want || folded != test.folded {
			t.Errorf("%s: %d are folded of\n%s\nwant %d of\n%s", name, folded, got, test.folded, want)
		}
	}
	if one, many := markup.MoreDocuments(1), markup.MoreDocuments(3); one != "1 more document" || many != "3 more documents" {
		t.Errorf("%q, %q", one, many)
	}
}

func TestSectionsOfARowAreBounded(t *testing.T) {
	source := chat.Source{Title: "T", Modified: chattest.Now.Add(-48 * time.Hour)}
	for _, heading := range []string{"a", "", "b", "c", "d", "e", "f"} {
		source.Sections = append(source.Sections, chat.Section{Heading: heading})
	}
	room := render.Room{Rows: 1, Budget: 1000, Cost: func(render.Piece) int { return 0 }}
	pieces, _ := plainly.Sources([]chat.SourceGroup{{Sources: []chat.Source{source}}}, chattest.Now, room)
	if got, want := render.Plain(pieces[0].Runs), "T: a, b, c, d and 2 more"; !strings.HasPrefix(got, want+" · ") {
		t.Errorf("%q, want %q and its age", got, want)
	}
}

func TestChoices(t *testing.T) {
	short := []chat.Choice{{ID: "a", Label: "Staging"}, {ID: "b"}, {}}
	if pieces := render.Choices(short, 7, 20); pieces != nil {
		t.Errorf("buttons tell them, but they are spelled out: %s", told(pieces))
	}
	want := "1. at 0: \"Staging\"(bold)\n2. at 0: \"b\"(bold)\n3. at 0: \"—\"(bold)"
	if got := told(render.Choices(short, 6, 20)); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if got, want := told(render.Choices([]chat.Choice{{Label: "A", Detail: "in detail"}}, 7, 5)), `1. at 0: "A"(bold) " — in d…"`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

func TestAnswered(t *testing.T) {
	question := chat.Question{Choices: []chat.Choice{{ID: "a", Label: "Staging"}}}
	for answer, want := range map[string]string{"a": "Staging", "in words": "in wo…", "\x00": "…"} {
		runs := render.Answered(chat.Post{Question: &question, Answer: answer}, "", 6)
		if answer == "a" {
			runs = render.Answered(chat.Post{Question: &question, Answer: answer}, "", 10)
		}
		if got := render.Plain(runs); got != "→ "+want {
			t.Errorf("%q is told as %q, want %q", answer, got, want)
		}
	}
	if runs := render.Answered(chat.Post{Question: &question, Answer: "a"}, "U1", 10); runs[0].User != "U1" || render.Plain(runs) != ": Staging" {
		t.Errorf("%+v", runs)
	}
}

// FuzzRead reads anything: no piece is empty, items are no deeper than they may be, and
// links lead to the web.
func FuzzRead(f *testing.F) {
	f.Add(chattest.Answer().Text)
	f.Add(chattest.Evil)
	f.Add("> 1. a\n>    | b | c |\n>    |--|--:|\n>    | [d](https://d.example) | `e` |\n\n<!--\n\n\n-->")
	f.Fuzz(func(t *testing.T, markdown string) {
		if len(markdown) > 20000 {
			return
		}
		for _, format := range []render.Format{plainly, richly} {
			for _, p := range format.Read(markdown, sources()) {
				if p.Indent < 0 || p.Indent > format.Deepest || p.Shape == render.Item && p.Number < 1 {
					t.Errorf("an item %d at %d", p.Number, p.Indent)
				}
				if strings.TrimSpace(render.Plain(p.Runs)) == "" && render.Plain(p.Runs) != format.EmptyItem {
					t.Errorf("an empty piece: %+v", p)
				}
				for _, r := range p.Runs {
					if r.URL != "" && (len(r.URL) > format.MaxAddress || !strings.HasPrefix(r.URL, "https://") && !strings.HasPrefix(r.URL, "http://")) {
						t.Errorf("a link to %q", r.URL)
					}
				}
			}
		}
	})
}

func TestMarksLeadToPassagesAndTitlesToOriginals(t *testing.T) {
	groups := sources()
	groups[0].Sources[0].Sections[0].View = "https://c.example/source/a/1-b"
	groups[0].Sources[1].Sections = []chat.Section{{Number: 2, URL: "file:///srv/runbook.md", View: "https://c.example/source/b/2-c"}}
	groups[0].Sources[1].State = "old"
	line, _ := plainly.SourceLine(groups)
	want := `text: "[1]"(https://c.example/source/a/1-b) " " "Deploying"(https://a.example/b) " · " "[2]"(https://c.example/source/b/2-c) " " "docs/runbook.md"(https://c.example/source/b/2-c) " (unchanged for over a year)`
	if got := told([]render.Piece{line}); !strings.HasPrefix(got, want) {
		t.Errorf("the line is\n%s\nwant\n%s", got, want)
	}
	if got := told(richly.Read("Done [1][2].", groups)); got != `text: "Done " "[1]"(https://c.example/source/a/1-b) "[2]"(https://c.example/source/b/2-c) "."` {
		t.Errorf("the text is %s", got)
	}
}
