package page

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Words by which rules find what a message does.
var (
	decides = regexp.MustCompile(`(?i)\b(?:decided|agreed|let'?s|we(?:'ll| will| are going to)|going with|final|settled|beschlossen|entschieden|einigen uns|wir (?:machen|nehmen|werden))\b`)
	address = regexp.MustCompile(`https?://[^\s<>()"'|]+`)
)

// createFromThread makes a page of what was said: what was decided and what is open, each with
// the message that says it, then every message word for word.
func (f *Flow) createFromThread(ctx context.Context, s State, title string) (graph.Result[State], error) {
	messages := listMessages(s)
	if len(messages) == 0 {
		return endRefused("I see no messages in this thread that a page could be made of. Call me in below a conversation: `page: thread` and a title.")
	}
	if title = strings.TrimSpace(title); title == "" {
		title = "Notes: " + cutTitle(messages[0].Text)
	}
	root, remark, changes, err := f.writeThread(ctx, s, title, messages)
	if err != nil {
		return graph.Result[State]{}, err
	}
	if err := tree.Normalize(root); err != nil {
		return endForError(err)
	}
	return f.createPage(ctx, s, newPage{title, root, "page: thread", remark}, changes...)
}

// writeThread makes the page: by the model, where there is one and messages bear its statements
// out, and by rules else. remark says how.
func (f *Flow) writeThread(ctx context.Context, s State, title string, messages []flows.Said) (root *tree.Node, remark string, changes []graph.Change[State], err error) {
	if f.model == nil {
		return outlineThread(messages), "", nil, nil
	}
	drafted, err := f.draftThread(ctx, s, title, messages)
	if err != nil {
		return nil, "", nil, err
	}
	changes = append(changes, models.Set([]flows.ModelUse{drafted.use}))
	switch {
	case drafted.use.Failure != "":
		reason := flows.ExplainFailure(phrases.In(language.English), llm.Failure(drafted.use.Failure))
		return outlineThread(messages), fmt.Sprintf("It quotes: %s.", reason), changes, nil
	case drafted.root == nil:
		return outlineThread(messages), "It quotes: no message bears out what the language model wrote.", changes, nil
	case drafted.leftOut > 0:
		remark = fmt.Sprintf("%d statements of the language model are left out, for no message bears them out.", drafted.leftOut)
	}
	return drafted.root, remark, changes, nil
}

// listMessages gives what people said in the thread, oldest first.
func listMessages(s State) []flows.Said {
	var messages []flows.Said
	for _, one := range s.Said {
		if !one.Self && strings.TrimSpace(one.Text) != "" {
			messages = append(messages, one)
		}
	}
	for _, turn := range s.History {
		if turn.Role == flows.User && strings.TrimSpace(turn.Text) != "" {
			messages = append(messages, flows.Said{Text: turn.Text})
		}
	}
	return messages
}

const maxTitleWords = 8

func cutTitle(text string) string {
	words := strings.Fields(text)
	if len(words) > maxTitleWords {
		return strings.Join(words[:maxTitleWords], " ") + "…"
	}
	return strings.Join(words, " ")
}

// outlineThread puts a page together by rules. All of its statements are sentences of messages.
func outlineThread(messages []flows.Said) *tree.Node {
	root := &tree.Node{Kind: tree.Root}
	root.Children = append(root.Children, tree.NewBlock(tree.Paragraph, tree.NewText(
		fmt.Sprintf("Quoted from a thread of %d messages. The number behind each statement is that of its message below; no language model wrote this.", len(messages)), tree.Italic)))
	section := func(title string, wanted func(sentence string) bool) {
		list := tree.NewBlock(tree.List)
		for i, message := range messages {
			for sentence := range splitSentences(message.Text) {
				if wanted(sentence) {
					list.Children = append(list.Children, tree.NewBlock(tree.ListItem, append(linkAddresses(sentence), tree.NewText(" "+nameSource(i, message), 0))...))
				}
			}
		}
		if len(list.Children) > 0 {
			root.Children = append(root.Children, newHeading(title), list)
		}
	}
	isQuestion := func(sentence string) bool {
		return strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？")
	}
	section("Decisions", func(sentence string) bool { return decides.MatchString(sentence) && !isQuestion(sentence) })
	section("Questions", isQuestion)
	section("Links", address.MatchString)
	root.Children = append(root.Children, listQuotes(messages)...)
	return root
}

// listQuotes gives all messages word for word, below a heading.
func listQuotes(messages []flows.Said) []*tree.Node {
	blocks := []*tree.Node{newHeading("What was said")}
	for i, message := range messages {
		blocks = append(blocks, quoteMessage(i, message))
	}
	return blocks
}

func newHeading(text string) *tree.Node {
	n := tree.NewBlock(tree.Heading, tree.NewText(text, 0))
	n.Level = 2
	return n
}

// nameSource names the message that a statement is from.
func nameSource(place int, message flows.Said) string {
	if message.Author == "" {
		return fmt.Sprintf("(%d)", place+1)
	}
	return fmt.Sprintf("(%d, %s)", place+1, message.Author)
}

// quoteMessage gives a message as it was written.
func quoteMessage(place int, message flows.Said) *tree.Node {
	n := tree.NewBlock(tree.Quote, tree.NewText(nameSource(place, message)+" ", tree.Bold))
	for i, line := range strings.Split(strings.TrimSpace(message.Text), "\n") {
		if i > 0 {
			n.Children = append(n.Children, &tree.Node{Kind: tree.LineBreak})
		}
		n.Children = append(n.Children, linkAddresses(line)...)
	}
	return n
}

// linkAddresses gives a line whose addresses are links.
func linkAddresses(line string) []*tree.Node {
	var nodes []*tree.Node
	at := 0
	for _, found := range address.FindAllStringIndex(line, -1) {
		target := strings.TrimRight(line[found[0]:found[1]], ".,;:!?")
		if _, ok := tree.SafeURL(target); !ok {
			continue
		}
		nodes = append(nodes, tree.NewText(line[at:found[0]], 0))
		link := tree.NewBlock(tree.Link, tree.NewText(target, 0))
		link.URL = target
		nodes = append(nodes, link)
		at = found[0] + len(target)
	}
	return append(nodes, tree.NewText(line[at:], 0))
}

// splitSentences gives the sentences of a message, each line by itself.
func splitSentences(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			for _, cut := range sentence.Split(line) {
				if said := strings.TrimSpace(cut.Text); said != "" && !yield(said) {
					return
				}
			}
		}
	}
}
