package discord

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Name is the adapter's name in thread ids.
const Name = "discord"

// directGuild is what stands in the place of a server's id in direct conversations.
const directGuild = "@me"

// place is where a conversation is held. What an event tells, and what kind of channel
// it came from, is enough to make it, so that all processes make the same:
//
//	discord:server:channel            a thread, a forum post, a direct conversation ("@me")
//	discord:server:channel:root       in place in a channel, begun by the message or command root
//	discord:server:channel:root:user  the same, but seen by one person alone
//
// A thread that is started from a message has the message's id: a mention's conversation is
// discord:server:message before there is any thread.
type place struct {
	guild   string
	channel string
	root    string
	private chat.UserID // sees it alone; its root is the command that began it
}

func (p place) threadID() chat.ThreadID {
	local := p.guild + ":" + p.channel
	if p.root != "" {
		local += ":" + p.root
	}
	if p.private != "" {
		local += ":" + string(p.private)
	}
	return chat.NewThreadID(Name, local)
}

// snowflake is what ids of Discord look like. Recorded traffic has made-up ones with letters.
var snowflake = regexp.MustCompile(`^\w{1,32}$`)

// isValid tells a place that a thread id can be made of.
func (p place) isValid() bool {
	return (p.guild == directGuild || snowflake.MatchString(p.guild)) && snowflake.MatchString(p.channel) &&
		(p.root == "" || snowflake.MatchString(p.root)) &&
		(p.private == "" || p.root != "" && snowflake.MatchString(string(p.private)))
}

// ChannelThread gives the thread id by which something is posted in a channel itself.
func ChannelThread(channel chat.ChannelID) (chat.ThreadID, error) {
	_, guild, id := channel.Split()
	at := place{guild: guild, channel: id}
	if channel != chat.NewChannelID(Name, guild, id) || !at.isValid() || at.isDirect() {
		return "", fmt.Errorf("%q is no channel of Discord's", channel)
	}
	return at.threadID(), nil
}

func (p place) isDirect() bool { return p.guild == directGuild }

// parseThread reads a thread id of this adapter's.
func parseThread(id chat.ThreadID) (place, error) {
	parts := strings.Split(string(id), ":")
	var at place
	if len(parts) >= 3 && len(parts) <= 5 && parts[0] == Name {
		at = place{guild: parts[1], channel: parts[2]}
		if len(parts) > 3 {
			at.root = parts[3]
		}
		if len(parts) > 4 {
			at.private = chat.UserID(parts[4])
		}
	}
	if !at.isValid() || at.threadID() != id {
		return place{}, fmt.Errorf("%q is no thread of Discord's", id)
	}
	return at, nil
}

// source is what a person wrote or pressed, as chat.Message.ID tells of it:
// "channel.message" for a message, "channel..interaction" for a command or press, and
// "channel.message.interaction" for a command on a message.
type source struct {
	channel     string
	message     string
	interaction string
}

func (s source) messageID() chat.MessageID {
	id := s.channel + "." + s.message
	if s.interaction != "" {
		id += "." + s.interaction
	}
	return chat.MessageID(id)
}

// parseSource reads the id of a person's message; the zero source for any other.
func parseSource(id chat.MessageID) source {
	parts := strings.Split(string(id), ".")
	if len(parts) < 2 || len(parts) > 3 || !snowflake.MatchString(parts[0]) {
		return source{}
	}
	found := source{channel: parts[0], message: parts[1]}
	if len(parts) == 3 {
		found.interaction = parts[2]
	}
	return found
}

// idEpoch is the first millisecond of Discord's ids, in Unix milliseconds.
const idEpoch = 1420070400000

// bornAt is when an id was made; the zero time for what is no number.
func bornAt(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + idEpoch).UTC() //nolint:gosec // 42 bits fit
}

// shortenID writes an id in fewer characters.
func shortenID(id string) string {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != id {
		return "_" + id
	}
	return strconv.FormatUint(n, 36)
}

// expandID reads what shortenID wrote.
func expandID(text string) string {
	if rest, plain := strings.CutPrefix(text, "_"); plain {
		return rest
	}
	n, err := strconv.ParseUint(text, 36, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
