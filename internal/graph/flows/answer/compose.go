package answer

import (
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
)

// compose writes quotes out: the neighbouring ones of a section together, with the number
// of their source once, behind the last of them or in front of code that ends them. It
// returns the citations in the order of their numbers.
func compose(evidence []retrieve.Evidence, draft Draft) (text string, cited []citation) {
	var b strings.Builder
	numbers := numbering{evidence: evidence}
	units := draft.Sentences
	introduced := make(map[string]bool)
	for start := 0; start < len(units); {
		end := start + 1
		number := numbers.of(units[start].Evidence)
		for end < len(units) && numbers.of(units[end].Evidence) == number && follows(units[end-1], units[end]) {
			end++
		}
		if start > 0 {
			b.WriteString("\n\n")
		}
		introduction := introduce(evidence[units[start].Evidence], units[start])
		if introduced[introduction] {
			introduction = ""
		}
		introduced[introduction] = true
		writeStretch(&b, units[start:end], introduction, number)
		start = end
	}
	return b.String(), numbers.cited
}

// follows says whether a quote stands in its section behind another, with nothing that is
// not quoted between blocks of one kind.
func follows(before, unit Sentence) bool {
	if before.Evidence != unit.Evidence || unit.Position < before.Position {
		return false
	}
	return unit.Position == before.Position+1 || sameTable(before, unit) || !unit.Block || !before.Block
}

// introduce gives what a stretch needs in front of it that begins with a block which
// nothing introduces: the heading that the block stands under, with the page's title where
// the heading is a word or two, such as "Options".
func introduce(e retrieve.Evidence, first Sentence) string {
	if !first.Block {
		return ""
	}
	heading := e.Passage.Section()
	switch {
	case heading == "":
		heading = e.Document.Title
	case len(strings.Fields(heading)) <= 2 && e.Document.Title != "" && !strings.Contains(heading, e.Document.Title):
		heading = e.Document.Title + ", " + heading
	}
	return "**" + strings.NewReplacer("*", "", "`", "", "\n", " ", "[", "", "]", "").Replace(heading) + ":**"
}

// writeStretch writes quotes that follow each other, with one citation.
func writeStretch(b *strings.Builder, units []Sentence, introduced string, number int) {
	mark := fmt.Sprintf(" [%d]", number)
	marked := markedUnit(units)
	if introduced != "" {
		b.WriteString(introduced)
		if marked < 0 {
			b.WriteString(mark)
		}
		b.WriteString("\n\n")
	}
	for i, unit := range units {
		if i > 0 {
			b.WriteString(separator(units[i-1], unit))
		}
		text := strings.TrimRight(unit.Text, " \n")
		switch {
		case i != marked:
			b.WriteString(text)
		case isRow(unit.Text):
			b.WriteString(strings.TrimRight(strings.TrimSuffix(text, "|"), " ") + mark + " |")
		default:
			b.WriteString(text + mark)
		}
	}
}

// markedUnit is the last of a stretch's quotes that a number can stand behind, -1 where
// all are code.
func markedUnit(units []Sentence) int {
	for i := len(units) - 1; i >= 0; i-- {
		if !isFence(units[i].Text) {
			return i
		}
	}
	return -1
}

// separator is a space between sentences that run on, a line between items of a list
// and rows of a table, and an empty line everywhere else.
func separator(before, unit Sentence) string {
	runsOn := before.Evidence == unit.Evidence && before.Position+1 == unit.Position
	switch {
	case runsOn && !before.Block && !unit.Block:
		return " "
	case isItem(before.Text) && isItem(unit.Text), sameTable(before, unit):
		return "\n"
	default:
		return "\n\n"
	}
}

func isItem(text string) bool { return sentence.ItemMarker(text) > 0 }

func isRow(text string) bool { return strings.HasPrefix(text, "|") }

func sameTable(a, b Sentence) bool {
	return a.Evidence == b.Evidence && isRow(a.Text) && isRow(b.Text)
}
