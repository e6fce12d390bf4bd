package chat

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"
)

// ChannelID names a channel of a platform: the adapter's name, the id of the workspace or server
// and the channel's, "slack:T0123:C0456" or "discord:8138:9012". ParseChannel makes one.
type ChannelID string

var channelForm = regexp.MustCompile(`^(slack|discord):\w{1,40}:\w{1,40}$`)

// ParseChannel reads the name of a channel.
func ParseChannel(text string) (ChannelID, error) {
	if !channelForm.MatchString(text) {
		return "", fmt.Errorf("%.100q: want slack:WORKSPACE:CHANNEL or discord:SERVER:CHANNEL, such as slack:T0123ABCD:C0456EFGH", text)
	}
	return ChannelID(text), nil
}

// NewChannelID makes the id of an adapter's channel.
func NewChannelID(adapter, team, channel string) ChannelID {
	return ChannelID(adapter + ":" + team + ":" + channel)
}

// Split gives the parts of an id that ParseChannel or NewChannelID made.
func (c ChannelID) Split() (adapter, team, channel string) {
	adapter, rest, _ := strings.Cut(string(c), ":")
	team, channel, _ = strings.Cut(rest, ":")
	return adapter, team, channel
}

// ChannelReader is an optional interface of an Adapter that can read what people said to one
// another in a channel. Its errors are as for Poster.Find; ErrGone for a channel or thread that is
// no more, or that the bot may not read.
type ChannelReader interface {
	// DescribeChannel tells what a channel is called, and who may read it.
	DescribeChannel(ctx context.Context, channel ChannelID) (Channel, error)
	// ListThreads yields the threads of a channel that began at a time or later, in no particular
	// order. Messages without a reply are left out, but those that the bot marked as kept. It stops
	// at the first error.
	ListThreads(ctx context.Context, channel ChannelID, since time.Time) iter.Seq2[ThreadHead, error]
	// ReadThread gives a thread with its messages as they stand, oldest first, at most
	// MaxThreadMessages.
	ReadThread(ctx context.Context, channel ChannelID, thread ThreadID) (ChannelThread, error)
}

// MaxThreadMessages is how many messages of a thread are read.
const MaxThreadMessages = 400

// Channel is what a platform tells of a channel.
type Channel struct {
	Name  string // without a sign before it: "support"
	Place Place
}

// ThreadHead is a thread as a listing tells of it.
type ThreadHead struct {
	Thread ThreadID
	// State is another text once a message was added to the thread, and where the platform tells
	// so in a listing also once one was edited, deleted or reacted to. It holds no white space.
	State string
}

// ChannelThread is a thread with its messages.
type ChannelThread struct {
	ThreadHead
	URL      string // of its first message, "" for none
	Title    string // that people gave it, "" for none
	Messages []ChannelMessage
}

// ChannelMessage is a message that stands in a channel.
type ChannelMessage struct {
	ID     MessageID // as the adapter's messages are named
	Author UserID    // "" where it is not known, as of a message that was deleted
	Name   string    // that people know the author by, "" where it is not known
	App    bool      // a program wrote it, not a person
	Self   bool      // the bot itself wrote it
	Text   string    // plain, with names in place of ids
	At     time.Time
	Marks  []Mark
}

// Mark is a reaction that says something about a message.
type Mark struct {
	Kind  MarkKind
	Count int      // how many people set it, the bot left out
	By    []UserID // those of them whom the platform names; it may name none
	Self  bool     // the bot set it as well
}

// MarkKind is what a reaction says.
type MarkKind string

// The kinds of marks: that a message settles something (✅), that somebody likes it (👍), and that
// it is kept (📌), which counts where the bot set it.
const (
	MarkSettled MarkKind = "settled"
	MarkLiked   MarkKind = "liked"
	MarkKept    MarkKind = "kept"
)

// Keeper is an optional interface of an Adapter that marks messages as kept, for everybody to see.
type Keeper interface {
	// MarkKept sets the bot's mark on a message of a thread, or on its first one for message "",
	// or takes it away. To set what is set, or to take away what is not there, is no error.
	// Errors are as for Poster.Edit.
	MarkKept(ctx context.Context, thread ThreadID, message MessageID, kept bool) error
	// ChannelOf tells in which channel a thread is; ok is false for one that is private.
	ChannelOf(ctx context.Context, thread ThreadID) (channel ChannelID, ok bool, err error)
}
