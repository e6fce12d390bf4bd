package discord

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// Channels reads what people said in channels, and marks what is kept of it.
type Channels struct{ adapter *Adapter }

// NewChannels gives the channels of the servers that an adapter serves.
func NewChannels(adapter *Adapter) *Channels { return &Channels{adapter} }

var (
	_ chat.ChannelReader = (*Channels)(nil)
	_ chat.Keeper        = (*Channels)(nil)
)

const (
	// maxListedPages is how many pages of a channel's messages, or of its archived threads, are read.
	maxListedPages = 200
	// maxHops is how many replies are followed back to the message that a conversation began with.
	maxHops = 50
	// keptMark is the reaction on what the bot was told to remember.
	keptMark = "📌"
)

// markNames are the reactions that say something about a message.
var markNames = map[string]chat.MarkKind{
	"✅": chat.MarkSettled, "✔️": chat.MarkSettled, "✔": chat.MarkSettled, "☑️": chat.MarkSettled, "☑": chat.MarkSettled,
	"👍": chat.MarkLiked, "💯": chat.MarkLiked, "🙏": chat.MarkLiked, "🙌": chat.MarkLiked,
	keptMark: chat.MarkKept,
}

// channelReading is the reading of one channel for the index.
type channelReading struct {
	room    room
	channel wireChannel
}

// readChannel looks whether a channel may be read. Discord shows an app without the permission to
// read the history, or the intent for content, nothing, and no error.
func (c *Channels) readChannel(ctx context.Context, id chat.ChannelID) (channelReading, error) {
	name, guild, channel := id.Split()
	a := c.adapter
	if name != Name || !snowflake.MatchString(guild) || !snowflake.MatchString(channel) {
		return channelReading{}, fmt.Errorf("%q is no channel of Discord's", id)
	}
	if !a.options.HearsAll {
		return channelReading{}, errors.New("an app is sent what people write on Discord only with the MESSAGE CONTENT intent: turn it on at discord.com/developers → your app → Bot, and set discord.message_content")
	}
	r, err := a.openRoom(ctx, place{guild: guild, channel: channel}.threadID(), "")
	if err != nil {
		return channelReading{}, err
	}
	reading := channelReading{room: r}
	err = a.callAPI(ctx, request{does: "look at a channel", method: http.MethodGet, url: discordgo.EndpointChannel(channel)}, &reading.channel)
	if err != nil {
		return reading, err
	}
	if kind := reading.channel.Type; reading.channel.GuildID != guild || kind != textChannel && kind != newsChannel && kind != forumChannel {
		return reading, fmt.Errorf("channel %s is no text channel or forum of server %s: %w", channel, guild, chat.ErrGone)
	}
	member, err := a.lookUpMember(ctx, guild, r.bot)
	if err != nil {
		return reading, err
	}
	plan, err := a.layoutOf(ctx, guild)
	if err == nil && !slices.Contains(plan.visibleChannels(guild, r.bot, member.roles), channel) {
		err = fmt.Errorf("channel %s does not let the bot read its history: %w", channel, chat.ErrGone)
	}
	return reading, err
}

// DescribeChannel implements chat.ChannelReader.
func (c *Channels) DescribeChannel(ctx context.Context, channel chat.ChannelID) (chat.Channel, error) {
	reading, err := c.readChannel(ctx, channel)
	if err != nil {
		return chat.Channel{}, err
	}
	where, err := c.adapter.threadPlace(ctx, reading.room.at, reading.channel.ID)
	return chat.Channel{Name: reading.channel.Name, Place: where}, err
}

// ListThreads implements chat.ChannelReader: the public threads of the channel, and where it is no
// forum the conversations that people hold in it by replying to one another.
func (c *Channels) ListThreads(ctx context.Context, channel chat.ChannelID, since time.Time) iter.Seq2[chat.ThreadHead, error] {
	return func(yield func(chat.ThreadHead, error) bool) {
		reading, err := c.readChannel(ctx, channel)
		if err != nil {
			yield(chat.ThreadHead{}, err)
			return
		}
		var heads []chat.ThreadHead
		for _, list := range []func(context.Context, time.Time) ([]chat.ThreadHead, error){reading.listActive, reading.listArchived, reading.listInPlace} {
			found, err := list(ctx, since)
			if err != nil {
				yield(chat.ThreadHead{}, err)
				return
			}
			heads = append(heads, found...)
		}
		for _, head := range heads {
			if !yield(head, nil) {
				return
			}
		}
	}
}

