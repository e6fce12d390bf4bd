package discord

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/replytest"
)

var madeItem = regexp.MustCompile(`(?m)^ *(?:-|\d+\.) `)

// TestRandomReplies renders checked replies of models: nothing calls anybody, no link is live that
// was not allowed, and what is shown has the tables, rows, items and blocks of the text.
func TestRandomReplies(t *testing.T) {
	replytest.RandomShown(t, replytest.Platform{
		Check:  func(text string) error { return check(text, "") },
		Count:  countShown,
		Expect: replytest.TablesAsBlocks,
	})
}

func countShown(text string) (counted replytest.Structure, ok bool, err error) {
	shown, err := renderPost(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}}, look{})
	if err != nil || len(shown.files) > 0 || len(shown.notes) != 1 {
		return counted, false, err
	}
	made, _ := shown.buildMessage(mark{key: "KEY000000000000000000001", of: 1, root: "1"}, false)
	content := made.Content
	for _, e := range made.Embeds {
		content += "\n" + e.Description
	}
	for i, part := range strings.Split(content, "```") {
		if i%2 == 0 {
			counted.Items += len(madeItem.FindAllString(part, -1))
			continue
		}
		counted.Blocks++
		counted.Rows += replytest.CountRows(part)
	}
	return counted, true, nil
}
