package survey

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/llm"
)

// letters is a model that only counts: a token for each character.
type letters struct{}

func (letters) Chat(context.Context, llm.Request, func(string)) (llm.Reply, error) {
	return llm.Reply{}, errors.New("it only counts")
}
func (letters) Tokens(text string) int { return utf8.RuneCountInString(text) }
func (letters) Limits() llm.Limits     { return llm.Limits{Context: 2000, Reply: 100} }

const testRoom = 100

// FuzzPack checks that each window fits, and that no text is lost or comes twice.
func FuzzPack(f *testing.F) {
	f.Add("One sentence. Another one that is longer. And a third.", strings.Repeat("x", 300))
	f.Add(strings.Repeat("ü", 201), "")
	f.Add("```\n"+strings.Repeat("code\n", 50)+"```", "| a | b |\n|---|---|\n| 1 | 2 |")
	f.Add(" \n ", "\xff\xfe")
	f.Fuzz(func(t *testing.T, one, two string) {
		one, two = strings.ToValidUTF8(one, "?"), strings.ToValidUTF8(two, "?")
		items := []sourceItem{{label: "one", text: one, told: []string{one}}, {label: "two", text: two, told: []string{two}}}
		var packed strings.Builder
		for _, window := range packWindows(letters{}, items, testRoom) {
			took := 0
			for _, piece := range window {
				took += sourceTokens + letters{}.Tokens(piece.label) + letters{}.Tokens(piece.text)
				packed.WriteString(piece.text)
				if !utf8.ValidString(piece.text) {
					t.Errorf("a character is cut in %q", piece.text)
				}
			}
			if took > testRoom {
				t.Errorf("a window takes %d of %d", took, testRoom)
			}
		}
		if got, want := squeezed(packed.String()), squeezed(one+two); got != want {
			t.Errorf("packed %q of %q", got, want)
		}
	})
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
