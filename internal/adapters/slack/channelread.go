package slack

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Channels reads what people said in channels, and marks what is kept of it.
type Channels struct{ adapter *Adapter }

// NewChannels gives the channels of the workspaces that an adapter has access to.
func NewChannels(adapter *Adapter) *Channels { return &Channels{adapter} }

var (
	_ chat.ChannelReader = (*Channels)(nil)
	_ chat.Keeper        = (*Channels)(nil)
)

const (
	// historyPage is how many messages of a channel are read at once.
	historyPage = 200
	// readPatience is how long a call that reads a channel for the index waits for its turn: nobody
	// waits for it.
	readPatience = 5 * time.Minute
	// keptMark is the reaction on what the bot was told to remember.
	keptMark = "pushpin"
)

// markNames are the reactions that say something about a message.
var markNames = map[string]chat.MarkKind{
	settledMark: chat.MarkSettled, "heavy_check_mark": chat.MarkSettled, "ballot_box_with_check": chat.MarkSettled,
	"+1": chat.MarkLiked, "thumbsup": chat.MarkLiked, "100": chat.MarkLiked, "pray": chat.MarkLiked, "raised_hands": chat.MarkLiked,
	keptMark: chat.MarkKept,
}

// placeOfChannel reads the id of a channel of this adapter's.
func placeOfChannel(channel chat.ChannelID) (place, error) {
	adapter, team, id := channel.Split()
	at := place{team: team, channel: id}
	if adapter != Name || !slackID.MatchString(team) || !slackID.MatchString(id) {
		return place{}, fmt.Errorf("%q is no channel of Slack's", channel)
	}
	return at, nil
}

// channelReader reads one channel, in turns that others leave over.
func (c *Channels) channelReader(ctx context.Context, channel chat.ChannelID) (sender, error) {
	at, err := placeOfChannel(channel)
	if err != nil {
		return sender{}, err
	}
	s, err := c.adapter.senderOf(ctx, at)
	s.patience, s.modest = readPatience, true
	return s, err
}

// DescribeChannel implements chat.ChannelReader. A channel that the app is not in is gone, for it
// hears of nothing that happens there.
func (c *Channels) DescribeChannel(ctx context.Context, channel chat.ChannelID) (chat.Channel, error) {
	s, err := c.channelReader(ctx, channel)
	if err != nil {
		return chat.Channel{}, err
	}
	var told *slack.Channel
	err = s.callMethod(ctx, channelInfo, func() error {
		var err error
		told, err = s.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: s.at.channel})
		return err
	})
	if err != nil {
		return chat.Channel{}, err
	}
	if !told.IsMember || told.IsIM {
		return chat.Channel{}, fmt.Errorf("look at channel %s of Slack's: %w", s.at.channel, chat.ErrGone)
	}
	where, err := c.adapter.describePlace(ctx, s.at)
	return chat.Channel{Name: told.Name, Place: where}, err
}

// ListThreads implements chat.ChannelReader.
func (c *Channels) ListThreads(ctx context.Context, channel chat.ChannelID, since time.Time) iter.Seq2[chat.ThreadHead, error] {
	return func(yield func(chat.ThreadHead, error) bool) {
		s, err := c.channelReader(ctx, channel)
		if err != nil {
			yield(chat.ThreadHead{}, err)
			return
		}
		ask := &slack.GetConversationHistoryParameters{ChannelID: s.at.channel, Limit: historyPage, Oldest: strconv.FormatInt(since.Unix(), 10) + ".000000"}
		for {
			var page *slack.GetConversationHistoryResponse
			err := s.callMethod(ctx, readHistory, func() error {
				var err error
				page, err = s.api.GetConversationHistoryContext(ctx, ask)
				return err
			})
			if err != nil {
				yield(chat.ThreadHead{}, err)
				return
			}
			for _, message := range page.Messages {
				isThread := message.ReplyCount > 0 || s.isKept(message)
				if isThread && timestamp.MatchString(message.Timestamp) && !yield(s.threadHead(message), nil) {
					return
				}
			}
			if ask.Cursor = page.ResponseMetaData.NextCursor; !page.HasMore || ask.Cursor == "" {
				return
			}
		}
	}
}

// isKept reports whether the bot marked a message as kept.
func (s sender) isKept(message slack.Message) bool {
	return slices.ContainsFunc(message.Reactions, func(r slack.ItemReaction) bool { return r.Name == keptMark && slices.Contains(r.Users, s.bot) })
}

// threadHead describes a thread by its first message.
func (s sender) threadHead(message slack.Message) chat.ThreadHead {
	s.at.root = message.Timestamp
	edited, reactions := "", 0
	if message.Edited != nil {
		edited = message.Edited.Timestamp
	}
	for _, reaction := range message.Reactions {
		reactions += reaction.Count
	}
	state := fmt.Sprintf("%d/%s/%s/%d/%s", message.ReplyCount, message.LatestReply, edited, reactions, message.SubType)
	return chat.ThreadHead{Thread: s.at.threadID(), State: strings.Join(strings.Fields(state), "")}
}

