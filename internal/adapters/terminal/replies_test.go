package terminal

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/replytest"
)

// What begins the parts of made-up replies on a page that is wide enough for all of them.
var (
	madeRow  = regexp.MustCompile(`(?m)^[ │]*(?:(?:•|\d+\.) )*jobs \d`)
	madeItem = regexp.MustCompile(`(?m)^[ │]*(?:(?:•|\d+\.) )+`)
	bullet   = regexp.MustCompile(`(?:•|\d+\.) `)
	madeCode = regexp.MustCompile(`(?m)^[ │]*(?:(?:•|\d+\.) )*  heron drain --grace-period$`)
)

// TestRandomReplies prints checked replies of models: no control reaches the terminal, and what is
// shown has the rows, items and blocks of the text. Tables have no other sign than their rows.
func TestRandomReplies(t *testing.T) {
	printed := func(text string) (string, error) {
		var out bytes.Buffer
		err := renderer(&out, 1000).Reply(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text})
		return out.String(), err
	}
	replytest.RandomShown(t, replytest.Platform{
		Check: func(text string) error {
			shown, err := printed(text)
			if err != nil {
				return err
			}
			return harmless(shown)
		},
		Count: func(text string) (replytest.Structure, bool, error) {
			shown, err := printed(text)
			items := bullet.FindAllString(strings.Join(madeItem.FindAllString(shown, -1), "\n"), -1) // "3. • one" are two
			return replytest.Structure{
				Rows: len(madeRow.FindAllString(shown, -1)), Items: len(items), Blocks: len(madeCode.FindAllString(shown, -1)),
			}, true, err
		},
		Expect: func(s replytest.Structure) replytest.Structure { s.Tables = 0; return s },
	})
}
