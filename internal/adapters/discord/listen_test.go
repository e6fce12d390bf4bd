package discord

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

func TestWhoIsHeard(t *testing.T) {
	channel := where{guild: "1", channel: "2", kind: textChannel, message: "3"}
	thread := where{guild: "1", channel: "2", kind: publicThread, message: "3", parent: "9"}
	post := where{guild: "1", channel: "2", kind: publicThread, message: "2", parent: "9"}
	says := func(at where, text string) signal {
		return signal{kind: kindSaid, at: at, by: "ann", message: chat.Message{Text: text, Author: "ann"}}
	}
	called := says(channel, "thanks")
	called.called = true
	other := says(thread, "what is this?")
	other.toOther = true
	empty := says(thread, "")
	empty.empty = true
	annTalks, benTalks := interact.Part{Taken: true, Last: "ann"}, interact.Part{Taken: true, Last: "ben"}
	mention := settings.ModeMention
	for name, test := range map[string]struct {
		of   signal
		how  settings.Mode
		now  interact.Part
		want bool
	}{
		"directly":                            {says(where{guild: directGuild, channel: "2"}, "thanks"), settings.ModeOff, interact.Part{}, true},
		"a mention":                           {called, mention, interact.Part{}, true},
		"a mention where the bot is off":      {called, settings.ModeOff, interact.Part{}, false},
		"a question in the channel":           {says(channel, "who knows?"), mention, interact.Part{}, false},
		"a question where all are heard":      {says(channel, "who knows?"), settings.ModeQuestions, interact.Part{}, true},
		"a remark where all are heard":        {says(channel, "lunch."), settings.ModeQuestions, interact.Part{}, false},
		"a question in a strange thread":      {says(thread, "how so?"), mention, interact.Part{}, false},
		"a question where threads are heard":  {says(thread, "how so?"), settings.ModeThread, interact.Part{}, true},
		"a channel where threads are heard":   {says(channel, "how so?"), settings.ModeThread, interact.Part{}, false},
		"a follow-up":                         {says(thread, "and on staging"), mention, annTalks, true},
		"thanks":                              {says(thread, "Thank you so much!"), mention, annTalks, false},
		"a telling":                           {says(thread, "I'll try that"), mention, annTalks, false},
		"a question that begins as a telling": {says(thread, "I see, and on staging?"), mention, annTalks, true},
		"another's question":                  {says(thread, "does it work?"), mention, benTalks, true},
		"another's remark":                    {says(thread, "it works"), mention, benTalks, false},
		"to somebody else":                    {other, mention, annTalks, false},
		"what is not told":                    {empty, mention, annTalks, false},
		"an answer":                           {says(thread, "yes"), mention, interact.Part{Taken: true, Waiting: true, Asker: "ann"}, true},
		"an answer to another's question":     {says(thread, "yes"), mention, interact.Part{Taken: true, Waiting: true, Asker: "ben"}, false},
		"a word to stop":                      {says(thread, "never mind"), mention, benTalks, true},
		"a new post":                          {says(post, "My laptop is broken."), settings.ModeThread, interact.Part{}, true},
		"a new post where none are heard":     {says(post, "Why?"), mention, interact.Part{}, false},
	} {
		if got := test.of.toIncoming(test.how).Decide(test.now); got.Hear != test.want {
			t.Errorf("%s: heard is %v (%s), want %v", name, got.Hear, got.Reason, test.want)
		}
	}
}
