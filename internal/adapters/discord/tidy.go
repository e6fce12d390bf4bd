package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
		case ok:
			posted = append(posted, p)
		}
		return !bornAt(message.ID).Before(since)
	})
	if isCode(err, noSuchChannel) { // the thread was not started
		return nil
	}
	for _, p := range append(drafts, findDuplicates(posted, late.Known)...) {
		if removed := r.deleteMessage(ctx, p.id); removed != nil {
			err = errors.Join(err, fmt.Errorf("take away what came late: %w", removed))
		}
	}
	return err
}

// findDuplicates gives the parts of posts, the latest first, that are there once more. Of each a
// known message stays, where there is one, else the earliest.
func findDuplicates(parts []part, known []chat.MessageID) []part {
	type place struct {
		key   chat.PostKey
		index int
	}
	stays := make(map[place]string, len(parts))
	for _, p := range parts {
		at := place{p.key, p.index}
		if !slices.Contains(known, chat.MessageID(stays[at])) {
			stays[at] = p.id
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return stays[place{p.key, p.index}] == p.id })
}
