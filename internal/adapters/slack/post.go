package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// metadataType is the type of the metadata that the bot's messages carry: the delivery
// key, which of the post's parts the message is, and of how many.
const metadataType = "cairn_post"

// part is one message of a post.
type part struct {
	key   chat.PostKey
	index int // 0 and up, filePart for the message of the files
	of    int // how many parts there are, with that of the files
	ts    string
}

const filePart = -1

func (p part) asPostPart() chat.PostPart {
	return chat.PostPart{Key: p.key, Index: p.index, Message: chat.MessageID(p.ts)}
}

// countParts is how many messages make up what was rendered.
func (r rendered) countParts() int {
	if len(r.files) > 0 {
		return len(r.notes) + 1
	}
	return len(r.notes)
}

func (p part) metadataOption() slack.MsgOption {
	return slack.MsgOptionMetadata(slack.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{
		"key": string(p.key), "part": p.index, "parts": p.of,
	}})
}

// partOf reads which part a message of the bot's is; false for others.
func partOf(message slack.Message) (part, bool) {
	found := part{ts: message.Timestamp}
	for _, file := range message.Files {
		if key, is := keyIn(file.Name); is {
			found.key, found.index = key, filePart
			return found, true
		}
	}
	if message.Metadata.EventType != metadataType {
		return part{}, false
	}
	key, isKey := message.Metadata.EventPayload["key"].(string)
	index, isIndex := message.Metadata.EventPayload["part"].(float64)
	of, isCount := message.Metadata.EventPayload["parts"].(float64)
	found.key, found.index, found.of = chat.PostKey(key), int(index), int(of)
	return found, isKey && isIndex && isCount
}

// sender posts into one thread.
type sender struct {
	adapter  *Adapter
	api      *slack.Client
	bot      string // its user id
	at       place
	patience time.Duration // how long a call waits by itself for its turn
	caller   string        // keeps a place in the line, "" keeps none
	order    time.Time     // of what it is about: the earlier goes first
	modest   bool          // it leaves turns to others
	title    string        // of the thread; "" where it is not known
}

func (a *Adapter) senderFor(ctx context.Context, thread chat.ThreadID) (sender, error) {
	at, err := parseThread(thread)
	if err != nil {
		return sender{}, fmt.Errorf("%w: %w", chat.ErrRefused, err)
	}
	return a.senderOf(ctx, at)
}

// senderOf posts at a place, of which the team is enough to find a direct conversation.
func (a *Adapter) senderOf(ctx context.Context, at place) (sender, error) {
	workspace, err := a.options.Workspaces.Workspace(ctx, at.team, "")
	if err != nil {
		return sender{}, fmt.Errorf("access Slack's team %s: %w", at.team, err)
	}
	return sender{adapter: a, api: a.newClient(workspace.Token), bot: workspace.Bot, at: at, patience: turnPatience}, nil
}

func (s sender) callMethod(ctx context.Context, m method, do func() error) error {
	err := s.adapter.pace.callPaced(ctx, turn{
		team: s.at.team, method: m, channel: s.at.channel, patience: s.patience, caller: s.caller, order: s.order, modest: s.modest,
	}, do)
	var later *chat.RetryAfterError
	if errors.As(err, &later) {
		return err
	}
	return classifyError(string(m), err)
}

// Post puts a post into its thread, in several messages where one can't hold it. One
// that was cut short is taken up where it ended. In a private thread only its person
// sees it.
func (a *Adapter) Post(ctx context.Context, thread chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	s, err := a.senderFor(ctx, thread)
	if err != nil {
		return "", err
	}
	s.caller, s.order = "post "+string(key), writtenAt(post.To)
	if s.at.private != "" {
		post.Only = s.at.private
	}
	shown, err := a.renderFor(post, s.at)
	if err != nil {
		return "", fmt.Errorf("%w: %w", chat.ErrRefused, err)
	}
	if post.Only != "" {
		return s.postPrivately(ctx, key, post.Only, shown)
	}
	var there []part
	if shown.countParts() > 1 {
		if there, err = s.readParts(ctx, key, ""); err != nil {
			return "", markUnposted(err)
		}
	}
	first, err := s.postMissing(ctx, key, shown, there)
	if err == nil && s.at.isDirect() {
		s.setSessionStatus(ctx, statusAfter(post))
	}
	return chat.MessageID(first), err
}

// markUnposted takes from an error what it says of a post: looking was all that was done.
func markUnposted(err error) error {
	var later *chat.RetryAfterError
	if errors.As(err, &later) || errors.Is(err, chat.ErrGone) {
		return err
	}
	return fmt.Errorf("look for what was posted before: %w", err)
}

