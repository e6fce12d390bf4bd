package discord

import (
	"testing"

	"cairn/internal/chat"
	"cairn/internal/chat/listening"
	"cairn/internal/chat/settings"
)

func TestWhoIsHeard(t *testing.T) {
	channel := where{guild: "1", channel: "2", kind: textChannel, message: "3"}
	thread := where{guild: "1", channel: "2", kind: publicThread, message: "3", parent: "9"}
	post := where{guild: "1", channel: "2", kind: publicThread, message: "2", parent: "9"}
	says := func(at where, text string) signal {
		return signal{kind: said, at: at, by: "ann", message: chat.Message{Text: text, Author: "ann"}}
	}
	called := says(channel, "thanks")
	called.called = true
	other := says(thread, "what is this?")
	other.toOther = true
	empty := says(thread, "")
	empty.empty = true
	staff := called
	staff.roles = []string{"8", "7"}
	annTalks, benTalks := listening.Part{Taken: true, Last: "ann"}, listening.Part{Taken: true, Last: "ben"}
	mention := settings.Setting{Mode: settings.ModeMention}
	for name, test := range map[string]struct {
		of   signal
		how  settings.Setting
		now  listening.Part
		want bool
	}{
		"directly":                            {says(where{guild: directly, channel: "2"}, "thanks"), settings.Setting{Mode: settings.ModeOff}, listening.Part{}, true},
		"a mention":                           {called, mention, listening.Part{}, true},
		"a mention where the bot is off":      {called, settings.Setting{Mode: settings.ModeOff}, listening.Part{}, false},
		"a mention without the role":          {called, settings.Setting{Mode: settings.ModeMention, Askers: []string{"7"}}, listening.Part{}, false},
		"a mention with the role":             {staff, settings.Setting{Mode: settings.ModeMention, Askers: []string{"7"}}, listening.Part{}, true},
		"a question in the channel":           {says(channel, "who knows?"), mention, listening.Part{}, false},
		"a question where all are heard":      {says(channel, "who knows?"), settings.Setting{Mode: settings.ModeQuestions}, listening.Part{}, true},
		"a remark where all are heard":        {says(channel, "lunch."), settings.Setting{Mode: settings.ModeQuestions}, listening.Part{}, false},
		"a question in a strange thread":      {says(thread, "how so?"), mention, listening.Part{}, false},
		"a question where threads are heard":  {says(thread, "how so?"), settings.Setting{Mode: settings.ModeThread}, listening.Part{}, true},
		"a channel where threads are heard":   {says(channel, "how so?"), settings.Setting{Mode: settings.ModeThread}, listening.Part{}, false},
		"a follow-up":                         {says(thread, "and on staging"), mention, annTalks, true},
		"thanks":                              {says(thread, "Thank you so much!"), mention, annTalks, false},
		"a telling":                           {says(thread, "I'll try that"), mention, annTalks, false},
		"a question that begins as a telling": {says(thread, "I see, and on staging?"), mention, annTalks, true},
		"another's question":                  {says(thread, "does it work?"), mention, benTalks, true},
		"another's remark":                    {says(thread, "it works"), mention, benTalks, false},
		"to somebody else":                    {other, mention, annTalks, false},
		"what is not told":                    {empty, mention, annTalks, false},
		"an answer":                           {says(thread, "yes"), mention, listening.Part{Taken: true, Waiting: true, Asker: "ann"}, true},
		"an answer to another's question":     {says(thread, "yes"), mention, listening.Part{Taken: true, Waiting: true, Asker: "ben"}, false},
		"a word to stop":                      {says(thread, "never mind"), mention, benTalks, true},
		"a new post":                          {says(post, "My laptop is broken."), settings.Setting{Mode: settings.ModeThread}, listening.Part{}, true},
		"a new post where none are heard":     {says(post, "Why?"), mention, listening.Part{}, false},
	} {
		if got := hears(test.of, test.how, test.now); got.Hear != test.want {
			t.Errorf("%s: heard is %v (%s), want %v", name, got.Hear, got.Why, test.want)
		}
	}
}
