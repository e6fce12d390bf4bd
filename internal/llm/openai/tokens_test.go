package openai

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTokens compares with counts of OpenAI's own tokenizer, as tests and documents of
// tiktoken give them.
func TestTokens(t *testing.T) {
	for _, of := range []struct {
		model, text string
		want        int
	}{
		{"gpt-4", "hello world", 2},
		{"gpt-4", "tiktoken is great!", 6},
		{"gpt-4o", "tiktoken is great!", 6},
		{"gpt-4", "antidisestablishmentarianism", 6},
		{"gpt-4o", "", 0},
		{"text-embedding-3-small", "お誕生日おめでとう", 9},
		{"gpt-4o-mini", "お誕生日おめでとう", 8},
		{"llama3.2", "hello world", 3}, // two, and a fifth more
		{"gpt-4o", "a\xff\xfeb", 3},    // as "a\uFFFD\uFFFDb"
	} {
		if got := newCounter(of.model).count(of.text); got != of.want {
			t.Errorf("%s: %d tokens in %q, want %d", of.model, got, of.text, of.want)
		}
	}
}

// TestTokensOfLongTexts checks that cutting adds little.
func TestTokensOfLongTexts(t *testing.T) {
	counter := newCounter("gpt-4o")
	for name, text := range map[string]string{
		"words":     strings.Repeat("The deployment runs every night at two. ", 500),
		"no spaces": strings.Repeat("Ärgernis", 2000),
		"lines":     strings.Repeat("key: value\n\n", 1000),
	} {
		want, err := counter.encoding.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := counter.count(text); got < want || got > want+want/50+1 {
			t.Errorf("%s: %d tokens, in one piece %d", name, got, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("The deployment runs every night at two.")
	f.Add(strings.Repeat(" \n", 400))
	f.Add(strings.Repeat("é", 600))
	f.Add("\xf0\x9f\x92")
	counter := newCounter("other")
	f.Fuzz(func(t *testing.T, text string) {
		tokens := counter.count(text)
		// A byte that is no text becomes a character of three, each at most a token.
		if most := len(text)*3*12/10 + 1; tokens > most || text != "" && tokens == 0 {
			t.Errorf("%d tokens in %d bytes", tokens, len(text))
		}
		text = strings.ToValidUTF8(text, "?")
		for text != "" {
			n := cut(text)
			if n < 1 || n > maxPiece || !utf8.ValidString(text[:n]) {
				t.Fatalf("a piece of %d bytes of %q", n, text)
			}
			text = text[n:]
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	counter := newCounter("gpt-4o")
	for name, text := range map[string]string{
		"words": strings.Repeat("The deployment runs every night at two. ", 800),
		"blank": strings.Repeat(" \n", 16000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				counter.count(text)
			}
		})
	}
}
