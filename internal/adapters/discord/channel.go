package discord

import "github.com/cairn-bot/cairn/internal/chat"

// ChannelOf gives the channel that a message was written in, with its server: "1:2"; ""
// for a message that is not of this adapter. A thread is a channel of its own: what is
// written in it does not tell the channel above it.
func ChannelOf(message chat.Message) string {
	at, err := parseThread(message.Thread)
	if err != nil {
		return ""
	}
	if channel := parseSource(message.ID).channel; channel != "" {
		return at.guild + ":" + channel
	}
	return at.guild + ":" + at.channel
}
