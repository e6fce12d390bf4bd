package web

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/replytest"
)

// TestRandomReplies renders checked replies of models: no element, link or script gets in, and the
// page has the tables, rows, items and blocks of the text.
func TestRandomReplies(t *testing.T) {
	rendered := func(text string) (string, error) {
		got, err := renderMarkdown(text, cited(1, 2, 3, 4), map[int]sourceRef{1: {"m-A-0-s1", "Title", ""}})
		return "<body>" + string(got), err
	}
	replytest.RandomShown(t, replytest.Platform{
		Check: func(text string) error {
			page, err := rendered(text)
			if err != nil {
				return err
			}
			return harmless(page)
		},
		Count: func(text string) (counted replytest.Structure, ok bool, err error) {
			page, err := rendered(text)
			if err != nil {
				return counted, false, err
			}
			root, err := html.Parse(strings.NewReader(page))
			if err != nil {
				return counted, false, err
			}
			shown := make(map[string]int)
			for node := range root.Descendants() {
				if node.Type == html.ElementNode {
					shown[node.Data]++
				}
			}
			return replytest.Structure{
				Tables: shown["table"], Rows: shown["tr"] - shown["table"], Items: shown["li"], Blocks: shown["pre"],
			}, true, nil
		},
	})
}
