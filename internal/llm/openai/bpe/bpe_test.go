package bpe_test

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"

	"cairn/internal/llm/openai/bpe"
)

// FuzzCount compares with the library that the vocabularies come from.
func FuzzCount(f *testing.F) {
	for _, text := range []string{
		"", "hello world", "tiktoken is great!", "antidisestablishmentarianism", "お誕生日おめでとう", "I'll say it's 12345 o'clock\r\n\r\n  x",
		strings.Repeat("Ärgernis", 60), strings.Repeat(" \n", 200), "a\xff\xfeb", "\u2028\u00a0\u3000", "👩‍👩‍👧‍👦 \u0301\u0301", "{\"key\": [1,2,3]}///\n",
	} {
		f.Add(text)
	}
	encodings := []struct {
		name string
		ours *bpe.Encoding
		want *codec.Codec
	}{{"o200k", bpe.O200k(), codec.NewO200kBase()}, {"cl100k", bpe.Cl100k(), codec.NewCl100kBase()}}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			text = text[:2000]
		}
		for _, encoding := range encodings {
			got, err := encoding.ours.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			want, err := encoding.want.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: %d tokens in %q, want %d", encoding.name, got, text, want)
			}
		}
	})
}
