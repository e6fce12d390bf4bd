package slack

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/graph/flows/answer/replytest"
)

// TestRandomReplies renders checked replies of models: nothing calls anybody, no link is live that
// was not allowed, and what is shown has the tables, rows, items and blocks of the text.
func TestRandomReplies(t *testing.T) {
	replytest.Random(t, func(reply replytest.Reply) error {
		text := reply.Checked.Text
		if err := check(text, ""); err != nil || !reply.Tame {
			return err
		}
		shown, err := renderPost(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}}, look{})
		if err != nil || len(shown.files) > 0 {
			return err
		}
		var got shownParts
		for _, one := range shown.notes {
			got.add(one.blocks)
		}
		want := replytest.Count(text)
		if got.preformatted != want.Tables+want.Blocks || got.items != want.Items || got.rows != want.Rows {
			return fmt.Errorf("%+v is shown as %+v", want, got)
		}
		return nil
	})
}

// shownParts are counted in blocks.
type shownParts struct{ preformatted, rows, items int }

// madeRow begins each row of the tables of made-up replies.
var madeRow = regexp.MustCompile(`(?m)^jobs \d`)

func (p *shownParts) add(blocks []slack.Block) {
	for _, block := range blocks {
		text, ok := block.(*slack.RichTextBlock)
		if !ok {
			continue
		}
		for _, element := range text.Elements {
			switch element := element.(type) {
			case *slack.RichTextList:
				p.items += len(element.Elements)
			case *slack.RichTextPreformatted:
				p.preformatted++
				p.rows += len(madeRow.FindAllString(saidBy([]slack.Block{slack.NewRichTextBlock("", element)}), -1))
			}
		}
	}
}
