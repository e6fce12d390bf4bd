package interact_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

func TestPartIn(t *testing.T) {
	question := func(answer string) chat.Turn {
		return chat.Turn{Role: chat.Bot, Question: &chat.Question{Asker: "ann"}, Answer: answer}
	}
	ann, ben := chat.Turn{Role: chat.Person, Author: "ann"}, chat.Turn{Role: chat.Person, Author: "ben"}
	for name, test := range map[string]struct {
		turns []chat.Turn
		want  interact.Part
	}{
		"nothing":     {nil, interact.Part{}},
		"two people":  {[]chat.Turn{ann, ben}, interact.Part{Taken: true, Last: "ben"}},
		"a question":  {[]chat.Turn{ann, question("")}, interact.Part{Taken: true, Last: "ann", Waiting: true, Asker: "ann"}},
		"an answered": {[]chat.Turn{ann, question("yes")}, interact.Part{Taken: true, Last: "ann", Asker: "ann"}},
	} {
		if got := interact.PartIn(test.turns); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestDecide(t *testing.T) {
	annTalks, benTalks := interact.Part{Taken: true, Last: "ann"}, interact.Part{Taken: true, Last: "ben"}
	waits := interact.Part{Taken: true, Last: "ann", Waiting: true, Asker: "ann"}
	say := func(text string, change ...func(*interact.Incoming)) interact.Incoming {
		heard := interact.Incoming{Message: chat.Message{Text: text, Author: "ann"}, Mode: settings.ModeMention}
		for _, do := range change {
			do(&heard)
		}
		return heard
	}
	reply := func(h *interact.Incoming) { h.InThread = true }
	byBen := func(h *interact.Incoming) { h.Message.Author = "ben" }
	called := func(h *interact.Incoming) { h.Called = true }
	toOther := func(h *interact.Incoming) { h.ToOther = true }
	opens := func(h *interact.Incoming) { h.OpensTopic, h.InThread = true, true }
	unreadable := func(h *interact.Incoming) { h.Unreadable = true }
	in := func(mode settings.Mode) func(*interact.Incoming) { return func(h *interact.Incoming) { h.Mode = mode } }
	for name, test := range map[string]struct {
		said         interact.Incoming
		now          interact.Part
		hear, unsure bool
	}{
		"directly, where the bot is off":   {say("hello", in(settings.ModeOff), func(h *interact.Incoming) { h.Direct = true }), interact.Part{}, true, false},
		"called where the bot is off":      {say("hello", called, in(settings.ModeOff)), interact.Part{}, false, false},
		"called":                           {say("hello", called), interact.Part{}, true, false},
		"called by what can't be read":     {say("", called, unreadable), interact.Part{}, true, false},
		"what can't be read":               {say("", reply, unreadable), annTalks, false, false},
		"a post of a forum":                {say("It is broken.", opens, in(settings.ModeThread)), interact.Part{}, true, false},
		"a post where mentions are heard":  {say("Why?", opens), interact.Part{}, false, false},
		"to somebody else":                 {say("who knows?", reply, toOther), annTalks, false, false},
		"an answer":                        {say("thanks", reply), waits, true, false},
		"an answer of somebody else":       {say("staging", reply, byBen), waits, false, true},
		"an answer that anybody may":       {say("yes", reply, byBen), interact.Part{Taken: true, Waiting: true}, true, false},
		"a word to stop":                   {say("stop", reply), benTalks, true, false},
		"a word to stop elsewhere":         {say("stop", reply), interact.Part{}, false, false},
		"a remark":                         {say("Thank you so much!", reply), annTalks, false, false},
		"a remark to all":                  {say("great, everyone", reply), annTalks, false, false},
		"an emoji":                         {say(":+1:", reply), annTalks, false, false},
		"a file without words":             {say("", reply), annTalks, false, false},
		"a follow-up":                      {say("and on staging", reply), annTalks, true, true},
		"something told":                   {say("I did that", reply), annTalks, false, true},
		"something told that asks":         {say("I see, and on staging?", reply), annTalks, true, true},
		"another's question":               {say("does it work?", reply), benTalks, true, true},
		"another's words":                  {say("and on staging", reply), benTalks, false, true},
		"a question in a strange thread":   {say("does it work?", reply), interact.Part{}, false, false},
		"a question where threads count":   {say("does it work?", reply, in(settings.ModeThread)), interact.Part{}, true, false},
		"a question beside threads":        {say("does it work?", in(settings.ModeThread)), interact.Part{}, false, false},
		"a question where all are heard":   {say("who knows", in(settings.ModeQuestions)), interact.Part{}, true, false},
		"a question in another language":   {say("语言？", in(settings.ModeQuestions)), interact.Part{}, true, false},
		"words where questions are heard":  {say("whoever knows it", in(settings.ModeQuestions)), interact.Part{}, false, false},
		"a remark where questions are":     {say("thanks", in(settings.ModeQuestions)), interact.Part{}, false, false},
		"a question with words before why": {say("the question is why", in(settings.ModeQuestions)), interact.Part{}, false, false},
	} {
		got := test.said.Decide(test.now)
		if got.Hear != test.hear || got.Unsure != test.unsure || !got.Hear && got.Reason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
