package terminal

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"cairn/internal/chat"
	"cairn/internal/graph/flows/answer/replytest"
)

// What begins the parts of made-up replies on a page that is wide enough for all of them.
var (
	madeRow  = regexp.MustCompile(`(?m)^[ │]*(?:(?:•|\d+\.) )*jobs \d`)
	madeItem = regexp.MustCompile(`(?m)^[ │]*(?:(?:•|\d+\.) )+`)
	bullet   = regexp.MustCompile(`(?:•|\d+\.) `)
	madeCode = regexp.MustCompile(`(?m)^[ │]*(?:(?:•|\d+\.) )*  heron drain --grace-period$`)
)

// TestRandomReplies prints checked replies of models: no control reaches the terminal, and what is
// shown has the rows, items and blocks of the text.
func TestRandomReplies(t *testing.T) {
	replytest.Random(t, func(reply replytest.Reply) error {
		text := reply.Checked.Text
		var out bytes.Buffer
		if err := renderer(&out, 1000).Reply(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}); err != nil {
			return err
		}
		if err := harmless(out.String()); err != nil || !reply.Tame {
			return err
		}
		shown, want := out.String(), replytest.Count(text)
		rows, code := len(madeRow.FindAllString(shown, -1)), len(madeCode.FindAllString(shown, -1))
		items := len(bullet.FindAllString(strings.Join(madeItem.FindAllString(shown, -1), "\n"), -1)) // "3. • one" are two
		if rows != want.Rows || items != want.Items || code != want.Blocks {
			return fmt.Errorf("%+v is shown as %d rows, %d items, %d blocks:\n%s", want, rows, items, code, strings.TrimSpace(shown))
		}
		return nil
	})
}
