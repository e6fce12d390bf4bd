package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

// humansFor are who "Ask a human" calls in a place.
func (a *Adapter) humansFor(at place) []string {
	if a.options.Humans == nil {
		return nil
	}
	return a.options.Humans(at.team, at.channel)
}

// keyOf is the delivery key of what a signal has the adapter post: the same for a signal
// that comes again.
func keyOf(purpose string, of signal) chat.PostKey {
	sum := sha256.Sum256([]byte(strings.Join([]string{purpose, string(of.place.threadID()), string(of.message.ID)}, "\x00")))
	return chat.PostKey(hex.EncodeToString(sum[:12]))
}

// helpKey is the key of the call for help with a run, whoever asks for it.
func helpKey(of signal) chat.PostKey {
	of.message.ID = chat.MessageID(of.about)
	return keyOf("help", of)
}

// callHuman calls the people of the channel into the thread, once for an answer.
func (a *Adapter) callHuman(ctx context.Context, bot *running.Handler, of signal) error {
	people := a.humansFor(of.place)
	if len(people) == 0 || of.place.private != "" {
		return a.sendPrivateLine(ctx, of, "nobody is named for this channel any more")
	}
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	key := helpKey(of)
	there, err := s.readParts(ctx, key, "")
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return a.sendPrivateLine(ctx, of, "somebody was called already: see below in the thread")
	}
	asked, err := findHelp(ctx, bot, of)
	if err != nil {
		return err
	}
	shown, err := helpNote(people, of, asked.withLink(s.at, workspaceURL(ctx, a, of)))
	if err != nil {
		return err
	}
	_, err = s.postPart(ctx, part{key: key, of: 1}, shown)
	return err
}

// help is what a person is asked to help with.
type help struct {
	question string
	link     string // to it; "" for none
	reason   string
}

// findHelp finds the question and why its answer does not do.
func findHelp(ctx context.Context, bot *running.Handler, of signal) (help, error) {
	found, err := running.FindHelp(ctx, bot, of.place.threadID(), chat.RunID(of.about))
	return help{question: found.Question, reason: found.Reason}, err
}

// withLink adds the address of the thread.
func (h help) withLink(at place, workspace string) help {
	h.link = threadLink(workspace, at)
	return h
}

// workspaceURL is the address of a signal's workspace, "" where it is not known.
func workspaceURL(ctx context.Context, a *Adapter, of signal) string {
	workspace, err := a.options.Workspaces.Workspace(ctx, of.place.team, "")
	if err != nil {
		return ""
	}
	return workspace.URL
}

// buildBlocks show the question, with its link and the reason.
func (h help) buildBlocks() []slack.Block {
	question := rich.Run{Text: rich.Cut(markup.CleanLine(h.question), maxRemark), URL: h.link}
	if question.Text == "" {
		question.Text = "the question above"
	}
	return append(richText([]rich.Piece{{Shape: rich.Quote, Runs: []rich.Run{question}}}), remarkBlock(h.reason))
}

// helpNote calls people by name, with a button for who is about to help.
func helpNote(people []string, of signal, asked help) (note, error) {
	var calls []slack.RichTextSectionElement
	for _, id := range people {
		if strings.HasPrefix(id, "S") {
			calls = append(calls, slack.NewRichTextSectionUserGroupElement(id))
		} else {
			calls = append(calls, slack.NewRichTextSectionUserElement(id, nil))
		}
		calls = append(calls, slack.NewRichTextSectionTextElement(" ", nil))
	}
	calls = append(calls, slack.NewRichTextSectionUserElement(string(of.by), nil),
		slack.NewRichTextSectionTextElement(" would like a person to look at this.", nil))
	buttons := &row{}
	buttons.addButton(verbTake, of.about, "", "I’ll take it")
	buttons.addButton(verbSettle, of.about, "", "Resolved")
	blocks := append([]slack.Block{slack.NewRichTextBlock("", slack.NewRichTextSection(calls...))}, asked.buildBlocks()...)
	return note{text: "A person is asked to look at this.", blocks: append(blocks, buttons.buildBlocks()...)}, buttons.err
}

// takeHelp shows who is about to help, in the place of the call.
func (a *Adapter) takeHelp(ctx context.Context, bot *running.Handler, of signal) error {
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	asked, err := findHelp(ctx, bot, of)
	if err != nil {
		return err
	}
	line := slack.NewRichTextSection(slack.NewRichTextSectionUserElement(string(of.by), nil),
		slack.NewRichTextSectionTextElement(" takes care of this.", nil))
	buttons := &row{}
	buttons.addButton(verbSettle, of.about, "", "Resolved")
	if buttons.err != nil {
		return buttons.err
	}
	blocks := append([]slack.Block{slack.NewRichTextBlock("", line)}, asked.withLink(s.at, workspaceURL(ctx, a, of)).buildBlocks()...)
	return s.updatePart(ctx, part{key: helpKey(of), of: 1, ts: of.on}, note{text: "A person takes care of this.", blocks: append(blocks, buttons.buildBlocks()...)})
}

// settledMark is the reaction on a thread whose question a person has settled.
const settledMark = "white_check_mark"

// closeRequest marks a call for help, and the thread, as settled.
func (a *Adapter) closeRequest(ctx context.Context, of signal) error {
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	line := slack.NewRichTextSection(slack.NewRichTextSectionTextElement("✓ Resolved by ", nil),
		slack.NewRichTextSectionUserElement(string(of.by), nil))
	err = s.updatePart(ctx, part{key: helpKey(of), of: 1, ts: of.on}, note{text: "Resolved.", blocks: []slack.Block{slack.NewRichTextBlock("", line)}})
	if err != nil {
		return err
	}
	err = s.callMethod(ctx, addReaction, func() error {
		return s.api.AddReactionContext(ctx, settledMark, slack.NewRefToMessage(s.at.channel, s.at.root))
	})
	if err != nil && refusalName(err) != "already_reacted" { // the line tells it as well
		a.options.Logger.WarnContext(ctx, "slack thread was not marked", slog.Any("error", err))
	}
	return nil
}
