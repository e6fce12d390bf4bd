package slack

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

// greetVisitor greets who opens the direct conversation or the home tab, who may ask about collections; none:
// all.
func (a *Adapter) greetVisitor(ctx context.Context, bot *running.Handler, of signal, collections []string) error {
	switch {
	case of.tab == "home" && of.by != "":
		return a.showHome(ctx, bot, of, collections)
	case of.tab == "messages" && a.options.Prompts != nil && of.place.channel != "":
		return a.suggestQuestions(ctx, of, collections)
	}
	a.logSkipped(ctx, "nothing is shown in this tab")
	return nil
}

// suggestQuestions offers questions to who opens the direct conversation.
func (a *Adapter) suggestQuestions(ctx context.Context, of signal, collections []string) error {
	prompts, err := a.options.Prompts(ctx, collections)
	if err != nil {
		return fmt.Errorf("suggest questions: %w", err)
	}
	api, err := a.teamClient(ctx, of.place.team)
	if err != nil {
		return err
	}
	// Where an app is an agent no thread is told: with one the call would do nothing, and
	// say that all is well. Where it is an assistant, as apps were before, there is one.
	ask := slack.AssistantThreadsSetSuggestedPromptsParameters{
		Title: "Ask about the documents", ChannelID: of.place.channel, ThreadTS: of.place.root,
	}
	for _, prompt := range prompts[:min(len(prompts), maxPrompts)] {
		ask.AddPrompt(rich.Cut(prompt.Title, maxLabel), prompt.Message)
	}
	if len(ask.Prompts) == 0 {
		return nil
	}
	return classifyError("assistant.threads.setSuggestedPrompts", api.SetAssistantThreadsSuggestedPromptsContext(ctx, ask))
}

// maxPrompts is how many suggestions Slack shows.
const maxPrompts = 4

// Bounds of the home tab.
const (
	maxRecent      = 8
	maxCollections = 20
	maxHomeTitle   = 120
)

// showHome shows a button to ask, example questions, what the bot knows, the person's last
// questions, and how to ask elsewhere.
func (a *Adapter) showHome(ctx context.Context, bot *running.Handler, of signal, asked []string) error {
	workspace, err := a.options.Workspaces.Workspace(ctx, of.place.team, "")
	if err != nil {
		return fmt.Errorf("access Slack's team %s: %w", of.place.team, err)
	}
	blocks, err := askBlocks(a.exampleQuestions(ctx, asked))
	if err != nil {
		return err
	}
	var pieces []rich.Piece
	if a.options.Catalog != nil {
		pieces = append(pieces, a.describeCollections(ctx, asked)...)
	}
	if bot.Threads != nil {
		// Threads of other workspaces are among them, and left out.
		threads, err := bot.Threads.Threads(ctx, Name, of.by, 4*maxRecent)
		if err != nil {
			return fmt.Errorf("list a person's questions: %w", err)
		}
		pieces = append(pieces, recentPieces(threads, of.place.team, workspace.URL)...)
	}
	pieces = append(pieces, howToAsk(workspace.Bot)...)
	return a.publishHome(ctx, of, append(blocks, richText(pieces)...))
}

// exampleQuestions are questions about collections, none where they can't be found in time.
func (a *Adapter) exampleQuestions(ctx context.Context, collections []string) []Prompt {
	if a.options.Prompts == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, examplesWithin)
	defer cancel()
	prompts, err := a.options.Prompts(ctx, collections)
	if err != nil {
		a.options.Logger.WarnContext(ctx, "list example questions for the Slack home tab", slog.Any("error", err))
	}
	return prompts
}

// publishHome shows blocks in the home tab of who opened it.
func (a *Adapter) publishHome(ctx context.Context, of signal, blocks []slack.Block) error {
	api, err := a.teamClient(ctx, of.place.team)
	if err != nil {
		return err
	}
	view := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks}}
	err = a.pace.callPaced(ctx, turn{team: of.place.team, method: publishView, patience: time.Second}, func() error {
		_, err := api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: string(of.by), View: view})
		return err
	})
	return tolerateRefusal(classifyError(string(publishView), err))
}

func headingPiece(text string) rich.Piece {
	return rich.Piece{Runs: []rich.Run{{Text: text, Style: rich.Style{Bold: true}}}}
}

