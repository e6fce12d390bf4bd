package chunk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

func markdown(t testing.TB, source string) parse.Text {
	t.Helper()
	text, err := parse.Parse(t.Context(), parse.Markdown, "a.md", []byte(source), parse.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func passages(t testing.TB, source string, options Options) []knowledge.Passage {
	t.Helper()
	text := markdown(t, source)
	return Passages(knowledge.Document{ID: "docs:a.md", Title: text.Title}, text, options)
}

func TestPassagesFollowSections(t *testing.T) {
	got := passages(t, "Head.\n\n# Guide\n\n## Install\n\nRun it.\n\n### On Linux\n\nUse apt.\n", Options{})
	want := []struct {
		anchor, text string
		headings     []string
	}{
		{"", "Head.", nil},
		{"install", "Run it.", []string{"Guide", "Install"}},
		{"on-linux", "Use apt.", []string{"Guide", "Install", "On Linux"}},
	}
	if len(got) != len(want) {
		t.Fatalf("%d passages, want %d: a section without text has none", len(got), len(want))
	}
	for i, p := range got {
		if p.Anchor != want[i].anchor || p.Text != want[i].text || !slices.Equal(p.Headings, want[i].headings) {
			t.Errorf("passage %d: %q %q %q", i, p.Anchor, p.Headings, p.Text)
		}
		if p.Position != i || p.ID != knowledge.MakePassageID("docs:a.md", i) || p.Tokens != CountTokens(p.Text) {
			t.Errorf("passage %d: id %s, position %d, %d tokens", i, p.ID, p.Position, p.Tokens)
		}
	}
}

func TestHashCoversTitleHeadingsAndText(t *testing.T) {
	hashes := make(map[string]bool)
	for _, source := range []string{"# A\n\n## B\n\nx", "# A\n\n## C\n\nx", "# D\n\n## B\n\nx", "# A\n\n## B\n\ny"} {
		hashes[passages(t, source, Options{})[0].Hash] = true
	}
	if len(hashes) != 4 {
		t.Errorf("%d hashes of 4 different passages", len(hashes))
	}
	if passages(t, "# A\n\nx", Options{})[0].Hash != passages(t, "intro\n\n# A\n\nx", Options{})[1].Hash {
		t.Error("the same passage at another position has another hash")
	}
}

func TestLongSectionsAreCutEvenly(t *testing.T) {
	var source strings.Builder
	source.WriteString("# Long\n\n")
	for i := range 60 {
		fmt.Fprintf(&source, "Paragraph %d says something of about a dozen words, and no more than that.\n\n", i)
	}
	got := passages(t, source.String(), Options{})
	for _, p := range got {
		if p.Tokens > 400 || p.Tokens < 200 {
			t.Errorf("%d tokens in passage %d of %d", p.Tokens, p.Position, len(got))
		}
		if p.Anchor != "long" {
			t.Errorf("anchor %q", p.Anchor)
		}
	}
}

func TestCodeStaysWithWhatAnnouncesIt(t *testing.T) {
	filler := strings.Repeat("Some words to fill the room before the code comes. ", 25)
	code := strings.Repeat("kubectl apply -f manifest.yaml\n", 14)
	got := passages(t, "# A\n\n"+filler+"\n\nRun these:\n\n```sh\n"+code+"```\n\nDone.", Options{})
	if len(got) != 2 || !strings.Contains(got[1].Text, "Run these:\n\n```sh\n") || strings.Count(got[1].Text, "kubectl") != 14 {
		t.Errorf("%d passages, the second %q", len(got), got[len(got)-1].Text)
	}
}

func TestLongCodeOpensItsFenceAgain(t *testing.T) {
	got := passages(t, "# A\n\nSee:\n\n```yaml\n"+strings.Repeat("key: a value of some length here\n", 100)+"```\n", Options{})
	if len(got) < 2 {
		t.Fatalf("%d passages", len(got))
	}
	keys := 0
	for i, p := range got {
		if i > 0 && !strings.HasPrefix(p.Text, "```yaml\n") || !strings.HasSuffix(p.Text, "\n```") || strings.Count(p.Text, "```") != 2 {
			t.Errorf("passage %d: %q", i, p.Text)
		}
		keys += strings.Count(p.Text, "key:")
	}
	if keys != 100 {
		t.Errorf("%d of 100 lines", keys)
	}
}

func TestLongTableRepeatsItsHeader(t *testing.T) {
	got := passages(t, "# A\n\n| Flag | Meaning |\n|---|---|\n"+strings.Repeat("| --flag | what this flag is there for |\n", 80), Options{})
	if len(got) < 2 {
		t.Fatalf("%d passages", len(got))
	}
	for i, p := range got {
		if !strings.HasPrefix(p.Text, "| Flag | Meaning |\n| --- | --- |\n| --flag") {
			t.Errorf("passage %d: %.80q", i, p.Text)
		}
	}
}

func TestRowTooLongForAPassageIsReadByCell(t *testing.T) {
	got := passages(t, "# A\n\n| Flag | Meaning |\n|---|---|\n| --flag | "+strings.Repeat("explained at length ", 200)+"|\n", Options{})
	if len(got) < 2 || !strings.HasPrefix(got[0].Text, "Flag: --flag\nMeaning: explained") {
		t.Errorf("%d passages, the first %.80q", len(got), got[0].Text)
	}
}

func TestLongSentencesAndWordsAreTorn(t *testing.T) {
	for _, text := range []string{strings.Repeat("word ", 2000), strings.Repeat("x", 9000), "- " + strings.Repeat("ü", 4000)} {
		got := passages(t, text, Options{})
		joined := ""
		for _, p := range got {
			if p.Tokens > 400 {
				t.Errorf("%d tokens", p.Tokens)
			}
			joined += strings.Join(strings.Fields(p.Text), "")
		}
		if want := strings.Join(strings.Fields(text), ""); joined != want {
			t.Errorf("%d bytes left of %d", len(joined), len(want))
		}
	}
}

func TestDefinitions(t *testing.T) {
	for text, want := range map[string]string{
		"A Business Requirements Document (BRD) is written.":     "BRD=Business Requirements Document",
		"Custom Resource Definitions (CRDs) extend it.":          "CRD=Custom Resource Definitions",
		"Use RBAC (role-based access control) here.":             "RBAC=role-based access control",
		"Role-Based Access Control (`RBAC`)":                     "RBAC=Role-Based Access Control",
		"Continuous Integration / Continuous Delivery (CI/CD).":  "CI/CD=Continuous Integration / Continuous Delivery",
		"the Department of Defense (DoD) said":                   "DoD=Department of Defense",
		"IAM Roles for Service Accounts (IRSA)":                  "IRSA=IAM Roles for Service Accounts",
		"OpenID Connect (OIDC) login":                            "OIDC=OpenID Connect",
		"Business to Business (B2B) sales":                       "B2B=Business to Business",
		"JavaScript Object Notation (JSON)":                      "JSON=JavaScript Object Notation",
		"An SLA (Service Level Agreement, signed yearly) binds.": "SLA=Service Level Agreement",
		"Do it now (ASAP) and call us (the team).":               "",
		"Version two (V2) of the file (YAML).":                   "",
		"See the list (A, B) and step (1).":                      "",
	} {
		var got []string
		for _, d := range passages(t, "# T\n\n"+text, Options{})[0].Definitions {
			got = append(got, d.Short+"="+d.Long)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q defines %q, want %q", text, got, want)
		}
	}
	headed := passages(t, "# Continuous Integration (CI)\n\nText.", Options{})
	if !slices.Equal(headed[0].Definitions, []knowledge.Definition{{Short: "CI", Long: "Continuous Integration"}}) {
		t.Errorf("in a heading: %v", headed[0].Definitions)
	}
}

func TestCountTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 2, "one two three": 4, strings.Repeat("x", 40): 10, "日本語の文": 4} {
		if got := CountTokens(text); got != want {
			t.Errorf("CountTokens(%q) = %d, want %d", text, got, want)
		}
	}
}

