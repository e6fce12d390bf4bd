package replytest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/replytest"
)

var (
	address = regexp.MustCompile(`(?i)https?://[^\s)>\]]+`)
	foreign = regexp.MustCompile(`【|(?i)\[source|\[quelle`)
)

// TestRandomReplies checks made-up replies: nothing of their structure is lost but what was
// removed, and nothing is added.
func TestRandomReplies(t *testing.T) {
	replytest.Random(t, func(reply replytest.Reply) error {
		shown := reply.Checked.Text
		before, after := replytest.Count(reply.Written), replytest.Count(shown)
		removed := false
		for _, c := range reply.Checked.Claims {
			removed = removed || c.Removed
		}
		switch {
		case !utf8.ValidString(shown):
			return fmt.Errorf("no UTF-8")
		case reply.Tame && (after.Exceeds(before) || !removed && after != before):
			return fmt.Errorf("%+v became %+v", before, after)
		case reply.Tame && foreign.MatchString(shown):
			return fmt.Errorf("a mark is left in a foreign style")
		}
		return checkLinks(shown)
	})
}

// checkLinks says which address an answer has that its sources don't.
func checkLinks(shown string) error {
	for _, found := range address.FindAllString(shown, -1) {
		if !strings.HasPrefix(found, replytest.Link) {
			return fmt.Errorf("a link to %s", found)
		}
	}
	return nil
}

// FuzzCheckReply checks any text as a reply: what is shown of it is UTF-8, and leads nowhere but
// to its sources.
func FuzzCheckReply(f *testing.F) {
	f.Add("Heron is drained [1].\n\n| a | b |\n|-|-|\n| 1,200 | [2] |\n\n1. x\n   - y [^3]\n\n```\nopen")
	f.Add("[a](https://evil.example) <https://evil.example> ![x](https://evil.example/i.png) \xff\u202e[x]: https://evil.example\n<b>[1]</b>【2】")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 5000 {
			return
		}
		checked, err := answer.CheckReply(t.Context(), answer.WrittenReply{Question: "How long does it take?", Text: text, Evidence: replytest.Evidence()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkLinks(checked.Text); err != nil || !utf8.ValidString(checked.Text) {
			t.Errorf("%v in %q", err, checked.Text)
		}
	})
}
