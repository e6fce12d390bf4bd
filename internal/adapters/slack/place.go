package slack

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Name is the adapter's name in thread ids.
const Name = "slack"

// place is where a conversation is held. Its thread id is "slack:team:channel:root". A
// thread that one person alone sees, as a slash command begins one, has no message that
// it starts at: its root is "user/request". What is posted in the channel itself, where each
// message begins a thread, has the root "channel".
type place struct {
	team    string
	channel string
	root    string // ts of the thread's first message; "" in a private one, and in the channel itself
	whole   bool   // the channel itself
	private chat.UserID
	request string // what tells private threads of a person apart
}

// wholeRoot stands in the place of a thread's first message for the channel itself.
const wholeRoot = "channel"

// ChannelThread gives the thread id by which something is posted in a channel itself.
func ChannelThread(channel chat.ChannelID) (chat.ThreadID, error) {
	at, err := placeOfChannel(channel)
	at.whole = true
	return at.threadID(), err
}

func (p place) threadID() chat.ThreadID {
	root := p.root
	if p.whole {
		root = wholeRoot
	}
	if p.private != "" {
		root = string(p.private) + "/" + p.request
	}
	return chat.NewThreadID(Name, p.team+":"+p.channel+":"+root)
}

// isValid tells a place that a thread id can be made of.
func (p place) isValid() bool {
	if !slackID.MatchString(p.team) || !slackID.MatchString(p.channel) {
		return false
	}
	if p.private != "" {
		return userID.MatchString(string(p.private)) && requestID.MatchString(p.request)
	}
	return p.whole || timestamp.MatchString(p.root)
}

// isDirect tells a direct conversation with the app.
func (p place) isDirect() bool { return strings.HasPrefix(p.channel, "D") }

// slackID is what ids of teams and channels look like, requestID what trigger ids do.
var (
	slackID   = regexp.MustCompile(`^[A-Z0-9]{1,40}$`)
	requestID = regexp.MustCompile(`^[\w.-]{1,120}$`)
)

var timestamp = regexp.MustCompile(`^\d{1,12}\.\d{1,8}$`)

// parseThread reads a thread id of this adapter's.
func parseThread(id chat.ThreadID) (place, error) {
	parts := strings.SplitN(string(id), ":", 4)
	var at place
	if len(parts) == 4 && parts[0] == Name {
		at = place{team: parts[1], channel: parts[2], root: parts[3]}
		if user, request, found := strings.Cut(parts[3], "/"); found {
			at.root, at.private, at.request = "", chat.UserID(user), request
		} else if parts[3] == wholeRoot {
			at.root, at.whole = "", true
		}
	}
	if !at.isValid() {
		return place{}, fmt.Errorf("%q is no thread of Slack's", id)
	}
	return at, nil
}
