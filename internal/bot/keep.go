package bot

import (
	"context"
	"errors"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/threadsource"
)

// Keep marks a message of a thread as kept, or takes the mark away, and tells what is kept. message ""
// is the thread as a whole. threadsource.ErrNoSource is its error for a channel that is no source,
// threadsource.ErrNothing where there is nothing to keep.
type Keep func(ctx context.Context, thread chat.ThreadID, message chat.MessageID, kept bool) (threadsource.Kept, error)

// keepThread remembers the thread of the command, or the message that it replies to or passes on, or
// forgets it.
func (s sideCommand) keepThread(ctx context.Context, kept bool) (string, error) {
	speaker := phrases.In(language.Detect(s.message.Text))
	thread, message := s.message.Thread, chat.MessageID("")
	for _, said := range s.message.Shared {
		if said.Thread != "" {
			thread, message = said.Thread, said.Message
		}
	}
	if s.bot.options.Keep == nil {
		return speaker.Text(phrases.NotKeptHere), nil
	}
	if message == "" && strings.HasSuffix(string(thread), ":"+string(s.message.ID)) { // the command begins it
		return speaker.Text(phrases.NothingToKeep), nil
	}
	found, err := s.bot.options.Keep(ctx, thread, message, kept)
	switch {
	case errors.Is(err, threadsource.ErrNoSource):
		return speaker.Text(phrases.NotKeptHere), nil
	case errors.Is(err, threadsource.ErrNothing):
		return speaker.Text(phrases.NothingToKeep), nil
	case err != nil:
		return "", err
	case !kept:
		return speaker.Text(phrases.ThreadForgotten), nil
	}
	return speaker.Text(phrases.ThreadKept, escapeLabel(found.Title), found.URL, shownName(found.Names)), nil
}

// escapeLabel keeps what people wrote from ending the label of a link.
func escapeLabel(text string) string {
	return strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "`", "'", "*", "\\*", "_", "\\_").Replace(text)
}
