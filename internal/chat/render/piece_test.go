package render_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat/render"
)

func TestLengthsAreInUTF16Units(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "äß": 2, "语言": 2, "👩‍👩‍👧": 8, "\xff": 1} {
		if got := render.Length(text); got != want {
			t.Errorf("Length(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCutting(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		head  string
		cut   string
	}{
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "ab…"},
		{"a👩b", 2, "a", "a…"},
		{"", 0, "", ""},
	} {
		if head, cut := render.Head(test.text, test.limit), render.Cut(test.text, test.limit); head != test.head || cut != test.cut {
			t.Errorf("%q to %d: %q and %q, want %q and %q", test.text, test.limit, head, cut, test.head, test.cut)
		}
	}
}

func TestJoin(t *testing.T) {
	bold := render.Style{Bold: true}
	got := render.Join([]render.Run{
		{Text: "a"}, {}, {Text: "b"}, {Text: "c", Style: bold}, {Text: "d", Style: bold},
		{Text: "e", URL: "https://e.example"}, {Text: "f", URL: "https://e.example"}, {User: "U1"}, {Text: "g"},
	})
	want := []render.Run{
		{Text: "ab"}, {Text: "cd", Style: bold},
		{Text: "e", URL: "https://e.example"}, {Text: "f", URL: "https://e.example"}, {User: "U1"}, {Text: "g"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("run %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if said := render.Plain(got); said != "abcdefg" {
		t.Errorf("they say %q", said)
	}
}

// counted is a packer whose messages hold budget characters; each piece and run costs one
// beside its text.
func counted(budget, messages int) render.Packer {
	p := render.Packer{Budget: budget, Messages: messages, RunCost: func(r render.Run) int { return 1 + render.Length(r.Text+r.URL) }}
	p.Cost = func(piece render.Piece) int {
		cost := 1
		for _, r := range piece.Runs {
			cost += p.RunCost(r)
		}
		return cost
	}
	return p
}

func paragraph(runs ...render.Run) render.Piece { return render.Piece{Runs: runs} }

// shown writes messages: a line a message, "/" between pieces, "|" between runs.
func shown(messages [][]render.Piece) string {
	var lines []string
	for _, message := range messages {
		var pieces []string
		for _, p := range message {
			var runs []string
			for _, r := range p.Runs {
				runs = append(runs, r.Text+r.User)
			}
			pieces = append(pieces, strings.Join(runs, "|"))
		}
		lines = append(lines, strings.Join(pieces, " / "))
	}
	return strings.Join(lines, "\n")
}

func TestPacking(t *testing.T) {
	fence := render.Piece{Shape: render.Preformatted, Runs: []render.Run{{Text: "x := 1"}}}
	link := render.Run{Text: "a link", URL: "https://a.example"}
	for name, test := range map[string]struct {
		pieces []render.Piece
		budget int
		want   string
		whole  bool
	}{
		"what fits is together":                 {[]render.Piece{paragraph(render.Run{Text: "one"}), paragraph(render.Run{Text: "two"})}, 10, "one / two", true},
		"a paragraph is divided at white space": {[]render.Piece{paragraph(render.Run{Text: "one two three"})}, 10, "one two \nthree", true},
		"or in a word":                          {[]render.Piece{paragraph(render.Run{Text: "abcdefghijkl"})}, 10, "abcdefgh\nijkl", true},
		"or between runs":                       {[]render.Piece{paragraph(render.Run{Text: "one"}, link)}, 26, "one\na link", true},
		"a link that is too long is text":       {[]render.Piece{paragraph(link)}, 20, "a link (https://a.\nexample)", true},
		"a mention is never divided":            {[]render.Piece{paragraph(render.Run{Text: "abcdefg"}, render.Run{User: "U1"}, render.Run{Text: "x"})}, 9, "abcdefg\nU1|x", true},
		"a fence goes to the next message":      {[]render.Piece{paragraph(render.Run{Text: "abc"}), fence}, 10, "abc\nx := 1", true},
		"a fence that fits nowhere":             {[]render.Piece{paragraph(render.Run{Text: "abc"}), fence}, 7, "abc", false},
		"too many messages":                     {[]render.Piece{paragraph(render.Run{Text: strings.Repeat("word ", 10)})}, 10, "word wor\nd word \nword wor", false},
		"nothing":                               {nil, 10, "", true},
	} {
		messages, whole := counted(test.budget, 3).Pack(test.pieces)
		if got := shown(messages); got != test.want || whole != test.whole {
			t.Errorf("%s: whole is %v, messages are\n%s\nwant %v,\n%s", name, whole, got, test.whole, test.want)
		}
	}
}

// FuzzPack packs text with a link in it: what is whole says all, in messages that fit.
func FuzzPack(f *testing.F) {
	f.Add("one two three", "label", "four", 12)
	f.Add(strings.Repeat("x", 300), "", "\n\n", 40)
	f.Add("👩‍👩‍👧‍👦 语言", "l", "\xff", 9)
	f.Fuzz(func(t *testing.T, before, label, after string, budget int) {
		if len(before)+len(after) > 2000 || len(label) > 50 || !utf8.ValidString(before+label+after) {
			return
		}
		p := counted(5+max(0, budget)%500, 1000)
		messages, whole := p.Pack([]render.Piece{
			{Runs: render.Join([]render.Run{{Text: before}, {Text: label, URL: "https://a.example"}, {Text: after}})},
			{Shape: render.Item, Runs: render.Join([]render.Run{{Text: label}})},
		})
		var said strings.Builder
		for i, message := range messages {
			cost := 0
			for _, piece := range message {
				cost += p.Cost(piece)
				said.WriteString(render.Plain(piece.Runs))
			}
			if cost > p.Budget {
				t.Errorf("message %d costs %d of %d", i, cost, p.Budget)
			}
		}
		want := before + label + after + label
		if got := strings.Replace(said.String(), label+" (https://a.example)", label, 1); whole && got != want && said.String() != want {
			t.Errorf("%q says %q, want %q", shown(messages), said.String(), want)
		}
	})
}
