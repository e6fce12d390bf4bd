package slack

import (
	"testing"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/replytest"
)

// TestRandomReplies renders checked replies of models: nothing calls anybody, no link is live that
// was not allowed, and what is shown has the tables, rows, items and blocks of the text, the first
// table as Slack's own.
func TestRandomReplies(t *testing.T) {
	replytest.RandomShown(t, replytest.Platform{
		Check: func(text string) error { return check(text, "") },
		Count: func(text string) (counted replytest.Structure, ok bool, err error) {
			shown, err := renderPost(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}}, look{})
			if err != nil || len(shown.files) > 0 {
				return counted, false, err
			}
			for _, one := range shown.notes {
				countBlocks(one.blocks, &counted)
			}
			return counted, true, nil
		},
		Expect: func(s replytest.Structure) replytest.Structure {
			if s.Tables == 0 {
				return s
			}
			s = replytest.TablesAsBlocks(s)
			s.Tables, s.Blocks = 1, s.Blocks-1
			return s
		},
	})
}

func countBlocks(blocks []slack.Block, counted *replytest.Structure) {
	for _, block := range blocks {
		switch block := block.(type) {
		case *slack.TableBlock:
			counted.Tables++
			counted.Rows += len(block.Rows) - 1
		case *slack.RichTextBlock:
			for _, element := range block.Elements {
				switch element := element.(type) {
				case *slack.RichTextList:
					counted.Items += len(element.Elements)
				case *slack.RichTextPreformatted:
					counted.Blocks++
					counted.Rows += replytest.CountRows(saidBy([]slack.Block{slack.NewRichTextBlock("", element)}))
				}
			}
		}
	}
}
