package discord

import (
	"context"
	"errors"
	"fmt"

	"cairn/internal/chat"
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
	var posted, drafts []part
	since := bornAt(r.to.message)
	err = r.readMessages(ctx, func(message wireMessage) bool {
		switch p, ok := r.partOf(message); {
		case ok && p.isDraft():
			drafts = append(drafts, p)
		case ok && late.Key != "" && p.key == late.Key:
			posted = append(posted, p)
		}
		return !bornAt(message.ID).Before(since)
	})
	if isCode(err, noSuchChannel) { // the thread was not started
		return nil
	}
	for _, p := range append(drafts, findDuplicates(posted, string(late.Posted))...) {
		if removed := r.deleteMessage(ctx, p.id); removed != nil {
			err = errors.Join(err, fmt.Errorf("take away what came late: %w", removed))
		}
	}
	return err
}

// findDuplicates gives the parts of a post, the latest first, that are there once more. Of the
// first part the message stays that the bot knows of, where it is there; of all else the
// earliest.
func findDuplicates(parts []part, known string) []part {
	stays := make(map[int]string)
	for _, p := range parts {
		if stays[p.index] != known || known == "" || p.index > 0 {
			stays[p.index] = p.id
		}
	}
	var found []part
	for _, p := range parts {
		if p.id != stays[p.index] {
			found = append(found, p)
		}
	}
	return found
}
