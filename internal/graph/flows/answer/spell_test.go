package answer

import (
	"slices"
	"testing"
)

func TestSlipsOf(t *testing.T) {
	for word, want := range map[string]string{"waht": "what", "hoks": "hooks", "commannd": "command", "verfiy": "verify", "seperate": "separate", "helmm": "helm", "runing": "running", "thsi": "this", "usse": "use"} {
		if !slices.ContainsFunc(slipsOf(word), func(s spelling) bool { return s.word == want }) {
			t.Errorf("%q is not among the slips of %q", want, word)
		}
	}
	for word, other := range map[string]string{"slack": "stack", "spamming": "samming", "sops": "stops"} {
		if slices.ContainsFunc(slipsOf(word), func(s spelling) bool { return s.word == other }) {
			t.Errorf("%s passes for %s", word, other)
		}
	}
}

// wordList is an embed.WordList.
type wordList []string

func (w wordList) IsWord(word string) bool { return slices.Contains(w, word) }

func TestCommonWordsAreSpelledRight(t *testing.T) {
	r := inquiry{common: wordList{"dark", "star"}}
	for word, want := range map[string]bool{"dark": true, "stars": true, "chrat": false} {
		if got := r.isCommonWord(word); got != want {
			t.Errorf("%q is a common word: %v, want %v", word, got, want)
		}
	}
	if (&inquiry{}).isCommonWord("dark") {
		t.Error("a word is common where no common words are known")
	}
}

func TestReplaceWords(t *testing.T) {
	if got, want := replaceWords("Waht does `pakcage` do? waht", map[string]string{"waht": "what", "pakcage": "package", "do": ""}), "what does `package` do? what"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTransposedFiller(t *testing.T) {
	for word, want := range map[string]string{"hwo": "how", "teh": "the", "hat": "", "git": "", "how": "", "": "", "é": ""} {
		if got := transposedFiller(word); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
}
