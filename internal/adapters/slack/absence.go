package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
)

const (
	// surveySize is how many threads of a channel one look shows; Slack gives no more.
	surveySize = 999
	// maxSurveys is how many channels are remembered as they were seen last.
	maxSurveys = 64
)

// threadState is how a thread stands, by its first message.
type threadState struct {
	replies int
	latest  string   // ts of the last reply, "" for none
	users   []string // some of those who replied: all where there are fewer than maxReplyUsers
}

// maxReplyUsers is how many of those who replied Slack names in a channel's history.
const maxReplyUsers = 5

// isWithout tells that a bot has written nothing in the thread behind its root. Of bots Slack
// may name the user or the app.
func (t threadState) isWithout(bot string) bool {
	return 0 < len(t.users) && len(t.users) < maxReplyUsers &&
		!slices.ContainsFunc(t.users, func(user string) bool { return user == bot || strings.HasPrefix(user, "B") })
}

// isKnown tells that the thread behind its root has no messages but known ones.
func (t threadState) isKnown(root string, known []chat.MessageID) bool {
	replies := make(map[string]bool, len(known))
	for _, id := range known {
		if ts := string(id); timestamp.MatchString(ts) && ts != root {
			replies[ts] = true
		}
	}
	return t.replies <= len(replies) && replies[t.latest]
}

// findRoot tells how the sender's thread stands, by a look at its channel that is no older than
// age; false where the channel does not show the thread any more.
func (s sender) findRoot(ctx context.Context, age time.Duration) (threadState, bool, error) {
	roots, err := s.adapter.surveys.Get(s.at.team+" "+s.at.channel, s.adapter.clock.now().Add(-age), func() (map[string]threadState, time.Time, error) {
		var history *slack.GetConversationHistoryResponse
		var asked time.Time
		err := s.callMethod(ctx, readHistory, func() error {
			var err error
			asked = s.adapter.clock.now()
			history, err = s.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: s.at.channel, Limit: surveySize})
			return err
		})
		if err != nil {
			return nil, asked, err
		}
		roots := make(map[string]threadState, len(history.Messages))
		for _, message := range history.Messages {
			roots[message.Timestamp] = threadState{message.ReplyCount, message.LatestReply, message.ReplyUsers}
		}
		return roots, asked, nil
	})
	found, ok := roots[s.at.root]
	return found, ok, err
}

// IsAbsent implements chat.AbsenceChecker: one look at a channel tells of all its threads
// that have no reply after a message, or none of the bot's. Where many look at channels, Find
// may get its turn sooner: its limit is another one.
func (a *Adapter) IsAbsent(ctx context.Context, thread chat.ThreadID, to chat.MessageID, age time.Duration) (bool, error) {
	s, err := a.senderFor(ctx, thread)
	from := draftsAfter(to)
	if err != nil || s.at.private != "" || from == "" {
		return false, err
	}
	s.patience = 0
	found, ok, err := s.findRoot(ctx, age)
	if _, limited := errors.AsType[*chat.RetryAfterError](err); limited && !errors.Is(err, expiring.ErrAsked) {
		return false, nil
	}
	absent := err == nil && ok && (found.replies == 0 || found.latest != "" && found.latest <= from || found.isWithout(s.bot))
	if absent { // Find may have waited for its turn before
		looks := turn{team: s.at.team, method: readReplies, channel: s.at.channel, caller: findCaller(thread)}
		err = s.adapter.pace.leaveLine(ctx, looks.asPaceRequest(s.adapter.clock.now()))
	}
	return absent, err
}