// FuzzPassages checks that no passage is over the limit, that no fence is cut, and
// that all words come through in order.
func FuzzPassages(f *testing.F) {
	f.Add("# A\n\nText. More: e.g. this.\n\n```go\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- i\n  - j\n", 0)
	f.Add("````\n```\n"+strings.Repeat("line of code\n", 60)+"````\n", 64)
	f.Add("| h |\n|---|\n"+strings.Repeat("| cell of a row |\n", 60), 64)
	f.Fuzz(func(t *testing.T, source string, limit int) {
		text, err := parse.Parse(t.Context(), parse.Markdown, "a.md", []byte(source), parse.Limits{})
		if err != nil {
			return
		}
		options := Options{MaxTokens: limit & 1023}
		for _, section := range text.Sections {
			checkSection(t, section, options)
		}
	})
}

func checkSection(t *testing.T, section parse.Section, options Options) {
	t.Helper()
	var got strings.Builder
	for _, p := range Passages(knowledge.Document{}, parse.Text{Sections: []parse.Section{section}}, options) {
		if p.Tokens > options.maxTokens() {
			t.Fatalf("%d tokens over %d: %q", p.Tokens, options.maxTokens(), p.Text)
		}
		if strings.TrimSpace(p.Text) == "" {
			t.Fatal("an empty passage")
		}
		got.WriteString(p.Text + "\n")
	}
	for _, block := range section.Blocks {
		if block.Kind == parse.Table {
			return // headers are repeated, and long rows are read by cell
		}
	}
	if got, want := lettersOf(section, got.String()), lettersOf(section, written(section)); got != want {
		t.Fatalf("came through as %q, was %q", got, want)
	}
}

