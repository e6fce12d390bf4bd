package slack

import (
	"context"
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Edit replaces what a post shows, whatever number of messages it had. Slack lets nobody
// edit what one person alone sees: in private threads the new state is posted under the
// old.
func (a *Adapter) Edit(ctx context.Context, thread chat.ThreadID, message chat.MessageID, post chat.Post) error {
	s, err := a.senderFor(ctx, thread)
	if err != nil {
		return err
	}
	if s.at.private != "" || post.Only != "" {
		_, err := a.Post(ctx, thread, "", post)
		return err
	}
	shown, err := a.renderFor(post, s.at)
	if err != nil {
		return fmt.Errorf("%w: %w", chat.ErrRefused, err)
	}
	s.caller = "edit " + string(message)
	there, err := s.findSiblings(ctx, string(message))
	if err != nil {
		return err
	}
	key := there[0].key
	kept := there[:0:0]
	for _, p := range there {
		if p.index == filePart && shown.lost {
			kept = append(kept, p)
			continue
		}
		if p.index == filePart || p.index >= len(shown.notes) {
			if err := s.deleteMessage(ctx, p.ts); err != nil {
				return err
			}
			continue
		}
		p.of = shown.countParts()
		if err := s.updatePart(ctx, p, shown.notes[p.index]); err != nil {
			return err
		}
		kept = append(kept, p)
	}
	_, err = s.postMissing(ctx, key, shown, kept)
	return err
}

// findSiblings gives all messages of the post that a message is the first of.
func (s sender) findSiblings(ctx context.Context, first string) ([]part, error) {
	var found []part
	err := s.readMessages(ctx, first, func(message slack.Message) bool {
		p, ok := s.partOf(message)
		if ok && (p.ts == first || len(found) > 0 && p.key == found[0].key) {
			found = append(found, p)
		}
		return true
	})
	if err == nil && len(found) == 0 {
		return nil, fmt.Errorf("find Slack's message %s: %w", first, chat.ErrGone)
	}
	return found, err
}

// Retract deletes a post, whatever number of messages it had. What one person alone saw
// can't be taken back.
func (a *Adapter) Retract(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	s, err := a.senderFor(ctx, thread)
	if err != nil || s.at.private != "" {
		return err
	}
	there, err := s.findSiblings(ctx, string(message))
	if errors.Is(err, chat.ErrGone) {
		return nil
	}
	for _, p := range there {
		err = errors.Join(err, s.deleteMessage(ctx, p.ts))
	}
	return err
}

func (s sender) updatePart(ctx context.Context, p part, shown note) error {
	return s.sendNote(shown, func(content []slack.MsgOption) error {
		return s.callMethod(ctx, updateMessage, func() error {
			_, _, _, err := s.api.UpdateMessageContext(ctx, s.at.channel, p.ts, append(content, p.metadataOption())...)
			return err
		})
	})
}

// deleteMessage deletes a message of the bot's; one that is gone already is fine.
func (s sender) deleteMessage(ctx context.Context, ts string) error {
	err := s.callMethod(ctx, deleteMessage, func() error {
		_, _, err := s.api.DeleteMessageContext(ctx, s.at.channel, ts)
		return err
	})
	var refused slack.SlackErrorResponse
	if errors.As(err, &refused) && refused.Err == "message_not_found" {
		return nil
	}
	return err
}
