package llm_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/llm"
)

// TestThoughtsAreNeverShown plays replies whole, and in pieces of each length.
func TestThoughtsAreNeverShown(t *testing.T) {
	for _, of := range []struct {
		reply, shown string
		unopened     bool
	}{
		{reply: "Every night.", shown: "Every night."},
		{reply: "<think>Hm. [1]?</think>\n\nEvery night.", shown: "Every night."},
		{reply: "<THINKING>Hm</THINKING> a < b and <b>c</b>", shown: "a < b and <b>c</b>"},
		{reply: "One. <think>Two?</think> Three.", shown: "One. Three."},
		{reply: "<think>It never stops", shown: ""},
		{reply: "Use the tag <think> for it.", shown: "Use the tag <think> for it."},
		{reply: "<think>a</think><think>b</think>c", shown: "c"},
		{reply: "Let me see.</think>Every night.", shown: "Every night.", unopened: true},
		{reply: "No thought came <b", shown: "No thought came <b", unopened: true},
		{reply: "x <thin", shown: "x <thin"},
	} {
		for size := 1; size <= len(of.reply); size++ {
			stream := llm.Thoughts{Unopened: of.unopened}
			var shown strings.Builder
			for rest := of.reply; rest != ""; {
				n := min(size, len(rest))
				shown.WriteString(stream.Write(rest[:n]))
				rest = rest[n:]
			}
			shown.WriteString(stream.Close())
			if shown.String() != of.shown {
				t.Errorf("%q in pieces of %d shows %q, want %q", of.reply, size, shown.String(), of.shown)
			}
		}
		if whole := llm.WithoutThoughts(of.reply); whole != of.shown {
			t.Errorf("%q whole: %q, want %q", of.reply, whole, of.shown)
		}
	}
}

// FuzzThoughts compares a stream with the whole text, in pieces of a random size.
func FuzzThoughts(f *testing.F) {
	f.Add("<think>a</think> b", uint8(3))
	f.Add("a <think>b</think>c</think>", uint8(1))
	f.Fuzz(func(t *testing.T, reply string, size uint8) {
		var stream llm.Thoughts
		var shown strings.Builder
		for rest := reply; rest != ""; {
			n := min(int(size)+1, len(rest))
			shown.WriteString(stream.Write(rest[:n]))
			rest = rest[n:]
		}
		shown.WriteString(stream.Close())
		if want := llm.WithoutThoughts(reply); !stream.EndedUnopened() && shown.String() != want {
			t.Errorf("%q streamed %q, whole %q", reply, shown.String(), want)
		}
	})
}
