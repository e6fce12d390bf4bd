package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
)

// humans are who "Ask a human" calls in a place.
func (a *Adapter) humans(at place) []string {
	if a.options.Humans == nil {
		return nil
	}
	return a.options.Humans(at.team, at.channel)
}

// keyOf is the delivery key of what a signal has the adapter post: the same for a signal
// that comes again.
func keyOf(purpose string, of signal) chat.PostKey {
	sum := sha256.Sum256([]byte(strings.Join([]string{purpose, string(of.place.thread()), string(of.message.ID)}, "\x00")))
	return chat.PostKey(hex.EncodeToString(sum[:12]))
}

// helpKey is the key of the call for help with a run, whoever asks for it.
func helpKey(of signal) chat.PostKey {
	of.message.ID = chat.MessageID(of.about)
	return keyOf("help", of)
}

// callHuman calls the people of the channel into the thread, once for an answer.
func (a *Adapter) callHuman(ctx context.Context, of signal) error {
	people := a.humans(of.place)
	if len(people) == 0 || of.place.private != "" {
		return a.tell(ctx, of, "nobody is named for this channel any more")
	}
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	key := helpKey(of)
	there, err := s.parts(ctx, key, "")
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return a.tell(ctx, of, "somebody was called already: see below in the thread")
	}
	shown, err := helpNote(people, of)
	if err != nil {
		return err
	}
	_, err = s.post(ctx, part{key: key, of: 1}, shown)
	return err
}

// helpNote calls people by name, with a button for when they have helped.
func helpNote(people []string, of signal) (note, error) {
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
	buttons.button(verbSettle, of.about, "", "Resolved")
	blocks := []slack.Block{slack.NewRichTextBlock("", slack.NewRichTextSection(calls...))}
	return note{"A person is asked to look at this.", append(blocks, buttons.block()...)}, buttons.err
}

// settledMark is the reaction on a thread whose question a person has settled.
const settledMark = "white_check_mark"

// settle marks a call for help, and the thread, as settled.
func (a *Adapter) settle(ctx context.Context, of signal) error {
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	line := slack.NewRichTextSection(slack.NewRichTextSectionTextElement("✓ Resolved by ", nil),
		slack.NewRichTextSectionUserElement(string(of.by), nil))
	err = s.update(ctx, part{key: helpKey(of), of: 1, ts: of.on}, note{"Resolved.", []slack.Block{slack.NewRichTextBlock("", line)}})
	if err != nil {
		return err
	}
	err = s.call(ctx, addReaction, func() error {
		return s.api.AddReactionContext(ctx, settledMark, slack.NewRefToMessage(s.at.channel, s.at.root))
	})
	if err != nil && refusal(err) != "already_reacted" { // the line tells it as well
		a.options.Logger.WarnContext(ctx, "slack thread was not marked", slog.Any("error", err))
	}
	return nil
}