// listActive lists the threads that are open.
func (r channelReading) listActive(ctx context.Context, since time.Time) ([]chat.ThreadHead, error) {
	var told struct {
		Threads []wireChannel `json:"threads"`
	}
	err := r.room.adapter.callAPI(ctx, request{does: "list the active threads", method: http.MethodGet, url: discordgo.EndpointGuildActiveThreads(r.room.at.guild)}, &told)
	return r.headsOf(told.Threads, since), err
}

// headsOf describes those of some threads that are the channel's, and open to whoever reads that.
func (r channelReading) headsOf(threads []wireChannel, since time.Time) []chat.ThreadHead {
	var heads []chat.ThreadHead
	for _, thread := range threads {
		if thread.ParentID == r.channel.ID && thread.Type != privateThread && !bornAt(thread.ID).Before(since) {
			heads = append(heads, r.threadHead(thread.ID, thread.MessageCount, thread.LastMessage))
		}
	}
	return heads
}

func (r channelReading) threadHead(thread string, count int, last string) chat.ThreadHead {
	return chat.ThreadHead{
		Thread: place{guild: r.room.at.guild, channel: thread}.threadID(), State: strconv.Itoa(count) + "/" + strings.Join(strings.Fields(last), ""),
	}
}

// listArchived lists the threads that were closed, the latest first.
func (r channelReading) listArchived(ctx context.Context, since time.Time) ([]chat.ThreadHead, error) {
	var heads []chat.ThreadHead
	before := ""
	for range maxListedPages {
		address := discordgo.EndpointChannelPublicArchivedThreads(r.channel.ID) + "?limit=100" + before
		var told struct {
			Threads []wireChannel `json:"threads"`
			More    bool          `json:"has_more"`
		}
		if err := r.room.adapter.callAPI(ctx, request{does: "list the archived threads", method: http.MethodGet, url: address}, &told); err != nil {
			return nil, err
		}
		heads = append(heads, r.headsOf(told.Threads, since)...)
		if !told.More || len(told.Threads) == 0 {
			return heads, nil
		}
		last := told.Threads[len(told.Threads)-1]
		if last.Thread == nil || last.Thread.Archived == "" {
			return heads, nil
		}
		before = "&before=" + url.QueryEscape(last.Thread.Archived)
	}
	return heads, nil
}

// listInPlace lists the conversations of the channel that are held by replies.
func (r channelReading) listInPlace(ctx context.Context, since time.Time) ([]chat.ThreadHead, error) {
	if r.channel.Type == forumChannel {
		return nil, nil
	}
	var messages []wireMessage // the latest first
	before := ""
	for range maxListedPages {
		page, err := r.room.readPage(ctx, before)
		if err != nil {
			return nil, err
		}
		messages = append(messages, page...)
		if len(page) < pageSize || bornAt(page[len(page)-1].ID).Before(since) {
			break
		}
		before = page[len(page)-1].ID
	}
	slices.Reverse(messages)
	var heads []chat.ThreadHead
	for _, chain := range chainsOf(messages) {
		if first := chain[0]; !bornAt(first.ID).Before(since) && !first.hasThread() && (len(chain) > 1 || first.isKept()) {
			heads = append(heads, r.chainHead(chain))
		}
	}
	return heads, nil
}

// chainHead describes a conversation in place.
func (r channelReading) chainHead(chain []wireMessage) chat.ThreadHead {
	edits, reactions := 0, 0
	for _, message := range chain {
		if message.Edited != nil {
			edits++
		}
		for _, reaction := range message.Reactions {
			reactions += reaction.Count
		}
	}
	return chat.ThreadHead{
		Thread: place{guild: r.room.at.guild, channel: r.room.at.channel, root: chain[0].ID}.threadID(),
		State:  fmt.Sprintf("%d/%s/%d/%d", len(chain), chain[len(chain)-1].ID, edits, reactions),
	}
}

