package slack

import "github.com/slack-go/slack"

// Budgets of a message, in what run.cost counts.
const (
	// messageBudget is for the answer in one message. Slack's limit on all blocks
	// together is not documented; messages of about 13,000 were refused. What is left is
	// for the sources and buttons.
	messageBudget = 8000
	// sourcesBudget is for the list of sources.
	sourcesBudget = 3000
	// blockBudget is for one block of rich text.
	blockBudget = 3000
	// maxMessages is how many messages an answer may be. A longer one is a file.
	maxMessages = 3
)

// pack puts pieces into messages, in order. Only paragraphs are divided; whole is false
// where a piece fits into no message, or the messages became too many. It then gives
// those that come before.
func pack(pieces []piece) (messages [][]piece, whole bool) {
	var current []piece
	left := messageBudget
	flush := func() {
		if len(current) > 0 {
			messages = append(messages, current)
		}
		current, left = nil, messageBudget
	}
	for len(pieces) > 0 {
		next := pieces[0]
		cost := next.cost()
		switch {
		case cost <= left:
			current, left, pieces = append(current, next), left-cost, pieces[1:]
		case next.shape == paragraph && (cost > messageBudget || left > messageBudget/2):
			first, rest := cutRuns(next.runs, left-elementCost)
			current = append(current, piece{shape: paragraph, runs: first})
			pieces = append([]piece{{shape: paragraph, runs: joined(rest)}}, pieces[1:]...)
			if len(rest) == 0 {
				pieces = pieces[1:]
			}
			flush()
		case cost > messageBudget:
			flush()
			return messages, false
		default:
			flush()
		}
		if len(messages) == maxMessages && (len(pieces) > 0 || len(current) > 0) {
			return messages, false
		}
	}
	flush()
	return messages, len(messages) <= maxMessages
}

// richText makes blocks of pieces, each of a size that Slack shows without folding it.
func richText(pieces []piece) []slack.Block {
	var blocks []slack.Block
	var group []piece
	size := 0
	flush := func() {
		if len(group) > 0 {
			blocks = append(blocks, slack.NewRichTextBlock("", richElements(group)...))
		}
		group, size = nil, 0
	}
	for _, next := range pieces {
		if size > 0 && size+next.cost() > blockBudget {
			flush()
		}
		group, size = append(group, next), size+next.cost()
	}
	flush()
	return blocks
}

// richElements makes Slack's elements: items that follow one another are one list, and
// two paragraphs have an empty line between them.
func richElements(pieces []piece) []slack.RichTextElement {
	var out []slack.RichTextElement
	for i := 0; i < len(pieces); i++ {
		now := pieces[i]
		switch now.shape {
		case item:
			end := i + 1
			for end < len(pieces) && continues(pieces[end-1], pieces[end]) {
				end++
			}
			out = append(out, list(pieces[i:end]))
			i = end - 1
		case preformatted:
			out = append(out, &slack.RichTextPreformatted{Type: slack.RTEPreformatted, Elements: elements(now.runs)})
		case quote:
			out = append(out, &slack.RichTextQuote{Type: slack.RTEQuote, Elements: elements(now.runs)})
		case paragraph:
			runs := now.runs
			if i+1 < len(pieces) && pieces[i+1].shape == paragraph {
				runs = joined(append(runs[:len(runs):len(runs)], run{text: "\n\n"}))
			}
			out = append(out, slack.NewRichTextSection(elements(runs)...))
		}
	}
	return out
}

// continues tells whether an item goes on with the list of the one before.
func continues(before, next piece) bool {
	return next.shape == item && next.indent == before.indent && next.ordered == before.ordered &&
		(!next.ordered || next.number == before.number+1)
}

func list(items []piece) *slack.RichTextList {
	kind := slack.RTEListBullet
	made := &slack.RichTextList{Type: slack.RTEList, Indent: items[0].indent}
	if items[0].ordered {
		kind = slack.RTEListOrdered
		made.Offset = items[0].number - 1
	}
	made.Style = kind
	for _, entry := range items {
		made.Elements = append(made.Elements, slack.NewRichTextSection(elements(entry.runs)...))
	}
	return made
}
