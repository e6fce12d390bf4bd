package slack

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// kind is what a signal asks for.
type kind int

const (
	kindIgnored   kind = iota // nothing; the reason says why
	kindSaid                  // a message: a question, a reply, a follow-up
	kindEdited                // a message was changed
	kindRetracted             // a message was deleted
	kindPressed               // a button or field of ours was used
	kindSubmitted             // a form of ours was sent
	kindManaged               // a command of who manages the workspace
	kindAsked                 // a slash command, or a shortcut on a message: asked in private
	kindOpened                // the direct conversation, an assistant thread or the home tab was opened
	kindHalted                // Stop in the agent pane
	kindLeft                  // the app was removed from a workspace
	kindLimited               // Slack holds events back
	kindReacted               // somebody reacted to a message, or took that back
	kindPosted                // a workflow posted a message
	kindViewed                // a person looks at something else while the app is open
)

// signal is what an event, command or interaction of Slack's means to Cairn. Which of
// its fields are set depends on the kind.
type signal struct {
	kind   kind
	reason string // of ignored ones

	// event is the id of the delivery, "" where Slack gives none. A message that mentions
	// the bot comes twice, with two event ids, but with one place and message id.
	event string

	place      place
	enterprise string          // that the team belongs to; "" where it is not told
	told       string          // the bot's user, as the event tells it
	userTeam   string          // of the person, as the event tells it; "" where it does not
	wishes     []settings.Wish // of managed; none where the command was not understood
	message    chat.Message    // of said, edited and asked; of retracted its ID

	direct  bool // in a direct conversation
	reply   bool // in a thread, not its first message
	called  bool // mentions the bot
	toOther bool // mentions somebody else
	// calledNow is an edit that mentions the bot, which the message did not before.
	calledNow bool

	verb    interact.Verb // of pressed and submitted
	about   string
	value   string
	on      string // ts of the message whose button it is
	by      chat.UserID
	trigger string // opens a modal, once, within 3 s
	tab     string // of opened: "home" or "messages"
	viewed  string // of viewed: the channel, "" for none
	// verdict is what a reaction to a message of the bot's says, Unrated for any other; removed
	// tells that it was taken back.
	verdict chat.Verdict
	removed bool
}

// hasMore tells that the message may have been handed over already, without its files: of one
// that mentions the bot an app_mention tells as well, which has none.
func (s signal) hasMore() bool {
	return s.kind == kindSaid && s.called && !s.direct && len(s.message.Files) > 0
}

// dedupeKeys are what the signal is known by when it comes again.
func (s signal) dedupeKeys() []string {
	var keys []string
	if s.event != "" {
		keys = append(keys, "event "+s.event)
	}
	switch {
	case s.hasMore():
		keys = append(keys, s.messageKey("files"))
	case s.kind == kindSaid, s.kind == kindPosted:
		keys = append(keys, s.messageKey("message"))
	}
	return keys
}

// doneKeys are what is known once the signal was dealt with: after a message with its files
// nothing is left of the same without them.
func (s signal) doneKeys() []string {
	keys := s.dedupeKeys()
	if s.hasMore() {
		keys = append(keys, s.messageKey("message"))
	}
	return keys
}

func (s signal) messageKey(kind string) string {
	return strings.Join([]string{kind, s.place.team, s.place.channel, string(s.message.ID)}, " ")
}

func ignoredSignal(reason string) signal { return signal{kind: kindIgnored, reason: reason} }
