package replytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	marks = []string{
		"[1]", " [2]", " [1, 2]", " [Source 2]", "【2】", "【3†source】", "[^4]", " (2)", " [1][3]", " [9]", "[1-3]", " [Quelle 1]", "<sup>2</sup>",
		" [source: 4]", "", "", "",
	}
	odd = []string{
		"<!channel>", "<@U123>", "<@&123>", "@everyone", "@here", "<#123>", "[a](https://evil.example/x)", "![p](https://evil.example/p.png)", "https://evil.example",
		"<https://evil.example>", "[ok](" + Link + ")", "www.evil.example", "[x]: https://evil.example\n", "[x][x]", "<b>", "</b>", "<script>x</script>", "<!--", "-->", "<div>\n",
		"</div>\n", "<think>", "</think>", "\x1b[2J", "\x00", "\u202e", "\u2066", "\ufeff", "\xff", "&lt;!channel&gt;", "&#27;", "`", "``", "```\n", "~~~\n", "**", "_", "~~", "|", "\\",
		"\n", "\n\n", "  \n", "\t", "    ", "> ", "# ", "- ", "1. ", "---\n", "===\n", "| a | b |\n|--|--:|\n", "Sources:\n[1] a.md\n", "[^1]: note\n", "NOT_IN_SOURCES", "语言。", "👩‍👩‍👧‍👦",
		"javascript:alert(1)", "[j](javascript:alert(1))", "\r\n", "\u2028", "\ue000", "* * *\n", "+ \n", "2) ", "[1](x)", "mailto:a@b.example",
	}
)

// writeReply makes up a reply: Markdown of every kind, and where it is not tame, scraps of anything
// in between.
func writeReply(random *rand.Rand, tame bool) string {
	w := writer{random: random, tame: tame}
	if !tame {
		switch random.IntN(60) {
		case 0:
			return ""
		case 1:
			return strings.Repeat(w.pickOne(odd), 1+random.IntN(2000))
		case 2:
			return strings.Repeat("> ", 200) + strings.Repeat("- ", 200) + w.writeSentence()
		}
	}
	blocks := make([]string, 1+random.IntN(6))
	for i := range blocks {
		blocks[i] = w.writeBlock(2)
	}
	return strings.Join(blocks, "\n\n")
}

type writer struct {
	random *rand.Rand
	tame   bool
}

func (w writer) pickOne(list []string) string { return list[w.random.IntN(len(list))] }

// pickScrap is nothing in a tame reply.
func (w writer) pickScrap() string {
	if w.tame || w.random.IntN(3) > 0 {
		return ""
	}
	return w.pickOne(odd)
}

func (w writer) writeSentence() string {
	said := w.pickOne(facts)
	switch w.random.IntN(6) {
	case 0:
		said = "According to [1], lunch is served in the garden."
	case 1:
		said = "Lunch at 9 costs 12 euros in Lisbon."
	case 2:
		said = "The documents don't say who restarts it."
	}
	return w.pickScrap() + strings.TrimSuffix(said, ".") + w.pickOne(marks) + "." + w.pickScrap()
}

func (w writer) writeParagraph() string {
	sentences := make([]string, 1+w.random.IntN(3))
	for i := range sentences {
		sentences[i] = w.writeSentence()
	}
	return strings.Join(sentences, " ")
}

// writeBlock writes a block, lists inside lists at most as deep as told.
func (w writer) writeBlock(depth int) string {
	switch w.random.IntN(8) {
	case 0:
		return strings.Repeat("#", 1+w.random.IntN(4)) + " Restarting" + w.pickScrap() + "\n\n" + w.writeParagraph()
	case 1:
		return w.writeParagraph() + " It goes like this:\n\n" + w.writeList(depth)
	case 2:
		return w.writeList(depth)
	case 3:
		return "These are the limits" + w.pickOne(marks) + ":\n\n" + w.writeTable()
	case 4:
		return w.writeTable()
	case 5:
		return "Run this:\n\n" + w.writeCode()
	case 6:
		return "> " + strings.ReplaceAll(w.writeParagraph(), "\n", "\n> ")
	}
	return w.writeParagraph()
}

func (w writer) writeList(depth int) string {
	ordered, loose := w.random.IntN(2) == 0, w.random.IntN(3) == 0
	var items []string
	for i := range 1 + w.random.IntN(4) {
		sign := "-"
		if ordered {
			sign = fmt.Sprintf("%d.", i+1)
		}
		inside := w.writeSentence()
		if w.random.IntN(4) == 0 && depth > 0 {
			inside += "\n\n" + w.writeBlock(depth-1)
		}
		indent := strings.Repeat(" ", len(sign)+1)
		items = append(items, sign+" "+strings.ReplaceAll(strings.ReplaceAll(inside, "\n", "\n"+indent), indent+"\n", "\n"))
	}
	if loose {
		return strings.Join(items, "\n\n")
	}
	return strings.Join(items, "\n")
}

func (w writer) writeTable() string {
	rows := []string{"| Limit | Value" + w.pickScrap() + " |", "|---|:-:|"}
	for i := range 1 + w.random.IntN(4) {
		rows = append(rows, fmt.Sprintf("| jobs %d%s | %s%s |", i, w.pickScrap(), w.pickOne([]string{"1,200", "four minutes", "`queue.maxDepth`", "9 euros"}), w.pickOne(marks)))
	}
	return strings.Join(rows, "\n")
}

func (w writer) writeCode() string {
	fence := w.pickOne([]string{"```", "~~~", "````"})
	return fence + w.pickOne([]string{"", "sh", "yaml"}) + "\nheron drain --grace-period" + w.pickScrap() + "\n" + fence
}
