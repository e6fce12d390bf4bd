package slack

import (
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Budgets of a message, in what cost counts.
const (
	// messageBudget is for the answer in one message. Slack's limit on all blocks
	// together is not documented; messages of about 13,000 were refused. What is left is
	// for the sources and buttons.
	messageBudget = 8000
	// blockBudget is for one block of rich text.
	blockBudget = 3000
)

// format is what Slack shows. Its own editor ends at an indent of 8, and it takes addresses of
// at most 3,000 bytes and no empty item.
var format = render.Format{MaxAddress: 3000, MaxTitle: 150, Deepest: 8, EmptyItem: " ", LinkMarks: true, LinkTables: true}

// packer makes messages of an answer, three at most. A longer one is a file.
var packer = render.Packer{Budget: messageBudget, Messages: 3, Cost: pieceCost, RunCost: runCost}

// elementCost is what an element is taken to count against Slack's limit on a message
// beside its text. Slack does not tell how it counts.
const elementCost = 16

func pieceCost(p render.Piece) int {
	if p.Table != nil {
		return tableCost(p.Table)
	}
	cost := elementCost
	for _, r := range p.Runs {
		cost += runCost(r)
	}
	if p.Shape == render.Item {
		cost += elementCost // its list
	}
	return cost
}

func runCost(r render.Run) int { return elementCost + render.Length(r.Text) + render.Length(r.URL) }

// richText makes blocks of pieces, each of a size that Slack shows without folding it.
func richText(pieces []render.Piece) []slack.Block {
	var blocks []slack.Block
	var group []render.Piece
	size := 0
	flush := func() {
		if len(group) > 0 {
			blocks = append(blocks, slack.NewRichTextBlock("", richElements(group)...))
		}
		group, size = nil, 0
	}
	for _, next := range pieces {
		if next.Table != nil {
			flush()
			blocks = append(blocks, tableBlock(next.Table))
			continue
		}
		if size > 0 && size+pieceCost(next) > blockBudget {
			flush()
		}
		group, size = append(group, next), size+pieceCost(next)
	}
	flush()
	return blocks
}

// richElements makes Slack's elements: items that follow one another are one list, and
// two paragraphs have an empty line between them.
func richElements(pieces []render.Piece) []slack.RichTextElement {
	var out []slack.RichTextElement
	for i := 0; i < len(pieces); i++ {
		now := pieces[i]
		switch now.Shape {
		case render.Item:
			end := i + 1
			for end < len(pieces) && continuesList(pieces[end-1], pieces[end]) {
				end++
			}
			out = append(out, listElement(pieces[i:end]))
			i = end - 1
		case render.Preformatted:
			out = append(out, &slack.RichTextPreformatted{Type: slack.RTEPreformatted, Elements: sectionElements(now.Runs)})
		case render.Quote:
			out = append(out, &slack.RichTextQuote{Type: slack.RTEQuote, Elements: sectionElements(now.Runs)})
		case render.Paragraph:
			runs := now.Runs
			if i+1 < len(pieces) && pieces[i+1].Shape == render.Paragraph {
				runs = render.Join(append(runs[:len(runs):len(runs)], render.Run{Text: "\n\n"}))
			}
			out = append(out, slack.NewRichTextSection(sectionElements(runs)...))
		}
	}
	return out
}

// continuesList tells whether an item goes on with the list of the one before.
func continuesList(before, next render.Piece) bool {
	return next.Shape == render.Item && next.Indent == before.Indent && next.Ordered == before.Ordered &&
		(!next.Ordered || next.Number == before.Number+1)
}

func listElement(items []render.Piece) *slack.RichTextList {
	kind := slack.RTEListBullet
	made := &slack.RichTextList{Type: slack.RTEList, Indent: items[0].Indent}
	if items[0].Ordered {
		kind = slack.RTEListOrdered
		made.Offset = items[0].Number - 1
	}
	made.Style = kind
	for _, entry := range items {
		made.Elements = append(made.Elements, slack.NewRichTextSection(sectionElements(entry.Runs)...))
	}
	return made
}

// sectionElements makes Slack's elements of runs. Links are not shown as code.
func sectionElements(runs []render.Run) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	for _, r := range runs {
		style := r.Style
		style.Code = style.Code && r.URL == ""
		var look *slack.RichTextSectionTextStyle
		if style != (render.Style{}) {
			look = &slack.RichTextSectionTextStyle{Bold: style.Bold, Italic: style.Italic, Strike: style.Strike, Code: style.Code}
		}
		switch {
		case strings.HasPrefix(r.User, "S"):
			out = append(out, slack.NewRichTextSectionUserGroupElement(r.User))
		case r.User != "":
			out = append(out, slack.NewRichTextSectionUserElement(r.User, nil))
		case r.URL != "":
			out = append(out, slack.NewRichTextSectionLinkElement(r.URL, r.Text, look))
		default:
			out = append(out, slack.NewRichTextSectionTextElement(r.Text, look))
		}
	}
	return out
}
