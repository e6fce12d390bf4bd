package slack

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

var _ chat.ThreadReader = (*Adapter)(nil)

// Before gives what was said in a thread before a message. People are called by their
// names, as far as Slack tells them.
func (a *Adapter) Before(ctx context.Context, thread chat.ThreadID, message chat.MessageID) ([]chat.Said, error) {
	s, err := a.senderFor(ctx, thread)
	if err != nil || s.at.private != "" || s.at.root == string(message) {
		return nil, err
	}
	var read []slack.Message
	err = s.readMessages(ctx, "", func(said slack.Message) bool {
		if said.Timestamp >= string(message) {
			return false
		}
		if len(read) == chat.MaxSaid { // the first stays: it is what the thread is about
			read = append(read[:1], read[2:]...)
		}
		read = append(read, said)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read what was said in a thread of Slack's: %w", err)
	}
	var before []chat.Said
	for _, said := range read {
		if before = append(before, s.saidOf(ctx, said)...); len(before) > chat.MaxSaid {
			before = before[len(before)-chat.MaxSaid:]
		}
	}
	return before, nil
}

// saidOf gives a message of the thread, and what it shares; none where it has no words.
func (s sender) saidOf(ctx context.Context, message slack.Message) []chat.Said {
	said := chat.Said{
		App: message.BotID != "" && message.User != s.bot, Self: message.User == s.bot, At: timeOf(message.Timestamp),
		Author: message.Username, Text: s.withNames(ctx, readMrkdwn(message.Text, s.bot).text),
	}
	if said.Author == "" && !said.Self {
		said.Author = s.nameOf(ctx, message.User)
	}
	var list []chat.Said
	if said.Text != "" {
		list = append(list, said)
	}
	for _, attached := range message.Attachments {
		if text := readMrkdwn(attached.Text, s.bot).text; attached.IsMsgUnfurl && text != "" {
			list = append(list, chat.Said{Author: attached.AuthorName, Text: s.withNames(ctx, text), At: said.At})
		}
	}
	return list
}

// mentionedID is how readMrkdwn leaves a mention whose name the message does not tell.
var mentionedID = regexp.MustCompile(`@([UW][A-Z0-9]{5,})\b`)

// withNames puts names in the place of people's ids.
func (s sender) withNames(ctx context.Context, text string) string {
	return mentionedID.ReplaceAllStringFunc(text, func(mention string) string {
		if name := s.nameOf(ctx, mention[1:]); name != "" {
			return "@" + name
		}
		return mention
	})
}

// maxNames is of how many people the names are remembered.
const maxNames = 5000

// nameCache has the names of people, by team and id. The zero value is ready.
type nameCache struct {
	mu    sync.Mutex
	known map[[2]string]string
}

// nameOf is what a person is called, "" where Slack does not tell.
func (s sender) nameOf(ctx context.Context, user string) string {
	if user == "" {
		return ""
	}
	key := [2]string{s.at.team, user}
	s.adapter.names.mu.Lock()
	name, known := s.adapter.names.known[key]
	s.adapter.names.mu.Unlock()
	if known {
		return name
	}
	err := s.callMethod(ctx, userInfo, func() error {
		person, err := s.api.GetUserInfoContext(ctx, user)
		if err == nil {
			name = firstOf(person.Profile.DisplayName, person.RealName, person.Name)
		}
		return err
	})
	if err != nil {
		s.adapter.options.Logger.WarnContext(ctx, "slack user not read", "team", s.at.team, "error", err)
		return ""
	}
	s.adapter.names.mu.Lock()
	defer s.adapter.names.mu.Unlock()
	if s.adapter.names.known == nil || len(s.adapter.names.known) >= maxNames {
		s.adapter.names.known = make(map[[2]string]string)
	}
	s.adapter.names.known[key] = name
	return name
}

func firstOf(given ...string) string {
	for _, name := range given {
		if name != "" {
			return name
		}
	}
	return ""
}