// chainsOf groups messages of a channel, oldest first, by the messages that they reply to in the end.
func chainsOf(messages []wireMessage) [][]wireMessage {
	var chains [][]wireMessage
	at := make(map[string]int)
	for _, message := range messages {
		chain, ok := 0, false
		if message.Replied != nil {
			chain, ok = at[message.Replied.ID]
		}
		if !ok {
			chain, chains = len(chains), append(chains, nil)
		}
		at[message.ID] = chain
		chains[chain] = append(chains[chain], message)
	}
	return chains
}

func (m wireMessage) isKept() bool {
	for _, reaction := range m.Reactions {
		if reaction.Emoji.Name == keptMark && reaction.Me {
			return true
		}
	}
	return false
}

// ReadThread implements chat.ChannelReader. A conversation in place may be named by any of its
// messages, a thread also by the message that it was started from.
func (c *Channels) ReadThread(ctx context.Context, channel chat.ChannelID, thread chat.ThreadID) (chat.ChannelThread, error) {
	reading, err := c.readChannel(ctx, channel)
	if err != nil {
		return chat.ChannelThread{}, err
	}
	at, err := parseThread(thread)
	if err != nil || at.private != "" || at.guild != reading.room.at.guild {
		return chat.ChannelThread{}, fmt.Errorf("read thread %s: it is none of channel %s: %w", thread, channel, chat.ErrGone)
	}
	if at.root != "" && at.channel == reading.channel.ID {
		return reading.readChain(ctx, at.root)
	}
	return reading.readStarted(ctx, at.channel)
}

// readStarted reads a thread that is a channel of its own.
func (r channelReading) readStarted(ctx context.Context, thread string) (chat.ChannelThread, error) {
	var told wireChannel
	err := r.room.adapter.callAPI(ctx, request{does: "look at a thread", method: http.MethodGet, url: discordgo.EndpointChannel(thread)}, &told)
	if err != nil {
		return chat.ChannelThread{}, err
	}
	if told.ParentID != r.channel.ID || !isThread(told.Type) || told.Type == privateThread {
		return chat.ChannelThread{}, fmt.Errorf("thread %s is none of channel %s: %w", thread, r.channel.ID, chat.ErrGone)
	}
	r.room.at = place{guild: r.room.at.guild, channel: thread}
	var messages []wireMessage
	err = r.room.readMessages(ctx, func(message wireMessage) bool { // the latest first
		messages = append(messages, message)
		return len(messages) < chat.MaxThreadMessages
	})
	if err != nil {
		return chat.ChannelThread{}, err
	}
	slices.Reverse(messages)
	if len(messages) > 0 && messages[0].Type == starterMessage {
		if messages[0].Replied == nil { // it was deleted
			messages[0] = wireMessage{ID: thread}
		} else {
			messages[0] = *messages[0].Replied
		}
	}
	if r.channel.Type != forumChannel && (len(messages) == 0 || messages[0].ID != thread) {
		first, err := r.readFirst(ctx, thread)
		if err != nil {
			return chat.ChannelThread{}, err
		}
		messages = append([]wireMessage{first}, messages...)
	}
	found := r.describeMessages(messages)
	found.ThreadHead, found.Title = r.threadHead(thread, told.MessageCount, told.LastMessage), told.Name
	if r.channel.Type != forumChannel { // the bot names the others by what was said
		found.Title = ""
	}
	found.URL = messageLink(r.room.at.guild, thread, "")
	return found, nil
}

// readFirst reads the message of the channel that a thread was started from; one without words where it
// was deleted.
func (r channelReading) readFirst(ctx context.Context, id string) (wireMessage, error) {
	var first wireMessage
	err := r.room.adapter.callAPI(ctx, request{does: "read a message", method: http.MethodGet, url: discordgo.EndpointChannelMessage(r.channel.ID, id)}, &first)
	if errors.Is(err, chat.ErrGone) {
		return wireMessage{ID: id}, nil
	}
	return first, err
}

