package words_test

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/language"
)

func TestTranslate(t *testing.T) {
	for _, test := range []struct {
		tag        language.Tag
		word, want string // one of the terms; "" for none at all
	}{
		{language.German, "Dateien", "file"},
		{language.German, "Protokolldatei", "log"},
		{language.German, "Protokolldatei", "file"},
		{language.German, "Heron", ""},
		{language.French, "réponses", "respons"},
		{language.Spanish, "instalar", "instal"},
		{language.Portuguese, "senha", "password"},
		{language.Italian, "richieste", "request"},
		{language.Dutch, "bestanden", "file"},
		{language.English, "file", ""},
	} {
		got := words.Translate(test.tag, test.word)
		if test.want == "" && len(got) > 0 || test.want != "" && !slices.Contains(got, test.want) {
			t.Errorf("Translate(%s, %q) = %q, want %q", test.tag, test.word, got, test.want)
		}
	}
}

func TestTranslateWide(t *testing.T) {
	for _, test := range []struct {
		tag  language.Tag
		text string
		want []string
	}{
		{language.Japanese, "アプリケーションコンテキストとは何ですか", []string{"アプリケーション", "コンテキスト"}},
		{language.Chinese, "如何配置Heron的证书", []string{"配置", "证书"}},
		{language.German, "Datei", nil},
	} {
		var got []string
		for _, found := range words.TranslateWide(test.tag, test.text) {
			got = append(got, found.Word)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("TranslateWide(%s, %q) = %q, want %q", test.tag, test.text, got, test.want)
		}
	}
}
