package sentence

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func texts(found []Sentence) []string {
	var out []string
	for _, s := range found {
		out = append(out, s.Text)
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "One is here. Two is there! Is three? Yes", []string{"One is here.", "Two is there!", "Is three?", "Yes"}},
		{"abbreviations", "Use a tool, e.g. Helm, i.e. a chart. See fig. 3 and no. 4. Ask Dr. Who.", []string{"Use a tool, e.g. Helm, i.e. a chart.", "See fig. 3 and no. 4.", "Ask Dr. Who."}},
		{"no as a word", "The answer is no. Then ask again.", []string{"The answer is no.", "Then ask again."}},
		{"etc.", "Pods, jobs, etc. are listed. Pods, etc. Then more.", []string{"Pods, jobs, etc. are listed.", "Pods, etc.", "Then more."}},
		{"versions and files", "Since v1.2 the file values.yaml at https://example.com/a.b?c=d. is read. Done.", []string{"Since v1.2 the file values.yaml at https://example.com/a.b?c=d.", "is read.", "Done."}},
		{"code spans", "Run `a. B` first. Then ``x. `y`. Z``. End.", []string{"Run `a. B` first.", "Then ``x. `y`. Z``.", "End."}},
		{"open code span", "A ` alone. Next.", []string{"A ` alone.", "Next."}},
		{"quotes and brackets", "He said \"stop.\" (Really.) Then \"go!\" again.", []string{"He said \"stop.\"", "(Really.)", "Then \"go!\"", "again."}},
		{"ellipsis", "Wait... what? Wait... Then.", []string{"Wait... what?", "Wait...", "Then."}},
		{"initials", "J. Smith and I. Then us.", []string{"J. Smith and I.", "Then us."}},
		{"CJK", "これは文です。次の文です。", []string{"これは文です。", "次の文です。"}},
		{"items", "Do:\n- one. Two.\n  goes on\n  1. nested\n\n2) next", []string{"Do:", "- one. Two.\n  goes on", "1. nested", "2) next"}},
		{"table", "| a | b |\n| --- | :-: |\n| 1. x | 2 |\ntext", []string{"| a | b |\n| --- | :-: |", "| 1. x | 2 |", "text"}},
		{"code", "See:\n\n```sh\na. B\n\n- c\n```\nAfter. End", []string{"See:", "```sh\na. B\n\n- c\n```", "After.", "End"}},
		{"longer fence", "````\n```\nx\n````\ny", []string{"````\n```\nx\n````", "y"}},
		{"open fence", "~~~\nx. Y", []string{"~~~\nx. Y"}},
		{"line breaks", "First line\nsecond line", []string{"First line", "second line"}},
		{"nothing", " \n\t", nil},
	} {
		if got := texts(Split(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBlocksAreMarked(t *testing.T) {
	want := []bool{false, true, true, true, false}
	for i, s := range Split("Text.\n- item\n| a |\n```\nx\n```\nMore") {
		if s.Block != want[i] {
			t.Errorf("%q: block %v", s.Text, s.Block)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("One. Two e.g. three.\n- item\n  more\n| a |\n|---|\n```go\nx\n```\n`a. b` … 完了。次")
	f.Add("1. \n2. x\n~~~\n")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, s := range Split(text) {
			if s.Start < end || s.Start >= s.End || text[s.Start:s.End] != s.Text {
				t.Fatalf("%q at %d to %d behind %d", s.Text, s.Start, s.End, end)
			}
			if strings.TrimFunc(text[end:s.Start], unicode.IsSpace) != "" {
				t.Fatalf("left out %q", text[end:s.Start])
			}
			end = s.End
		}
		if strings.TrimFunc(text[end:], unicode.IsSpace) != "" {
			t.Fatalf("left out %q", text[end:])
		}
	})
}
