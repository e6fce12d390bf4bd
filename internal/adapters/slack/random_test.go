package slack

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"cairn/internal/chat/chattest"
)

var (
	inputs = flag.Int("inputs", 500, "how many made-up answers TestRandomAnswers renders")
	seed   = flag.Uint64("seed", 1, "what TestRandomAnswers makes its answers from")
)

// scraps are what made-up answers are put together from.
var scraps = []string{
	"[1]", "[2]", "**", "*", "_", "`", "```\n", "\n", "\n\n", "- ", "1. ", "> ", "    ", "| a | b |\n|--|--:|\n| c | d |\n", "|", "# ",
	"<!channel>", "<@U123>", "@here", "&", "<", ">", "<b>", "[a](https://a.example)", "[", "](", ")", "https://b.example/x", "![", "~~",
	"\\", "  \n", "***\n", "word ", "语言", "👩‍👩‍👧‍👦", "\xff", "\x1b", "\u202e", "1) ", "<!--", "-->", "<div>\n", "</div>\n",
	"&amp;", "&lt;!channel&gt;", "\t", "&#0;", "&#x1b;", "99999999. ", "Sentence. ",
	strings.Repeat("long ", 200), strings.Repeat("x", 900),
	"[" + strings.Repeat("y", 500) + "](https://c.example/" + strings.Repeat("z", 400) + ")",
	"```\n" + strings.Repeat("code\n", 100) + "```\n",
}

// TestRandomAnswers renders made-up answers, which reach odd Markdown sooner than a
// fuzzer's bytes do. A million of them take some minutes: -inputs 1000000.
func TestRandomAnswers(t *testing.T) {
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
