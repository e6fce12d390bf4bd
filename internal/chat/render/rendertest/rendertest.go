// Package rendertest makes up answers to render, for the tests of adapters.
package rendertest

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

var (
	inputs = flag.Int("inputs", 240/racetest.Stride, "how many made-up answers are rendered")
	seed   = flag.Uint64("seed", 1, "what the made-up answers are made from")
)

// Random checks made-up answers, which reach odd Markdown sooner than a fuzzer's bytes do.
// They are put together from scraps: text is the answer, other goes where an answer has
// other text. A million of them take some minutes: -inputs 1000000.
func Random(t *testing.T, scraps []string, check func(text, other string) error) {
	t.Helper()
	random := rand.New(rand.NewPCG(*seed, 1))
	answer := func(most int) string {
		var out strings.Builder
		if random.IntN(50) == 0 {
			out.WriteString(chattest.Evil)
		}
		for range random.IntN(most) {
			out.WriteString(scraps[random.IntN(len(scraps))])
		}
		return out.String()
	}
	for i := range *inputs {
		most := 10
		if i%100 == 0 {
			most = 150
		}
		if i%100000 == 0 {
			t.Logf("%d of %d", i, *inputs)
		}
		text, other := answer(most), answer(4)
		if err := check(text, other); err != nil {
			t.Fatalf("input %d: %.2000v\nfor %q and %q", i, err, text, other)
		}
	}
}
