package discord

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// TestAChannelIsRead has a thread, a conversation in place and a private channel.
func TestAChannelIsRead(t *testing.T) {
	w := newTeam(t, nil)
	asked := w.Say(w.ann, w.general, "how do I rotate the key").ID
	started := w.StartThread(w.ann, asked, "key")
	answer := w.Say(w.ben, started, "run keyctl").ID
	w.React(w.ann, answer, "✅", true)
	first := w.Say(w.ann, w.general, "who repairs the printer").ID
	reply := w.Reply(w.ben, first, "Otto does").ID
	w.Say(w.ann, w.general, "unrelated")
	channel := chat.NewChannelID(Name, w.guild.ID, w.general)
	channels := NewChannels(w.adapter)
	if found, err := channels.DescribeChannel(t.Context(), channel); err != nil || found.Name != "general" || !found.Place.Open || found.Place.Team != w.guild.ID {
		t.Errorf("%+v, %v", found, err)
	}
	inThread, inPlace := place{guild: w.guild.ID, channel: started}.threadID(), place{guild: w.guild.ID, channel: w.general, root: first}.threadID()
	var listed []chat.ThreadID
	for head, err := range channels.ListThreads(t.Context(), channel, time.Time{}) {
		if err != nil || head.State == "" {
			t.Fatalf("%+v, %v", head, err)
		}
		listed = append(listed, head.Thread)
	}
	if !slices.Equal(listed, []chat.ThreadID{inThread, inPlace}) {
		t.Errorf("listed %v", listed)
	}
	read := func(thread chat.ThreadID, want ...string) chat.ChannelThread {
		t.Helper()
		found, err := channels.ReadThread(t.Context(), channel, thread)
		var texts []string
		for _, m := range found.Messages {
			texts = append(texts, m.Name+": "+m.Text)
		}
		if err != nil || !slices.Equal(texts, want) {
			t.Errorf("%s: %q, %v", thread, texts, err)
		}
		return found
	}
	found := read(inThread, "Ann: how do I rotate the key", "Ben: run keyctl")
	if marks := found.Messages[len(found.Messages)-1].Marks; len(marks) != 1 || marks[0].Kind != chat.MarkSettled || marks[0].Count != 1 {
		t.Errorf("%+v", marks)
	}
	read(place{guild: w.guild.ID, channel: w.general, root: reply}.threadID(), "Ann: who repairs the printer", "Ben: Otto does") // named by any message
	if err := channels.MarkKept(t.Context(), inPlace, "", true); err != nil {
		t.Error(err)
	}
	if found = read(inPlace, "Ann: who repairs the printer", "Ben: Otto does"); len(found.Messages[0].Marks) != 1 || !found.Messages[0].Marks[0].Self {
		t.Errorf("%+v", found.Messages[0].Marks)
	}
	w.clean(t)
}