// postMissing posts what of a post is not there yet and gives the ts of its first message.
func (s sender) postMissing(ctx context.Context, key chat.PostKey, shown rendered, there []part) (first string, err error) {
	posted := map[int]string{}
	for _, p := range there {
		posted[p.index] = p.ts
	}
	for i, one := range shown.notes {
		if posted[i] != "" {
			continue
		}
		ts, err := s.postPart(ctx, part{key: key, index: i, of: shown.countParts()}, one)
		if err != nil {
			return "", begunIf(len(posted) > 0, err)
		}
		posted[i] = ts
	}
	if len(shown.files) > 0 && posted[filePart] == "" {
		if err := s.uploadFiles(ctx, s.at, key, shown.files); err != nil {
			return "", markMaybePosted(err)
		}
	}
	return posted[0], nil
}

// markMaybePosted takes from an error the promise that nothing was posted, for where something may
// have been; nil stays nil.
func markMaybePosted(err error) error {
	var later *chat.RetryAfterError
	if errors.As(err, &later) || errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) {
		return fmt.Errorf("a part of the post may be there already: %v", err) //nolint:errorlint // what it wraps would say that nothing was posted
	}
	return err
}

func begunIf(something bool, err error) error {
	if something {
		return markMaybePosted(err)
	}
	return err
}

func (s sender) postPart(ctx context.Context, p part, shown note) (ts string, err error) {
	err = s.sendNote(shown, func(content []slack.MsgOption) error {
		options := append(slices.Clone(content), p.metadataOption())
		if s.at.root != "" {
			options = append(options, slack.MsgOptionTS(s.at.root))
		}
		return s.callMethod(ctx, postMessage, func() error {
			var err error
			_, ts, err = s.api.PostMessageContext(ctx, s.at.channel, options...)
			return err
		})
	})
	return ts, err
}

// sendNote sends a message, and where Slack refuses it for its table sends that as text.
func (s sender) sendNote(shown note, send func([]slack.MsgOption) error) error {
	err := send(s.contentOptions(shown))
	if shown.plain == nil || !tableRefusals[refusalName(err)] {
		return err
	}
	s.adapter.options.Logger.Warn("slack refused a table block; the table is posted as text", slog.Any("error", err))
	return send(s.contentOptions(shown.withoutTable()))
}

func (s sender) contentOptions(shown note) []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(shown.text, false), slack.MsgOptionBlocks(shown.blocks...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// postPrivately shows a post to one person. Where the app is not in the channel of a private
// thread, as a slash command can be given anywhere, the post goes to the direct
// conversation; so do files, which nothing else hides from the others.
func (s sender) postPrivately(ctx context.Context, key chat.PostKey, to chat.UserID, shown rendered) (chat.MessageID, error) {
	first := ""
	for _, one := range shown.notes {
		if s.at.private != "" {
			tellThread(one.blocks, s.at.threadID())
		}
		var ts string
		err := s.sendNote(one, func(content []slack.MsgOption) (err error) {
			ts, err = s.postEphemeral(ctx, to, content)
			return err
		})
		if s.at.private != "" && first == "" && errors.Is(err, chat.ErrGone) {
			return s.postDirect(ctx, key, to, shown)
		}
		if err != nil {
			return "", begunIf(first != "", err)
		}
		if first == "" {
			first = ts
		}
	}
	if len(shown.files) == 0 {
		return chat.MessageID(first), nil
	}
	channel, err := s.openDirect(ctx, to)
	if err == nil {
		err = s.uploadFiles(ctx, place{team: s.at.team, channel: channel}, key, shown.files)
	}
	return chat.MessageID(first), markMaybePosted(err)
}

// postEphemeral shows a message of the thread to one person.
func (s sender) postEphemeral(ctx context.Context, to chat.UserID, content []slack.MsgOption) (ts string, err error) {
	if s.at.root != "" {
		content = append(content, slack.MsgOptionTS(s.at.root))
	}
	err = s.callMethod(ctx, postEphemeral, func() error {
		var err error
		ts, err = s.api.PostEphemeralContext(ctx, s.at.channel, string(to), content...)
		return err
	})
	return ts, err
}

// postDirect posts to the direct conversation with a person.
func (s sender) postDirect(ctx context.Context, key chat.PostKey, to chat.UserID, shown rendered) (chat.MessageID, error) {
	channel, err := s.openDirect(ctx, to)
	if err != nil {
		return "", err
	}
	for _, one := range shown.notes {
		tellThread(one.blocks, s.at.threadID())
	}
	s.at = place{team: s.at.team, channel: channel}
	first, err := s.postMissing(ctx, key, shown, nil)
	return chat.MessageID(first), err
}

func (s sender) openDirect(ctx context.Context, to chat.UserID) (string, error) {
	channel, _, _, err := s.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{string(to)}})
	if err != nil {
		return "", classifyError("conversations.open", err)
	}
	return channel.ID, nil
}

