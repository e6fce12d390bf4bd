package slack

import (
	"context"
	"errors"
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// handleReaction keeps what a reaction to an answer says of it. Of a reaction Slack does not tell
// which answer it is: the message is looked at.
func (d dispatcher) handleReaction(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.verdict == chat.Unrated || of.by == "" {
		return nil
	}
	s, err := d.adapter.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	run, root, err := s.findRated(ctx)
	if errors.Is(err, chat.ErrGone) {
		run, err = "", nil
	}
	if err != nil {
		return err
	}
	if run == "" {
		d.adapter.control.Skip(ctx, "a reaction to what can't be rated")
		return nil
	}
	of.place.root = root
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	if given.Refusal != "" {
		d.adapter.control.Skip(ctx, "a reaction of somebody who is refused: "+given.Refusal)
		return nil
	}
	return d.adapter.control.React(ctx, bot, interact.Reaction{
		Run: run, By: of.by, Verdict: of.verdict, Removed: of.removed, IsHere: of.isHere, To: &surface{adapter: d.adapter, of: of},
	})
}

// findRated gives the run that can be rated by the message at the sender's place, and the thread that
// the message is in; run "" for none. Of an answer in several messages the last has the thumbs.
func (s sender) findRated(ctx context.Context) (run chat.RunID, root string, err error) {
	var reacted slack.Message
	err = s.readMessages(ctx, "", func(message slack.Message) bool {
		reacted = message
		return false
	})
	if err != nil || reacted.Timestamp != s.at.root {
		return "", "", err
	}
	root = reacted.Timestamp
	if timestamp.MatchString(reacted.ThreadTimestamp) {
		root = reacted.ThreadTimestamp
	}
	p, ours := s.partOf(reacted)
	run = ratedRun(reacted)
	if run != "" || !ours || p.of == 1 {
		return run, root, nil
	}
	s.at.root = root
	err = s.readMessages(ctx, "", func(message slack.Message) bool {
		if other, ok := s.partOf(message); ok && other.key == p.key {
			run = ratedRun(message)
		}
		return run == ""
	})
	return run, root, err
}

// ratedRun is the run whose thumbs a message has, "" for none.
func ratedRun(message slack.Message) chat.RunID {
	for _, block := range message.Blocks.BlockSet {
		thumbs, ok := block.(*slack.ContextActionsBlock)
		if !ok || thumbs.Elements == nil {
			continue
		}
		for _, element := range thumbs.Elements.ElementSet {
			button, ok := element.(*slack.FeedbackButtonsBlockElement)
			if !ok {
				continue
			}
			if run, ok := strings.CutPrefix(button.ActionID, string(interact.Rate)+":"); ok {
				return chat.RunID(run)
			}
		}
	}
	return ""
}

var _ interact.ReasonOfferer = (*surface)(nil)

// OfferReason implements interact.ReasonOfferer, by a message in the thread that the person alone sees.
func (s *surface) OfferReason(ctx context.Context, _ chat.RunID, line string, button interact.Button) error {
	to, err := s.adapter.senderFor(ctx, s.of.place.threadID())
	if err != nil {
		return err
	}
	buttons := &row{}
	buttons.addButtons([]interact.Button{button})
	if buttons.err != nil {
		return buttons.err
	}
	words := slack.NewSectionBlock(plainText(line), nil, nil)
	_, err = to.postEphemeral(ctx, s.of.by, []slack.MsgOption{
		slack.MsgOptionText(escapeText(line), false), slack.MsgOptionBlocks(append([]slack.Block{words}, buttons.buildBlocks()...)...),
	})
	if err != nil { // the rating is kept
		s.adapter.options.Logger.WarnContext(ctx, "offer to say why an answer did not help", "platform", Name, "error", err)
	}
	return nil
}
