package reply

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/racetest"
)

// TestStreamShowsWhatIsWritten streams a reply in pieces of all sizes: what was shown never
// changes, and in the end it is what is written out.
func TestStreamShowsWhatIsWritten(t *testing.T) {
	text := "Set it up [3]. It takes `a[1]` and [Source 2, 3]. See 【1†x】 for more[1].\n\n```\nx[2]\n```\n\n- one [1]\n- two [2]"
	numberer := func() func(int) int {
		var order []int
		return func(source int) int {
			if !slices.Contains(order, source) {
				order = append(order, source)
			}
			return slices.Index(order, source) + 1
		}
	}
	read := Read(text, 3)
	want := read.Write(make([]Decision, len(read.Units)), numberer())
	for seed := range uint64(240 / racetest.Stride) {
		random := rand.New(rand.NewPCG(seed, 1))
		var out strings.Builder
		stream := NewStream(3, "NOT", numberer(), func(piece string) { out.WriteString(piece) })
		for rest := "<think>Hm [2].</think>\n\n" + text; rest != ""; {
			n := min(len(rest), 1+random.IntN(9))
			stream.Write(rest[:n])
			rest = rest[n:]
			if !strings.HasPrefix(want, out.String()) {
				t.Fatalf("seed %d: showed %q, and writes %q", seed, out.String(), want)
			}
		}
		stream.Close()
		if out.String() != want {
			t.Fatalf("seed %d: showed %q, and writes %q", seed, out.String(), want)
		}
	}
}

func TestStreamHoldsTheBeginningBack(t *testing.T) {
	for _, test := range []struct {
		name   string
		pieces []string
		first  string // what is shown after the last piece
	}{
		{"a word", []string{"Helm"}, ""},
		{"a sentence", []string{"Helm packs", " charts. And"}, "Helm packs charts. And"},
		{"a long beginning", []string{strings.Repeat("word ", 17)}, strings.TrimSpace(strings.Repeat("word ", 17))},
		{"a thought", []string{"<think>All of this is. What I think"}, ""},
		{"a refusal", []string{"NOT", " in the sources. Really"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			stream := NewStream(1, "NOT", func(n int) int { return n }, func(piece string) { out.WriteString(piece) })
			for _, piece := range test.pieces {
				stream.Write(piece)
			}
			if out.String() != test.first {
				t.Errorf("showed %q, want %q", out.String(), test.first)
			}
		})
	}
}
