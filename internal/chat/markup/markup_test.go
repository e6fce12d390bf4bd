package markup

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"github.com/cairn-bot/cairn/internal/chat"
)

func TestClean(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", "as it is\nand on", "as it is\nand on"},
		{"line ends", "a\r\nb\rc\u2028d\u0085e", "a\nb\nc\nd\ne"},
		{"tab", "a\tb", "a    b"},
		{"escape sequence", "\x1b[31mred\x9b0m\x07", "[31mred\ufffd0m"},
		{"C1 control", "a\u009bb", "ab"},
		{"bidi override", "\u202Egnp.exe\u202C \u2066x\u2069", "gnp.exe x"},
		{"tags", "a\U000E0041b\ufeff", "ab"},
		{"broken UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
		//nolint:staticcheck // the characters are what is tested
		{"joiners and marks stay", "👩‍👧 नमस्ते می‌خواهم", "👩‍👧 नमस्ते می‌خواهم"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Clean(test.text); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
	if got := CleanLine(" a\n\tb \u202e c "); got != "a b c" {
		t.Errorf("CleanLine = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\r\n\tb\x1b[0m\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if r != '\n' && unicode.IsControl(r) {
				t.Errorf("%U is left in %q", r, got)
			}
		}
		if again := Clean(got); again != got {
			t.Errorf("cleaning again makes %q of %q", again, got)
		}
	})
}

func sources(numbers ...int) []chat.SourceGroup {
	return []chat.SourceGroup{{Sources: []chat.Source{{Numbers: numbers}}}}
}

func marks(t *testing.T, reply string, groups []chat.SourceGroup) (numbers []int) {
	t.Helper()
	root, _ := Parse(reply, groups)
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if citation, ok := node.(*Citation); ok && entering {
			numbers = append(numbers, citation.Number)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return numbers
}

func TestMarksOfSourcesAreCitations(t *testing.T) {
	got := marks(t, "a [1] b [2][3] `c[1]` [4] [01] [] [12345] \\[1] [1](x) | [3]\n\n[1]: http://elsewhere", sources(1, 3))
	want := []int{1, 3, 1, 1, 3, 1}
	if len(got) != len(want) {
		t.Fatalf("marks are %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("marks are %v, want %v", got, want)
		}
	}
}

func TestLongReplyIsCutAndSaysSo(t *testing.T) {
	_, source := Parse(strings.Repeat("é", MaxText), nil)
	if !utf8.Valid(source) || !strings.HasSuffix(string(source), "more bytes are not shown.)") {
		t.Errorf("the text ends with %q", source[len(source)-40:])
	}
}

// BenchmarkNested parses the longest texts that are made to be slow.
func BenchmarkNested(b *testing.B) {
	for name, text := range map[string]string{
		"quotes":   strings.Repeat("> ", MaxText/2),
		"brackets": strings.Repeat("[", MaxText),
		"stars":    strings.Repeat("**a ", MaxText/4),
		"lists":    strings.Repeat("- ", MaxText/2),
		"links":    strings.Repeat("[a](", MaxText/4),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Parse(text, nil)
			}
		})
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		ago  time.Duration
		want string
	}{
		{-time.Hour, "just now"}, {30 * time.Second, "just now"}, {time.Minute, "1 minute ago"}, {59 * time.Minute, "59 minutes ago"},
		{25 * time.Hour, "1 day ago"}, {23 * 24 * time.Hour, "3 weeks ago"}, {40 * 24 * time.Hour, "1 month ago"}, {800 * 24 * time.Hour, "2 years ago"},
	} {
		if got := Age(now, now.Add(-test.ago)); got != test.want {
			t.Errorf("Age of %v = %q, want %q", test.ago, got, test.want)
		}
	}
	if got := Age(now, time.Time{}); got != "" {
		t.Errorf("Age of no time = %q", got)
	}
}

func TestFreshness(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	day := now.AddDate(0, 0, -1)
	for _, test := range []struct {
		source chat.Source
		want   string
	}{
		{chat.Source{State: "live", Modified: day}, "changed 1 day ago"},
		{chat.Source{State: "changed", Modified: day}, "changed after it was read"},
		{chat.Source{State: "changed"}, "changed after it was read"},
		{chat.Source{State: "gone", Modified: day}, "no longer there"},
		{chat.Source{State: "live"}, ""},
	} {
		if got := Freshness(test.source, now); got != test.want {
			t.Errorf("Freshness of %+v = %q, want %q", test.source, got, test.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/é?q=1#x y": "https://a.example/%C3%A9?q=1#x%20y",
		" http://a.example ":          "http://a.example",
		"HTTPS://a.example":           "https://a.example",
		"javascript:alert(1)":         "",
		"java\nscript:alert(1)":       "",
		"//a.example":                 "",
		"/etc/passwd":                 "",
		"file:///srv/a.md":            "",
		"https:a.example":             "",
		"https://u:p@a.example":       "",
		"https://a.example/\x1b]8;;":  "",
		"data:text/html,x":            "",
	} {
		if got, ok := WebAddress(address); got != want || ok != (want != "") {
			t.Errorf("WebAddress(%q) = %q, %v; want %q", address, got, ok, want)
		}
	}
}
