package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Tidy implements chat.Tidier. A conversation with no other messages than the bot knows needs
// none: one look tells so of many. What one person alone sees can't be read again.
func (a *Adapter) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	ctx = yieldTurn(ctx, postPatience)
	r, err := a.openRoom(ctx, thread, late.To)
	if err != nil || r.at.private != "" {
		return err
	}
	state, ok, err := r.readThreadState(ctx, max(late.Age-chat.CarriedOutWithin, 0))
	if ok && state.isKnown(r.at, late.Known) {
		return nil
	}
	if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused) {
		return err
	}
	var posted []chat.PostPart // the latest first
	var drafts []string
	since := bornAt(r.to.message)
	err = r.readMessages(ctx, func(message wireMessage) bool {
		switch p, ok := r.partOf(message); {
		case ok && p.isDraft():
			drafts = append(drafts, p.id)
		case ok:
			posted = append(posted, chat.PostPart{Key: p.key, Index: p.index, Message: chat.MessageID(p.id)})
		}
		return !bornAt(message.ID).Before(since)
	})
	if isCode(err, noSuchChannel) { // the thread was not started
		return nil
	}
	slices.Reverse(posted)
	surplus := drafts
	for _, p := range chat.FindDuplicates(posted, late.Known) {
		surplus = append(surplus, string(p.Message))
	}
	for _, id := range surplus {
		if removed := r.deleteMessage(ctx, id); removed != nil {
			err = errors.Join(err, fmt.Errorf("take away what came late: %w", removed))
		}
	}
	return err
}
