package lexical_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

func TestAnalyze(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"words are stemmed", "Syncing the applications", []string{"sync", "the", "applic"}},
		{"identifier with dots", "timeout.reconciliation", []string{"timeout", "reconcili", "timeout.reconciliation"}},
		{"camel case", "requeueAfterSeconds", []string{"requeu", "after", "second", "requeueaftersecond"}},
		{"acronym before a word", "HTTPServer", []string{"http", "server", "httpserver"}},
		{"plural acronym is a word", "URLs", []string{"url"}},
		{"environment variable", "ARGOCD_EXEC_TIMEOUT", []string{"argocd", "exec", "timeout", "argocd_exec_timeout"}},
		{"flag", "--self-heal", []string{"self", "heal", "selfheal"}},
		{"version", "v3.17.1.", []string{"v3", "17", "1", "v3.17.1"}},
		{"possessive", "Argo’s docs", []string{"argo", "doc"}},
		{"accents", "Café RÉSUMÉ", []string{"cafe", "resum"}},
		{"Chinese gives pairs", "回滚应用 now", []string{"回滚", "滚应", "应用", "now"}},
		{"single ideograph", "山", []string{"山"}},
		{"mixed script", "用Helm部署", []string{"用", "helm", "部署"}},
		{"Arabic without marks", "مُزامنة", []string{"مزامنة"}},
		{"emoji and punctuation are no words", "🚀 ?!", nil},
		{"zero width joiner", "sy\u200dnc", []string{"sync"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := lexical.Analyze(test.text); !slices.Equal(got, test.want) {
				t.Errorf("Analyze(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestStopWordsAreFillers(t *testing.T) {
	for _, word := range []string{"the", "with", "how", "does", "please", "what's"} {
		for _, term := range lexical.Analyze(word) {
			if !lexical.IsFiller(term) {
				t.Errorf("%q (of %q) is no filler", term, word)
			}
		}
	}
	if lexical.IsFiller("rollback") || lexical.IsStop("how") {
		t.Error("a telling word is a filler, or a question word a stop word")
	}
}

func TestScorePrefersShortPassagesAndRareTerms(t *testing.T) {
	p := lexical.DefaultBM25
	if p.Score(2, 1, 50, 100) <= p.Score(2, 1, 200, 100) {
		t.Error("a longer passage scores as high as a shorter one")
	}
	if lexical.IDF(1000, 3) <= lexical.IDF(1000, 900) || lexical.IDF(10, 10) <= 0 {
		t.Error("idf does not fall with frequency, or reaches 0")
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{"timeout.reconciliation", "回滚'a.b", "a\xffb", "''''", "ﬀ…№", strings.Repeat("é", 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range lexical.Analyze(text) {
			if term == "" || len(term) > 64 || !utf8.ValidString(term) || strings.ContainsAny(term, " \t\n\"*") {
				t.Fatalf("Analyze(%q) gives the term %q", text, term)
			}
		}
		for _, word := range lexical.Words(text) {
			if text[word.Start:word.End] != word.Text {
				t.Fatalf("Words(%q): %+v is not where it says", text, word)
			}
		}
	})
}

// TestStemsAreTheSameWhenTheyAreMetAgain stems more words than are remembered, from
// several places at once.
func TestStemsAreTheSameWhenTheyAreMetAgain(t *testing.T) {
	word := func(i int) string {
		return string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26)}) + "ations"
	}
	var first [17576]string
	for i := range first {
		first[i] = lexical.Stem(word(i))
		if want := english.Stem(word(i), true); first[i] != want {
			t.Fatalf("%s: %q, not %q", word(i), first[i], want)
		}
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range first {
				if got := lexical.Stem(word(i)); got != first[i] {
					t.Errorf("%s: %q, then %q", word(i), first[i], got)
				}
			}
		})
	}
	all.Wait()
}