func howToAsk(bot string) []rich.Piece {
	line := func(runs ...rich.Run) rich.Piece { return rich.Piece{Shape: rich.Item, Runs: runs} }
	return []rich.Piece{
		headingPiece("Other ways to ask"),
		line(rich.Run{Text: "In a channel: mention "}, rich.Run{User: bot}, rich.Run{Text: " with your question; follow-ups in the thread need no mention."}),
		line(rich.Run{Text: "Here, under Messages: just write."}),
		line(rich.Run{Text: "Anywhere: "}, rich.Run{Text: "/cairn your question", Style: rich.Style{Code: true}}, rich.Run{Text: ", which is answered to you alone."}),
		line(rich.Run{Text: "About a message: choose “Ask Cairn about this” among its shortcuts."}),
	}
}

// catalogWithin is how long the list of what the bot knows may take to be made: Slack waits
// for 3 s.
const catalogWithin = 1500 * time.Millisecond

// examplesWithin is likewise for the example questions.
const examplesWithin = time.Second

// describeCollections tells what the bot knows of the collections that may be asked, none for all, or that it
// can't be told at the moment.
func (a *Adapter) describeCollections(ctx context.Context, asked []string) []rich.Piece {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	collections, err := a.options.Catalog.Collections(ctx)
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack home tab lacks what the bot knows", slog.Any("error", err))
		return []rich.Piece{headingPiece("What Cairn knows"), {Shape: rich.Item, Runs: []rich.Run{{Text: "It can't be listed at the moment: open this tab again in a minute."}}}}
	}
	if len(asked) > 0 {
		collections = slices.DeleteFunc(collections, func(c chat.Collection) bool { return !slices.Contains(asked, c.Name) })
	}
	return knownPieces(collections, a.clock.now())
}

// knownPieces lists collections with how fresh they are.
func knownPieces(collections []chat.Collection, now time.Time) []rich.Piece {
	out := []rich.Piece{headingPiece("What Cairn knows")}
	if len(collections) == 0 {
		out = append(out, rich.Piece{Shape: rich.Item, Runs: []rich.Run{{Text: "Nothing yet: no documents have been read."}}})
	}
	for i, collection := range collections {
		if i == maxCollections {
			out = append(out, rich.Piece{Shape: rich.Item, Runs: []rich.Run{{Text: fmt.Sprintf("and %d more", len(collections)-i)}}})
			break
		}
		told := ": " + countNoun(collection.Documents, "document")
		if collection.Passages > 0 {
			told += ", " + countNoun(collection.Passages, "passage")
		}
		if !collection.Updated.IsZero() {
			told += ", brought up to date " + markup.Age(now, collection.Updated)
		}
		name := rich.Cut(markup.CleanLine(collection.Name), maxHomeTitle)
		out = append(out, rich.Piece{Shape: rich.Item, Runs: []rich.Run{{Text: name, Style: rich.Style{Bold: true}}, {Text: told}}})
	}
	return out
}

// recentPieces lists a person's threads in a team, each with the way to it.
func recentPieces(threads []chat.ThreadSummary, team, address string) []rich.Piece {
	out := []rich.Piece{headingPiece("Your recent questions")}
	for _, thread := range threads {
		at, err := parseThread(thread.Thread)
		if err != nil || at.team != team || len(out) > maxRecent {
			continue
		}
		title := rich.Cut(markup.CleanLine(thread.Title), maxHomeTitle)
		if title == "" {
			title = "(a message without words)"
		}
		row := []rich.Run{{Text: title, URL: threadLink(address, at)}}
		if thread.Waiting {
			row = append(row, rich.Run{Text: " — waits for your answer"})
		}
		out = append(out, rich.Piece{Shape: rich.Item, Runs: row})
	}
	if len(out) == 1 {
		out = append(out, rich.Piece{Shape: rich.Item, Runs: []rich.Run{{Text: "None yet."}}})
	}
	return out
}

// threadLink is the address of a thread, "" where it has none.
func threadLink(workspace string, at place) string {
	if at.root == "" || workspace == "" {
		return ""
	}
	return strings.TrimSuffix(workspace, "/") + "/archives/" + at.channel + "/p" + strings.ReplaceAll(at.root, ".", "")
}

func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
