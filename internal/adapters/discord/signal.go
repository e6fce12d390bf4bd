package discord

import (
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// kind is what a signal asks for.
type kind int

const (
	kindIgnored   kind = iota // nothing; the reason says why
	kindSaid                  // a message: a question, a reply, a follow-up
	kindEdited                // a message was changed
	kindRetracted             // messages were deleted
	kindLearned               // of channels, threads and roles
	kindCommanded             // a slash command, or a command on a message
	kindPressed               // a button or menu of ours was used, or a form of ours sent
	kindCompleted             // a field of a command is being typed
	kindManaged               // /cairn-admin
	kindPinged                // Discord looks whether the endpoint is there
	kindReacted               // somebody reacted to a message, or took that back; or a thread is gone
)

// signal is what an event or interaction means to Cairn. Which of its fields are set
// depends on the kind.
type signal struct {
	kind   kind
	reason string // of ignored ones

	at      where
	root    string // of the place that the message which is replied to belongs to, if it is in place
	message chat.Message
	gone    []string // ids of retracted messages
	by      chat.UserID
	roles   []string // of who wrote or pressed

	called  bool // mentions the bot, or replies to it
	toOther bool // mentions somebody else
	roleful bool // mentions roles
	empty   bool // Discord does not tell what it says

	// verdict is what a reaction says that may be to a message of the bot's, Unrated for any other;
	// removed tells that it was taken back.
	verdict chat.Verdict
	removed bool

	interaction *interaction
	learned     []wireChannel
	role        string // of learned: the bot's own role in a server
}

// where is where something was said, as the event tells it.
type where struct {
	guild   string // directly in direct conversations
	channel string
	kind    int // of the channel, unknownChannel where it is not told
	parent  string
	name    string // of the channel
	message string // id of the message; "" for none
}

// interaction is what an interaction has beside.
type interaction struct {
	id          string
	token       string
	application string
	does        action        // of pressed
	message     string        // that was pressed on
	mark        *mark         // of that message
	words       string        // of a form, or of the field being typed
	field       string        // that is typed
	private     bool          // the answer is for one person alone
	mayManage   bool          // has the permission Manage Server
	admin       settings.Wish // of managed
	target      string        // message that a command is about
}

// dedupeKey names the signal for one that comes again; "" for those that may.
func (s signal) dedupeKey() string {
	switch {
	case s.kind == kindSaid:
		return "message " + s.at.channel + " " + s.at.message
	case s.kind == kindEdited:
		return "edit " + s.at.channel + " " + s.at.message + " " + s.message.At.String()
	case s.interaction != nil && s.kind != kindCompleted:
		return "interaction " + s.interaction.id
	}
	return ""
}

func ignoredSignal(reason string) signal { return signal{kind: kindIgnored, reason: reason} }

// placeIn gives the place of a conversation by what the event tells and how the channel is
// answered in.
func (w where) placeIn(root string, style settings.ReplyStyle) place {
	switch {
	case w.guild == directGuild, isThread(w.kind):
		return place{guild: w.guild, channel: w.channel}
	case root != "":
		return place{guild: w.guild, channel: w.channel, root: root}
	case style == settings.ReplyInThread && w.canStartThread():
		return place{guild: w.guild, channel: w.message}
	}
	return place{guild: w.guild, channel: w.channel, root: w.message}
}

// canStartThread tells whether threads can be started from the channel's messages.
func (w where) canStartThread() bool {
	return w.message != "" && (w.kind == textChannel || w.kind == newsChannel)
}

// isForumPost tells the first message of a forum's post: it has the post's own id.
func (w where) isForumPost() bool { return isThread(w.kind) && w.message == w.channel }
