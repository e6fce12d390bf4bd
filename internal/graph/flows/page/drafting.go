package page

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/guard"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

var (
	threadPrompt = prompt.Template(promptFiles, "thread", nil)
	threadSchema = prompt.Schema(promptFiles, "thread")
)

// draftedPage is what a model makes of a thread.
type draftedPage struct {
	Sections []struct {
		Title      string `json:"title"`
		Statements []struct {
			Text    string `json:"text"`
			Sources []int  `json:"sources"` // numbers of messages, from 1
		} `json:"statements"`
	} `json:"sections"`
}

// threadDraft is a page that a model made of a thread.
type threadDraft struct {
	root    *tree.Node // nil where nothing is left, or the use failed
	leftOut int        // statements that no message bears out
	use     flows.ModelUse
}

// draftThread has the model write a page from messages. The error is the end of ctx.
func (f *Flow) draftThread(ctx context.Context, s State, title string, messages []flows.Said) (threadDraft, error) {
	request, err := f.buildDraftRequest(s, title, messages)
	if err != nil {
		return threadDraft{}, err
	}
	written, use := flows.ConsultFor[draftedPage](ctx, role, f.model, request)
	made := threadDraft{use: use}
	if use.Failure != "" || ctx.Err() != nil {
		return made, ctx.Err()
	}
	root := &tree.Node{Kind: tree.Root}
	for _, section := range written.Sections {
		list := tree.NewBlock(tree.List)
		for _, statement := range section.Statements {
			text := cleanStatement(statement.Text)
			cited := citeMessages(statement.Sources, messages)
			if text == "" || !isBorneOut(text, cited, messages) {
				made.leftOut++
				continue
			}
			line := append(tree.ParseLine(text), tree.NewText(" "+nameSources(cited, messages), 0))
			list.Children = append(list.Children, tree.NewBlock(tree.ListItem, line...))
		}
		if heading := cleanStatement(section.Title); heading != "" && len(list.Children) > 0 {
			root.Children = append(root.Children, newHeading(heading), list)
		}
	}
	if len(root.Children) > 0 {
		made.root = root
		root.Children = append(root.Children, listQuotes(messages)...)
	}
	return made, nil
}

// buildDraftRequest shows the model the messages, as far as they fit; the last ones go first.
func (f *Flow) buildDraftRequest(s State, title string, messages []flows.Said) (llm.Request, error) {
	type turn struct {
		Number       int
		Author, Text string
	}
	shown := struct {
		Title    string
		Messages []turn
	}{Title: title}
	for i, message := range messages {
		shown.Messages = append(shown.Messages, turn{i + 1, strings.ReplaceAll(message.Author, `"`, "'"), shorten.Text(message.Text, maxTurn)})
	}
	limits := f.model.Limits()
	for {
		made, err := prompt.Messages(threadPrompt, shown)
		request := llm.Request{Messages: made, Schema: &threadSchema, Run: s.RequestID}
		if err != nil || len(shown.Messages) <= 1 || llm.PromptTokens(f.model, request)+limits.Reply <= limits.Context {
			return request, err
		}
		shown.Messages = shown.Messages[1:]
	}
}

// cleanStatement gives what a model wrote, on one line and without links and mentions.
func cleanStatement(text string) string {
	return strings.Join(strings.Fields(guard.Guard{}.Clean(text)), " ")
}

// citeMessages gives the places of those messages that there are.
func citeMessages(numbers []int, messages []flows.Said) []int {
	var cited []int
	for _, number := range numbers {
		if number >= 1 && number <= len(messages) {
			cited = append(cited, number-1)
		}
	}
	return cited
}

// isBorneOut tells whether the cited messages hold the words and numbers of a statement.
func isBorneOut(text string, cited []int, messages []flows.Said) bool {
	var said []string
	for _, place := range cited {
		for sentence := range splitSentences(messages[place].Text) {
			said = append(said, messages[place].Author+": "+sentence)
		}
	}
	return len(said) > 0 && support.Check(text, said).Label != support.Unsupported
}

// nameSources names the messages that a statement is from.
func nameSources(cited []int, messages []flows.Said) string {
	names := make([]string, len(cited))
	for i, place := range cited {
		names[i] = strings.Trim(nameSource(place, messages[place]), "()")
	}
	return fmt.Sprintf("(%s)", strings.Join(names, "; "))
}
