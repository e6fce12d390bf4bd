package answer

import (
	"slices"
	"testing"
)

func TestSlipsOf(t *testing.T) {
	for word, want := range map[string]string{"waht": "what", "hoks": "hooks", "commannd": "command", "verfiy": "verify", "seperate": "separate", "helmm": "helm"} {
		if !slices.ContainsFunc(slipsOf(word), func(s spelling) bool { return s.word == want }) {
			t.Errorf("%q is not among the slips of %q", want, word)
		}
	}
	if slices.ContainsFunc(slipsOf("slack"), func(s spelling) bool { return s.word == "stack" }) {
		t.Error("slack passes for stack")
	}
}

func TestReplaceWords(t *testing.T) {
	if got, want := replaceWords("Waht does `pakcage` do? waht", map[string]string{"waht": "what", "pakcage": "package", "do": ""}), "what does `package` do? what"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
