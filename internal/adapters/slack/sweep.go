package slack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// removeDrafts deletes the drafts behind a ts: messages of the bot's that carry no delivery
// key. The bot works at one message of a thread at a time, so whoever begins to work knows
// them to be left over.
func (s sender) removeDrafts(ctx context.Context, from string) error {
	var left []string
	err := s.readMessages(ctx, from, func(message slack.Message) bool {
		if s.isDraft(message) && message.Timestamp > from {
			left = append(left, message.Timestamp)
		}
		return true
	})
	for _, ts := range left {
		err = errors.Join(err, s.deleteDraft(ctx, ts))
	}
	return err
}

// isDraft tells the messages of drafts from those of posts. No draft stands in a channel itself.
func (s sender) isDraft(message slack.Message) bool {
	return !s.at.whole && message.User == s.bot && len(message.Files) == 0 && message.Metadata.EventType == ""
}

// deleteDraft deletes a message that may still be a stream.
func (s sender) deleteDraft(ctx context.Context, ts string) error {
	err := s.callMethod(ctx, stopStream, func() error {
		_, _, err := s.api.StopStreamContext(ctx, s.at.channel, ts)
		return err
	})
	if err := tolerateRefusal(err); err != nil {
		return err
	}
	return s.deleteMessage(ctx, ts)
}

// draftsAfter is the ts that a draft about a message comes after: that of the message, or of
// the press or shortcut that it stands for. "" is the thread's beginning.
func draftsAfter(message chat.MessageID) string {
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

// writtenAt is when a person's message was written; zero where it does not tell.
func writtenAt(message chat.MessageID) time.Time {
	seconds, micros, _ := strings.Cut(draftsAfter(message), ".")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	fraction, err := strconv.ParseInt(micros[:min(6, len(micros))], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(unix, fraction*int64(time.Microsecond))
}

// Tidy implements chat.Tidier. A thread with one reply at most, or with no other messages
// than the bot knows, needs none: one look at the channel tells so of all its threads.
func (a *Adapter) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	s, err := a.senderFor(ctx, thread)
	if err != nil || s.at.private != "" {
		return err
	}
	s.patience, s.modest = 0, true
	found, ok, err := s.findRoot(ctx, max(late.Age-chat.CarriedOutWithin, 0))
	if err != nil || ok && (found.replies <= 1 || found.isKnown(s.at.root, late.Known)) {
		return err
	}
	var there []chat.PostPart
	var drafts []string
	from := draftsAfter(late.To)
	err = s.readMessages(ctx, from, func(message slack.Message) bool {
		if p, ok := s.partOf(message); ok {
			there = append(there, p.asPostPart())
		} else if s.isDraft(message) && message.Timestamp > from {
			drafts = append(drafts, message.Timestamp)
		}
		return true
	})
	if err != nil {
		return err
	}
	s.patience, s.modest = turnPatience, false
	for _, ts := range drafts {
		if err := s.deleteDraft(ctx, ts); err != nil {
			return fmt.Errorf("take away a draft: %w", err)
		}
	}
	for _, p := range chat.FindDuplicates(there, late.Known) {
		if err := s.deleteMessage(ctx, string(p.Message)); err != nil {
			return fmt.Errorf("take away what was posted twice: %w", err)
		}
	}
	return nil
}
