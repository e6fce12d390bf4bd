package discord

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"cairn/internal/chat"
	"cairn/internal/graph/flows/answer/replytest"
)

var (
	madeRow  = regexp.MustCompile(`(?m)^jobs \d`) // begins each row of the tables of made-up replies
	madeItem = regexp.MustCompile(`(?m)^ *(?:-|\d+\.) `)
)

// TestRandomReplies renders checked replies of models: nothing calls anybody, no link is live that
// was not allowed, and what is shown has the tables, rows, items and blocks of the text.
func TestRandomReplies(t *testing.T) {
	replytest.Random(t, func(reply replytest.Reply) error {
		text := reply.Checked.Text
		if err := check(text, ""); err != nil || !reply.Tame {
			return err
		}
		shown, err := render(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}}, look{})
		if err != nil || len(shown.files) > 0 || len(shown.notes) != 1 {
			return err
		}
		made, _ := shown.message(mark{key: "KEY000000000000000000001", of: 1, root: "1"}, false)
		content := made.Content
		for _, e := range made.Embeds {
			content += "\n" + e.Description
		}
		var fences, rows, items int
		for i, part := range strings.Split(content, "```") {
			if i%2 == 1 {
				fences++
				rows += len(madeRow.FindAllString(part, -1))
				continue
			}
			items += len(madeItem.FindAllString(part, -1))
		}
		want := replytest.Count(text)
		if fences != want.Tables+want.Blocks || rows != want.Rows || items != want.Items {
			return fmt.Errorf("%+v is shown as %d fences, %d rows, %d items: %s", want, fences, rows, items, content)
		}
		return nil
	})
}
