package words_test

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
)

func TestPastedMessages(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{
			"2026-01-02T10:00:00Z INFO signer reads all its keys\n2026-01-02T10:00:01Z ERROR unable to open the vault of keys\nwhat now?",
			[]string{"unable to open the vault of keys", "signer reads all its keys"},
		},
		{"```\n$ signer keys --rotate all\nError: vault is locked by another signer\n```\nwhy?", []string{"vault is locked by another signer", "signer keys --rotate all"}},
		{"signer:\n  vault-address: keys.example.com\n  key: a\ndoes this look right", []string{"vault-address: keys.example.com"}},
		{"how do I rotate the keys of the signer?", nil},
		{"hello,\nhow do I rotate the keys of the signer?\nthanks", nil},
		{"", nil},
	} {
		if got := words.PastedMessages(test.text); !slices.Equal(got, test.want) {
			t.Errorf("PastedMessages(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzPastedMessages(f *testing.F) {
	f.Add("```\n$ a b c d\nError: e f g\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := words.PastedMessages(text); len(got) > 3 {
			t.Errorf("%d messages", len(got))
		}
	})
}
