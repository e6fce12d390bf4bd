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
		{"German dates", "Bis zum 31. März gilt Tel. 4711. Am 3. und 4. Mai ist zu. Es sind 31. Dann mehr.", []string{"Bis zum 31. März gilt Tel. 4711.", "Am 3. und 4. Mai ist zu.", "Es sind 31.", "Dann mehr."}},
		{"German abbreviations", "Nimm z. B. Helm, d. h. ein Werkzeug, bzw. ggf. Abs. 3. Der 2. Versuch. So ist es. Ende.", []string{"Nimm z. B. Helm, d. h. ein Werkzeug, bzw. ggf. Abs. 3.", "Der 2. Versuch.", "So ist es.", "Ende."}},
		{"French", "Attention ! Voir p.ex. Mme. Curie, fig. 2. Est-ce vrai ? Oui.", []string{"Attention !", "Voir p.ex. Mme. Curie, fig. 2.", "Est-ce vrai ?", "Oui."}},
		{"Spanish", "El Sr. gómez vive en EE.UU. desde 2010. ¿Dónde? Véase pág. 4. ¡Bien!", []string{"El Sr. gómez vive en EE.UU. desde 2010.", "¿Dónde?", "Véase pág. 4.", "¡Bien!"}},
		{"Portuguese", "A Sra. Lima mora aprox. a 3 km, na pág. 2. Sim.", []string{"A Sra. Lima mora aprox. a 3 km, na pág. 2.", "Sim."}},
		{"Italian", "Il dott. Rossi, es. qui, a pag. 3. Bene ecc. Poi.", []string{"Il dott. Rossi, es. qui, a pag. 3.", "Bene ecc.", "Poi."}},
		{"Dutch", "Gebruik bijv. Helm, d.w.z. een tool, blz. 3. Klaar.", []string{"Gebruik bijv. Helm, d.w.z. een tool, blz. 3.", "Klaar."}},
		{"a mark that is named", "支持取反匹配（以 ! 开头）。下一句。", []string{"支持取反匹配（以 ! 开头）。", "下一句。"}},
		{"Japanese quotes", "「はい。」と言う。「いいえ。」次。", []string{"「はい。」と言う。", "「いいえ。」", "次。"}},
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
