package lexical

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/language"
)

func TestAnalyzeInFindsInflectedWords(t *testing.T) {
	for _, test := range []struct {
		tag       language.Tag
		one, many string
	}{
		{language.German, "Einstellung", "die Einstellungen"},
		{language.German, "Häuser", "des Hauses"},
		{language.French, "l'utilisateur", "des utilisateurs"},
		{language.French, "l’image", "images"},
		{language.Spanish, "configuración", "las configuraciones"},
		{language.Portuguese, "a configuração", "configurações"},
		{language.Italian, "dell'utente", "gli utenti"},
		{language.Dutch, "het wachtwoord", "wachtwoorden"},
		{language.Japanese, "サーバーの設定", "サーバー"},
		{language.Chinese, "重置密码", "密码"},
	} {
		one, many := telling(test.tag, test.one), AnalyzeIn(test.tag, test.many)
		if !slices.ContainsFunc(one, func(term string) bool { return slices.Contains(many, term) }) {
			t.Errorf("%s: %q gives %q, %q gives %q: nothing in common", test.tag, test.one, one, test.many, many)
		}
	}
}

// TestAnalyzeInKeepsWhatAnalyzeGives: identifiers and exact words are found in any language.
func TestAnalyzeInKeepsWhatAnalyzeGives(t *testing.T) {
	text := "[Anleitung](https://example.com/guide) Setze timeout.reconciliation in values-prod.yaml, dann läuft HTTPServer2 mit Müllers self-heal."
	terms := AnalyzeIn(language.German, text)
	for _, term := range Analyze(text) {
		if !slices.Contains(terms, term) {
			t.Errorf("%q is not among %q", term, terms)
		}
	}
	if slices.Contains(terms, "example") || slices.Contains(terms, "exampl") {
		t.Errorf("the address of a link is among %q", terms)
	}
	if got, want := AnalyzeIn(language.English, text), Analyze(text); !slices.Equal(got, want) {
		t.Errorf("English gives %q, want %q", got, want)
	}
}

// TestStemsOfOtherLanguagesAreNoEnglishWords: a misspelled English word is not found in
// Spanish pages.
func TestStemsOfOtherLanguagesAreNoEnglishWords(t *testing.T) {
	if terms := AnalyzeIn(language.Spanish, "instalar el chart"); slices.Contains(terms, "instal") || !slices.Contains(terms, "instal:es") {
		t.Errorf("got %q", terms)
	}
}

func TestKanaKeepsItsSounds(t *testing.T) {
	if got := Analyze("サーバー"); !slices.Equal(got, []string{"サー", "ーバ", "バー"}) {
		t.Errorf("got %q", got)
	}
	if Fold("ガス") == Fold("カス") {
		t.Error("ga and ka are the same")
	}
}

// telling gives all terms of TellingPairs.
func telling(tag language.Tag, text string) []string {
	var terms []string
	for _, pair := range TellingPairs(tag, text) {
		terms = append(terms, pair.Terms...)
		if pair.Native != "" {
			terms = append(terms, pair.Native, pair.Stem)
		}
	}
	return terms
}

func TestTellingPairs(t *testing.T) {
	for _, test := range []struct {
		tag  language.Tag
		text string
		want []string
	}{
		{language.German, "Wie kann ich das andere Passwort ändern?", []string{"passwort", "passwort:de", "passwort", "andern", "and:de", "and"}},
		{language.French, "comment changer l'autre mot", []string{"changer", "chang:fr", "chang", "mot", "mot:fr", "mot"}},
		{language.Japanese, "これは何ですか", []string{"は何", "何で"}},
		{language.English, "how do I change it", []string{"chang"}},
		{language.Unknown, "how do I change it", []string{"chang"}},
	} {
		if got := telling(test.tag, test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q gives %q, want %q", test.tag, test.text, got, test.want)
		}
	}
}

func FuzzAnalyzeIn(f *testing.F) {
	f.Add("de", "Größe-Änderung l'eau \xff")
	f.Add("fr", "qu’est-ce que c'est")
	f.Add("it", "'''dell'''")
	f.Fuzz(func(t *testing.T, tag, text string) {
		for _, term := range AnalyzeIn(language.Parse(tag), text) {
			if term == "" || len(term) > maxTermBytes {
				t.Fatalf("term %q", term)
			}
		}
	})
}