// ReadThread implements chat.ChannelReader.
func (c *Channels) ReadThread(ctx context.Context, channel chat.ChannelID, thread chat.ThreadID) (chat.ChannelThread, error) {
	s, err := c.channelReader(ctx, channel)
	if err != nil {
		return chat.ChannelThread{}, err
	}
	at, err := parseThread(thread)
	if err != nil || at.private != "" || at.channel != s.at.channel || at.team != s.at.team {
		return chat.ChannelThread{}, fmt.Errorf("read thread %s: it is none of channel %s: %w", thread, channel, chat.ErrGone)
	}
	s.at = at
	found, err := s.readChannelThread(ctx)
	if err != nil && !errors.Is(err, chat.ErrGone) {
		return found, fmt.Errorf("read thread %s: %w", thread, err)
	}
	return found, err
}

// readChannelThread reads the sender's thread. Where the place is a reply's it is that of the reply.
func (s sender) readChannelThread(ctx context.Context) (chat.ChannelThread, error) {
	var found chat.ChannelThread
	root := s.at.root
	err := s.readMessages(ctx, "", func(message slack.Message) bool {
		if len(found.Messages) == 0 && message.ThreadTimestamp != "" {
			root = message.ThreadTimestamp
		}
		if root != s.at.root {
			return false
		}
		if len(found.Messages) == 0 {
			found.ThreadHead = s.threadHead(message)
		}
		found.Messages = append(found.Messages, s.channelMessage(ctx, message))
		return len(found.Messages) < chat.MaxThreadMessages
	})
	switch {
	case err == nil && root != s.at.root && timestamp.MatchString(root):
		s.at.root = root
		return s.readChannelThread(ctx)
	case refusalName(err) == "thread_not_found" || err == nil && len(found.Messages) == 0:
		return found, fmt.Errorf("read thread %s: %w", s.at.threadID(), chat.ErrGone)
	}
	found.URL = s.linkTo(ctx)
	return found, err
}

// channelMessage translates a message as it stands. Of a deleted one nothing is left but its place.
func (s sender) channelMessage(ctx context.Context, message slack.Message) chat.ChannelMessage {
	read := chat.ChannelMessage{ID: chat.MessageID(message.Timestamp), At: timeOf(message.Timestamp)}
	if message.SubType == tombstone {
		return read
	}
	read.Author, read.Self = chat.UserID(message.User), message.User == s.bot
	read.App = !read.Self && (message.BotID != "" || message.User == "" || message.User == "USLACKBOT")
	read.Text = s.withNames(ctx, readMrkdwn(message.Text, s.bot).text)
	if !read.App && !read.Self {
		read.Name = s.nameOf(ctx, message.User)
	}
	for _, reaction := range message.Reactions {
		name, _, _ := strings.Cut(reaction.Name, "::") // the tone of a hand
		kind, ok := markNames[name]
		if !ok {
			continue
		}
		mark := chat.Mark{Kind: kind, Count: reaction.Count, Self: slices.Contains(reaction.Users, s.bot)}
		if mark.Self {
			mark.Count--
		}
		for _, user := range reaction.Users {
			if user != s.bot {
				mark.By = append(mark.By, chat.UserID(user))
			}
		}
		read.Marks = append(read.Marks, mark)
	}
	return read
}

// MarkKept implements chat.Keeper.
func (c *Channels) MarkKept(ctx context.Context, thread chat.ThreadID, message chat.MessageID, kept bool) error {
	s, err := c.adapter.senderFor(ctx, thread)
	if err != nil {
		return err
	}
	ts := s.at.root
	if message != "" {
		ts = string(message)
	}
	if s.at.private != "" || !timestamp.MatchString(ts) {
		return fmt.Errorf("mark message %s: %w", message, chat.ErrRefused)
	}
	on, does, done := slack.NewRefToMessage(s.at.channel, ts), addReaction, "already_reacted"
	call := func() error { return s.api.AddReactionContext(ctx, keptMark, on) }
	if !kept {
		does, done = removeReaction, "no_reaction"
		call = func() error { return s.api.RemoveReactionContext(ctx, keptMark, on) }
	}
	err = s.callMethod(ctx, does, call)
	if refusalName(err) == done {
		return nil
	}
	if refusalName(err) == "message_not_found" {
		err = errors.Join(err, chat.ErrGone)
	}
	return err
}

// ChannelOf implements chat.Keeper.
func (c *Channels) ChannelOf(_ context.Context, thread chat.ThreadID) (chat.ChannelID, bool, error) {
	at, err := parseThread(thread)
	if err != nil || at.private != "" || at.isDirect() {
		return "", false, err
	}
	return chat.NewChannelID(Name, at.team, at.channel), true, nil
}
