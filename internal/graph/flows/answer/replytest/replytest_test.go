package replytest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/internal/graph/flows/answer/replytest"
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
		for _, found := range address.FindAllString(shown, -1) {
			if !strings.HasPrefix(found, replytest.Link) {
				return fmt.Errorf("a link to %s", found)
			}
		}
		return nil
	})
}
