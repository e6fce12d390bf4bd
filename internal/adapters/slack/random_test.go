package slack

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/render/rendertest"
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

// TestRandomAnswers renders made-up answers.
func TestRandomAnswers(t *testing.T) { rendertest.Random(t, scraps, check) }
