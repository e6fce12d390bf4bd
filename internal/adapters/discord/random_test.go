package discord

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/render/rendertest"
)

// scraps are what made-up answers are put together from: Markdown's and Discord's.
var scraps = []string{
	"[1]", "[2]", "**", "*", "_", "__", "`", "``", "```\n", "```go\n", "\n", "\n\n", "- ", "-# ", "1. ", "2) ", "> ", ">>> ", "    ",
	"| a | b |\n|--|--:|\n| c | [d](https://d.example) |\n", "|", "||", "# ", "### ", "~~", "\\", "  \n", "***\n", "+ ", "word ", "语言", "👩‍👩‍👧‍👦",
	"<@123>", "<@!123>", "<@&123>", "<#123>", "<:smile:123>", "<a:wave:123>", "<t:1700000000:R>", "</cairn ask:123>", "<id:guide>", "@everyone", "@here",
	"&", "<", ">", "@", "#", ":", "<b>", "[a](https://a.example)", "[https://x.example](https://y.example)", "[", "]", "](", ")", "(", "https://b.example/x_y_z", "![",
	"http://", "HTTPS://C.example", "discord.gg/abc", "<https://e.example>", "[`code`](https://f.example)", "[a]b](https://g.example/(x))",
	"\xff", "\x1b", "\u202e", "<!--", "-->", "<div>\n", "</div>\n", "&amp;", "&lt;@123&gt;", "&#64;everyone", "\t", "&#0;", "99999999. ", "Sentence. ", "snake_case_name ",
	strings.Repeat("long ", 100), strings.Repeat("x", 900), strings.Repeat("*y* ", 300), strings.Repeat("_", 1500), strings.Repeat("- item\n", 60),
	"[" + strings.Repeat("y", 300) + "](https://h.example/" + strings.Repeat("z", 400) + ")", "```\n" + strings.Repeat("code\n", 100) + "```\n", "> " + strings.Repeat("quote ", 200) + "\n",
}

// TestRandomAnswers renders made-up answers.
func TestRandomAnswers(t *testing.T) { rendertest.Random(t, scraps, check) }

func FuzzRender(f *testing.F) {
	for i, scrap := range scraps {
		f.Add(scrap+scraps[(i+1)%len(scraps)], scraps[(i*7)%len(scraps)])
	}
	f.Add(chattest.Answer().Text, chattest.Evil)
	f.Add("`[a]b](https://g.example/(x))@\xff**\\`", "</div>\n") // a backslash before the end of code
	f.Fuzz(func(t *testing.T, text, other string) {
		if len(text) > 20000 || len(other) > 2000 {
			return
		}
		if err := check(text, other); err != nil {
			t.Error(err)
		}
	})
}
