package web

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cairn/internal/graph/flows/answer/replytest"
)

// TestRandomReplies renders checked replies of models: no element, link or script gets in, and the
// page has the tables, rows, items and blocks of the text.
func TestRandomReplies(t *testing.T) {
	replytest.Random(t, func(reply replytest.Reply) error {
		text := reply.Checked.Text
		got, err := renderMarkdown(text, cited(1, 2, 3, 4), map[int]sourceRef{1: {"m-A-0-s1", "Title"}})
		if err != nil {
			return err
		}
		if err := harmless("<body>" + string(got)); err != nil || !reply.Tame {
			return err
		}
		root, err := html.Parse(strings.NewReader("<body>" + string(got)))
		if err != nil {
			return err
		}
		shown := make(map[string]int)
		for node := range root.Descendants() {
			if node.Type == html.ElementNode {
				shown[node.Data]++
			}
		}
		want := replytest.Count(text)
		if shown["table"] != want.Tables || shown["tr"] != want.Tables+want.Rows || shown["li"] != want.Items || shown["pre"] != want.Blocks {
			return fmt.Errorf("%+v is shown as %v", want, shown)
		}
		return nil
	})
}