// starterMessage is the type of the first message of a thread that was started from a message.
const starterMessage = 21

// readChain reads a conversation in place that a message belongs to.
func (r channelReading) readChain(ctx context.Context, id string) (chat.ChannelThread, error) {
	first, err := r.findFirst(ctx, id)
	if err != nil {
		return chat.ChannelThread{}, err
	}
	if first.hasThread() {
		return r.readStarted(ctx, first.ID)
	}
	messages := []wireMessage{first}
	after := first.ID
	for range chat.MaxThreadMessages / pageSize {
		address := fmt.Sprintf("%s?limit=%d&after=%s", discordgo.EndpointChannelMessages(r.channel.ID), pageSize, after)
		var page []wireMessage
		if err := r.room.adapter.callAPI(ctx, request{does: "read messages", method: http.MethodGet, url: address}, &page); err != nil {
			return chat.ChannelThread{}, err
		}
		slices.Reverse(page)
		messages = append(messages, page...)
		if len(page) < pageSize {
			break
		}
		after = page[len(page)-1].ID
	}
	chain := chainsOf(messages)[0]
	found := r.describeMessages(chain)
	found.ThreadHead = r.chainHead(chain)
	found.URL = messageLink(r.room.at.guild, r.channel.ID, first.ID)
	return found, nil
}

// findFirst follows replies back from a message to the one that the conversation began with.
func (r channelReading) findFirst(ctx context.Context, id string) (wireMessage, error) {
	var found wireMessage
	for range maxHops {
		var told wireMessage
		err := r.room.adapter.callAPI(ctx, request{does: "read a message", method: http.MethodGet, url: discordgo.EndpointChannelMessage(r.channel.ID, id)}, &told)
		if errors.Is(err, chat.ErrGone) && found.ID != "" { // what it replies to was deleted
			return found, nil
		}
		if err != nil {
			return found, err
		}
		if found = told; told.Replied == nil || told.Replied.ID == "" {
			return found, nil
		}
		id = told.Replied.ID
	}
	return found, nil
}

func messageLink(guild, channel, message string) string {
	return strings.TrimSuffix("https://discord.com/channels/"+guild+"/"+channel+"/"+message, "/")
}

// describeMessages translates messages as they stand. A person who has helped is shown by a line
// of the bot's, which settles the thread.
func (r channelReading) describeMessages(messages []wireMessage) chat.ChannelThread {
	var found chat.ChannelThread
	settled := false
	for _, message := range messages {
		read := r.channelMessage(message)
		settled = settled || read.Self && strings.HasPrefix(message.Content, interact.ClosedHelp)
		found.Messages = append(found.Messages, read)
	}
	if settled {
		found.Messages[0].Marks = append(found.Messages[0].Marks, chat.Mark{Kind: chat.MarkSettled, Self: true})
	}
	return found
}

func (r channelReading) channelMessage(message wireMessage) chat.ChannelMessage {
	read := chat.ChannelMessage{
		ID: source{channel: message.ChannelID, message: message.ID}.messageID(), At: sentAt(message.Timestamp, message.ID),
		Text: readContent(message, identity{user: r.room.bot}),
	}
	if by := message.Author; by != nil {
		read.Author, read.Self = chat.UserID(by.ID), by.ID == r.room.bot
		read.App = !read.Self && (by.Bot || message.WebhookID != "" || message.Type != plainMessage && message.Type != replyMessage)
		if read.Name = by.Global; read.Name == "" {
			read.Name = by.Username
		}
	}
	for _, reaction := range message.Reactions {
		if kind, ok := markNames[reaction.Emoji.Name]; ok {
			mark := chat.Mark{Kind: kind, Count: reaction.Count, Self: reaction.Me}
			if reaction.Me {
				mark.Count--
			}
			read.Marks = append(read.Marks, mark)
		}
	}
	return read
}