// pageSize is how many messages of a thread are read at once.
const pageSize = 200

// readParts reads what of a post is in the thread, from a message on.
func (s sender) readParts(ctx context.Context, key chat.PostKey, from string) ([]part, error) {
	var found []part
	err := s.readMessages(ctx, from, func(message slack.Message) bool {
		if p, ok := s.partOf(message); ok && p.key == key {
			found = append(found, p)
		}
		return true
	})
	return found, err
}

// partOf reads which part of a post a message is; false for those of others.
func (s sender) partOf(message slack.Message) (part, bool) {
	p, ok := partOf(message)
	return p, ok && message.User == s.bot
}

// readMessages goes through the messages of the thread until visit wants no more.
func (s sender) readMessages(ctx context.Context, from string, visit func(slack.Message) bool) error {
	if s.at.whole {
		return s.readChannel(ctx, from, visit)
	}
	ask := &slack.GetConversationRepliesParameters{
		ChannelID: s.at.channel, Timestamp: s.at.root, Limit: pageSize, IncludeAllMetadata: true, Oldest: from, Inclusive: from != "",
	}
	for {
		var messages []slack.Message
		var more bool
		err := s.callMethod(ctx, readReplies, func() error {
			var err error
			messages, more, ask.Cursor, err = s.api.GetConversationRepliesContext(ctx, ask)
			return err
		})
		if err != nil {
			return err
		}
		for _, message := range messages {
			if !visit(message) {
				return nil
			}
		}
		if !more || ask.Cursor == "" {
			return nil
		}
	}
}

// maxChannelPages is how many pages of a channel are read for what was posted in it.
const maxChannelPages = 5

// readChannel goes through the latest messages of the channel itself, the earliest first, until
// visit wants no more.
func (s sender) readChannel(ctx context.Context, from string, visit func(slack.Message) bool) error {
	ask := &slack.GetConversationHistoryParameters{ChannelID: s.at.channel, Limit: pageSize, IncludeAllMetadata: true, Oldest: from, Inclusive: from != ""}
	var latest []slack.Message // the latest first
	for range maxChannelPages {
		var page *slack.GetConversationHistoryResponse
		err := s.callMethod(ctx, readHistory, func() error {
			var err error
			page, err = s.api.GetConversationHistoryContext(ctx, ask)
			return err
		})
		if err != nil {
			return err
		}
		latest = append(latest, page.Messages...)
		if ask.Cursor = page.ResponseMetaData.NextCursor; !page.HasMore || ask.Cursor == "" {
			break
		}
	}
	for _, message := range slices.Backward(latest) {
		if !visit(message) {
			return nil
		}
	}
	return nil
}

// findCaller is who looks for a post in a thread, in the line of those who look.
func findCaller(thread chat.ThreadID) string { return "find " + string(thread) }

// Find reads the thread for the messages of a key. A post of which a part is missing
// is not found: Post completes it. Of a part that is there twice the later is taken away.
// In private threads there is nothing to find.
func (a *Adapter) Find(ctx context.Context, thread chat.ThreadID, key chat.PostKey) (chat.MessageID, bool, error) {
	s, err := a.senderFor(ctx, thread)
	if err != nil || s.at.private != "" {
		return "", false, err
	}
	s.caller, s.order, s.patience = findCaller(thread), writtenAt(chat.MessageID(s.at.root)), lookPatience
	there, err := s.readParts(ctx, key, "")
	if err != nil {
		return "", false, err
	}
	posted := make([]chat.PostPart, len(there))
	for i, p := range there {
		posted[i] = p.asPostPart()
	}
	for _, p := range chat.FindDuplicates(posted, nil) {
		if err := s.deleteMessage(ctx, string(p.Message)); err != nil {
			return "", false, fmt.Errorf("take away what was posted twice: %w", err)
		}
	}
	first, of := "", 0
	seen := map[int]bool{}
	for _, p := range there { // the earliest first
		if p.index == 0 && first == "" {
			first, of = p.ts, p.of
		}
		seen[p.index] = true
	}
	return chat.MessageID(first), first != "" && len(seen) >= of, nil
}