// lettersOf gives all characters but white space, and but the lines of fences.
func lettersOf(section parse.Section, text string) string {
	fences := make(map[string]bool)
	for _, block := range section.Blocks {
		if block.Kind == parse.Code {
			lines := strings.Split(block.Text, "\n")
			fences[lines[0]], fences[lines[len(lines)-1]] = true, true
		}
	}
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if !fences[line] {
			out.WriteString(strings.Join(strings.Fields(line), ""))
		}
	}
	return out.String()
}

func written(section parse.Section) string {
	var out strings.Builder
	for _, block := range section.Blocks {
		out.WriteString(block.Text + "\n")
	}
	return out.String()
}

func BenchmarkMarkdown(b *testing.B) {
	section := "## Section %d\n\nSome text of a page with `code`, [a link](https://example.com) and **bold** words. It goes on. And on.\n\n- an item\n- another\n\n```yaml\nkey: value\nother: 1\n```\n\n| a | b |\n|---|---|\n| 1 | two |\n\n"
	var source strings.Builder
	for i := 0; source.Len() < 1<<20; i++ {
		fmt.Fprintf(&source, section, i)
	}
	b.SetBytes(int64(source.Len()))
	for b.Loop() {
		if len(passages(b, source.String(), Options{})) == 0 {
			b.Fatal("no passages")
		}
	}
}

// TestHeadingsWithoutTextArePassages cuts documents whose headings, or titles, have no text.
func TestHeadingsWithoutTextArePassages(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"# Alone\n", "alone=Alone"},
		{"---\ntitle: Front matter\n---\n", "=Front matter"},
		{"# A\n\nText.\n\n## Middle\n\n## Last\n", "a=Text. middle=Middle last=Last"},
		{"# Above\n\n## Below\n\nText.\n", "below=Text."},
		{"# Above\n\n## Below\n", "below=Below"},
		{"# A\n\n## Same\n\nText.\n\n## Same\n\nText.\n", "same=Text. same-1=Text."},
		{"#\n\nText.\n", "=Text."},
	} {
		var got []string
		for i, p := range passages(t, test.source, Options{}) {
			got = append(got, p.Anchor+"="+p.Text)
			if p.Position != i || p.Tokens != CountTokens(p.Text) {
				t.Errorf("%q: passage %d has position %d and %d tokens", test.source, i, p.Position, p.Tokens)
			}
		}
		if joined := strings.Join(got, " "); joined != test.want {
			t.Errorf("%q gives %q, want %q", test.source, joined, test.want)
		}
	}
	if got := passages(t, "# "+strings.Repeat("word ", 500)+"\n", Options{MaxTokens: 100}); len(got) < 5 || got[0].Tokens > 100 {
		t.Errorf("a heading of 500 words gives %d passages", len(got))
	}
}
