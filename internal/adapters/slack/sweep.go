package slack

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
)

// sweepPatience is how long a run waits until what an earlier worker left is taken away.
const sweepPatience = 2 * time.Second

// sweep takes away the drafts behind a ts: messages of the bot's that carry no delivery
// key. The bot works at one message of a thread at a time, so whoever begins to work knows
// them to be left over.
func (s sender) sweep(ctx context.Context, from string) error {
	var left []string
	err := s.read(ctx, from, func(message slack.Message) bool {
		if s.isDraft(message) && message.Timestamp > from {
			left = append(left, message.Timestamp)
		}
		return true
	})
	for _, ts := range left {
		err = errors.Join(err, s.takeAway(ctx, ts))
	}
	return err
}

// isDraft tells the messages of drafts from those of posts.
func (s sender) isDraft(message slack.Message) bool {
	return message.User == s.bot && len(message.Files) == 0 && message.Metadata.EventType == ""
}

// takeAway removes a message that may still be a stream.
func (s sender) takeAway(ctx context.Context, ts string) error {
	err := s.call(ctx, stopStream, func() error {
		_, _, err := s.api.StopStreamContext(ctx, s.at.channel, ts)
		return err
	})
	if err := lenient(err); err != nil {
		return err
	}
	return s.remove(ctx, ts)
}

// behind is the ts that a draft about a message comes after: that of the message, or of
// the press or shortcut that it stands for. "" is the thread's beginning.
func behind(message chat.MessageID) string {
	ts := string(message)
	if _, after, found := cutLast(ts, "/"); found {
		ts = after
	}
	if !timestamp.MatchString(ts) {
		return ""
	}
	// Timestamps are compared as text, which needs all six decimals.
	seconds, decimals, _ := strings.Cut(ts, ".")
	return seconds + "." + (decimals + "000000")[:max(6, len(decimals))]
}

// Tidy implements chat.Tidier.
func (a *Adapter) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	s, err := a.sender(ctx, thread)
	if err != nil || s.at.private != "" {
		return err
	}
	if _, _, err := a.Find(ctx, thread, late.Key); err != nil {
		return err
	}
	return s.sweep(ctx, behind(late.To))
}
