package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// greetVisitor greets who opens the direct conversation or the home tab, who may ask about collections; none:
// all.
func (d dispatcher) greetVisitor(ctx context.Context, bot *interact.Handler, of signal, collections []string) error {
	switch {
	case of.tab == "home" && of.by != "":
		return d.showHome(ctx, bot, of, collections)
	case of.tab == "messages" && of.place.channel != "":
		d.adapter.suggested.Put(of.viewer(), collectionsKey(collections))
		return d.suggestQuestions(ctx, of, collections)
	}
	d.adapter.control.Skip(ctx, "nothing is shown in this tab")
	return nil
}

// suggestQuestions offers questions to who opens the direct conversation.
func (d dispatcher) suggestQuestions(ctx context.Context, of signal, collections []string) error {
	prompts := d.adapter.control.ExampleQuestions(ctx, collections)
	api, err := d.adapter.teamClient(ctx, of.place.team)
	if err != nil {
		return err
	}
	// Where an app is an agent no thread is told: with one the call would do nothing, and
	// say that all is well. Where it is an assistant, as apps were before, there is one.
	ask := slack.AssistantThreadsSetSuggestedPromptsParameters{
		Title: "Ask about the documents", ChannelID: of.place.channel, ThreadTS: of.place.root,
	}
	for _, prompt := range prompts[:min(len(prompts), maxPrompts)] {
		ask.AddPrompt(render.Cut(prompt.Title, maxLabel), prompt.Message)
	}
	if len(ask.Prompts) == 0 {
		return nil
	}
	return classifyError("assistant.threads.setSuggestedPrompts", api.SetAssistantThreadsSuggestedPromptsContext(ctx, ask))
}

// maxPrompts is how many suggestions Slack shows.
const maxPrompts = 4

// showHome shows a button to ask, example questions, what the bot knows, the person's last
// questions, and how to ask elsewhere.
func (d dispatcher) showHome(ctx context.Context, bot *interact.Handler, of signal, asked []string) error {
	workspace, err := d.adapter.options.Workspaces.Workspace(ctx, of.place.team, "")
	if err != nil {
		return fmt.Errorf("access Slack's team %s: %w", of.place.team, err)
	}
	blocks, err := askBlocks(d.adapter.control.ExampleQuestions(ctx, asked))
	if err != nil {
		return err
	}
	recent, err := d.adapter.control.RecentPieces(ctx, bot, of.by, func(thread chat.ThreadID) (address string, ok bool) {
		at, err := parseThread(thread)
		return threadLink(workspace.URL, at), err == nil && at.team == of.place.team
	})
	if err != nil {
		return err
	}
	pieces := slices.Concat(d.adapter.control.KnownPieces(ctx, asked), recent, howToAsk(workspace.Bot))
	return d.publishHome(ctx, of, append(blocks, richText(pieces)...))
}

// publishHome shows blocks in the home tab of who opened it.
func (d dispatcher) publishHome(ctx context.Context, of signal, blocks []slack.Block) error {
	api, err := d.adapter.teamClient(ctx, of.place.team)
	if err != nil {
		return err
	}
	view := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks}}
	err = d.adapter.pace.callPaced(ctx, turn{team: of.place.team, method: publishView, patience: time.Second}, func() error {
		_, err := api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: string(of.by), View: view})
		return err
	})
	return tolerateRefusal(classifyError(string(publishView), err))
}

func howToAsk(bot string) []render.Piece {
	line := func(runs ...render.Run) render.Piece { return render.Piece{Shape: render.Item, Runs: runs} }
	return []render.Piece{
		render.Heading("Other ways to ask"),
		line(render.Run{Text: "In a channel: mention "}, render.Run{User: bot}, render.Run{Text: " with your question; follow-ups in the thread need no mention."}),
		line(render.Run{Text: "Here, under Messages: just write."}),
		line(render.Run{Text: "Anywhere: "}, render.Run{Text: "/cairn your question", Style: render.Style{Code: true}}, render.Run{Text: ", which is answered to you alone."}),
		line(render.Run{Text: "About a message: choose “Ask Cairn about this” among its shortcuts."}),
	}
}

// threadLink is the address of a thread, "" where it has none.
func threadLink(workspace string, at place) string {
	if at.root == "" || workspace == "" {
		return ""
	}
	return strings.TrimSuffix(workspace, "/") + "/archives/" + at.channel + "/p" + strings.ReplaceAll(at.root, ".", "")
}
