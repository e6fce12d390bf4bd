package slack

import "github.com/cairn-bot/cairn/internal/chat"

// ChannelOf gives the channel of a thread, with its team: "T1:C1"; "" for a thread that is
// not of this adapter.
func ChannelOf(thread chat.ThreadID) string {
	at, err := parseThread(thread)
	if err != nil {
		return ""
	}
	return at.team + ":" + at.channel
}
