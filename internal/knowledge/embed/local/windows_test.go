package local

import (
	"os"
	"strings"
	"testing"
	"unicode"
)

// dense is the text without its spaces.
func dense(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

func TestWindowsOfEnglish(t *testing.T) {
	e := loadEmbedder(t)
	data, err := os.ReadFile("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const title = "Apache License, Version 2.0"
	pieces := e.Windows(title, string(data))
	var text strings.Builder
	for _, piece := range pieces {
		own, ok := strings.CutPrefix(piece, title+" ")
		if !ok {
			t.Fatalf("piece %q does not begin with the title", piece)
		}
		if n := len(strings.Fields(own)); n > windowWords {
			t.Errorf("piece of %d words, want at most %d", n, windowWords)
		}
		if n := e.tokenizer.Count(piece); n > maxTokens {
			t.Errorf("piece of %d tokens, want at most %d: %q", n, maxTokens, piece)
		}
		if strings.ContainsAny(piece, "\n\t") || strings.Contains(piece, "  ") {
			t.Errorf("piece with white space that is not folded: %q", piece)
		}
		text.WriteString(own)
	}
	if got, want := dense(text.String()), dense(string(data)); got != want {
		t.Errorf("the pieces hold %d characters, the text %d", len(got), len(want))
	}
}

func TestWindowsOfShortTexts(t *testing.T) {
	e := loadEmbedder(t)
	tests := []struct{ title, text, want string }{
		{"", " one\n piece ", "one piece"},
		{" A  title", "and\ttext", "A title and text"},
		{"Only a title", " \n", "Only a title"},
		{"", " ", ""},
	}
	for _, test := range tests {
		if got := strings.Join(e.Windows(test.title, test.text), "|"); got != test.want {
			t.Errorf("Windows(%q, %q) = %q, want %q", test.title, test.text, got, test.want)
		}
	}
}

func TestWindowsCutLongTitles(t *testing.T) {
	e := loadEmbedder(t)
	pieces := e.Windows(strings.Repeat("title ", 200), "The text itself.")
	if len(pieces) != 1 || !strings.HasSuffix(pieces[0], "The text itself.") || e.tokenizer.Count(pieces[0]) > maxTokens {
		t.Errorf("pieces %q, want one with the whole text", pieces)
	}
}

func TestWindowsOfHugeWords(t *testing.T) {
	e := loadEmbedder(t)
	for _, word := range []string{strings.Repeat("字", 1<<16), strings.Repeat("a1%", 1<<16)} {
		if got := strings.Join(e.Windows("", word), ""); got != word {
			t.Errorf("the pieces of a word of %d bytes hold %d", len(word), len(got))
		}
	}
}

func FuzzWindows(f *testing.F) {
	e := loadEmbedder(f)
	f.Add("Title", "Some text.")
	f.Add("", strings.Repeat("字", 500))
	f.Add(strings.Repeat("x", 300), strings.Repeat("0a9f", 400))
	f.Add("ﷺ", strings.Repeat("ﷺ", 150)+" \xff\xfe")
	f.Fuzz(func(t *testing.T, title, text string) {
		prefix := e.titlePrefix(title)
		var all strings.Builder
		for _, piece := range e.Windows(title, text) {
			own, ok := strings.CutPrefix(piece, prefix)
			if !ok && own != strings.TrimSpace(prefix) {
				t.Fatalf("piece %q does not begin with %q", piece, prefix)
			}
			if ok {
				all.WriteString(own)
			}
		}
		if got, want := dense(all.String()), dense(strings.ToValidUTF8(text, "\uFFFD")); got != want {
			t.Fatalf("the pieces hold %q, want %q", got, want)
		}
	})
}
