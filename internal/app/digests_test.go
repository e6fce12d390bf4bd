package app

import (
	"context"
	"errors"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/runs"
)

// places are the places of a platform, by thread.
type places map[chat.ThreadID]chat.Place

func (p places) Place(_ context.Context, thread chat.ThreadID) (chat.Place, error) {
	place, ok := p[thread]
	if !ok {
		return chat.Place{}, errors.New("it can't be found out")
	}
	return place, nil
}

// TestWhoReadsADigest has digests tell of no question that its readers could not read where it
// was asked.
func TestWhoReadsADigest(t *testing.T) {
	slack := places{
		"slack:T1:C1:channel": {Channel: "C1", Team: "T1"},
		"slack:T1:C1:1.1":     {Channel: "C1", Team: "T1"},
		"slack:T1:C2:1.1":     {Channel: "C2", Team: "T1", Open: true},
		"slack:T1:C3:1.1":     {Channel: "C3", Team: "T1"},
		"slack:T2:C4:1.1":     {Channel: "C4", Team: "T2", Open: true},
		"slack:T1:C5:1.1":     {Channel: "C5", Open: true}, // shared with another company
		"slack:T1:D1:1.1":     {},
		"slack:T1:C6:channel": {Channel: "C6"},
	}
	platforms := map[string]any{"slack": slack, "discord": places{"discord:1:2": {Channel: "C1", Team: "T1", Open: true}}}
	for channel, want := range map[chat.ThreadID]map[chat.ThreadID]bool{
		"slack:T1:C1:channel": {"slack:T1:C1:1.1": true, "slack:T1:C2:1.1": true},
		"slack:T1:C6:channel": {},
		"slack:T1:C9:channel": {},
		"web:pages":           {},
	} {
		for _, asked := range []chat.ThreadID{
			"slack:T1:C1:1.1", "slack:T1:C2:1.1", "slack:T1:C3:1.1", "slack:T2:C4:1.1", "slack:T1:C5:1.1", "slack:T1:D1:1.1", "slack:T1:C8:1.1", "discord:1:2", "web:K7", "terminal:x",
		} {
			readers := &channelReaders{platforms: platforms, channel: channel}
			if got := readers.mayRead(t.Context(), runs.Record{Thread: asked}); got != want[asked] {
				t.Errorf("in %s, what was asked in %s may be told: %v", channel, asked, got)
			}
		}
	}
}

func TestChannelThread(t *testing.T) {
	for channel, want := range map[chat.ChannelID]chat.ThreadID{"slack:T1:C1": "slack:T1:C1:channel", "discord:1:2": "discord:1:2", "web:a:b": ""} {
		if got, err := channelThread(channel); err == nil != (want != "") || want != "" && got != want {
			t.Errorf("%s is %q, %v", channel, got, err)
		}
	}
	sources := []config.Source{{Name: "a"}, {Name: "b", DigestChannel: "slack:T1:C1"}, {Name: "c", DigestChannel: "slack:T1:C1"}}
	if isFirstDigest(sources, "a") || !isFirstDigest(sources, "b") || isFirstDigest(sources, "c") {
		t.Error("the first digest is another one")
	}
}
