package listening_test

import (
	"strings"
	"testing"

	"cairn/internal/chat"
	"cairn/internal/chat/listening"
)

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"who knows": true, "it works?": true, "语言？": true, "whats up": true, "anybody know the way": true, "— how so": true,
		"": false, "it works": false, "whoever": false, "the question is why": false,
	} {
		if got := listening.Asks(text); got != want {
			t.Errorf("%q asks: %v", text, got)
		}
	}
}

func TestPartIn(t *testing.T) {
	question := func(answer string) chat.Turn {
		return chat.Turn{Role: chat.Bot, Question: &chat.Question{Asker: "ann"}, Answer: answer}
	}
	ann, ben := chat.Turn{Role: chat.Person, Author: "ann"}, chat.Turn{Role: chat.Person, Author: "ben"}
	for name, test := range map[string]struct {
		turns []chat.Turn
		want  listening.Part
	}{
		"nothing":     {nil, listening.Part{}},
		"two people":  {[]chat.Turn{ann, ben}, listening.Part{Taken: true, Last: "ben"}},
		"a question":  {[]chat.Turn{ann, question("")}, listening.Part{Taken: true, Last: "ann", Waiting: true, Asker: "ann"}},
		"an answered": {[]chat.Turn{ann, question("yes")}, listening.Part{Taken: true, Last: "ann", Asker: "ann"}},
	} {
		if got := listening.PartIn(test.turns); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestHears(t *testing.T) {
	manner := listening.Manner{
		Remark:   func(text string) bool { return text == "thanks" },
		FollowUp: func(text string) bool { return !strings.HasPrefix(text, "I ") },
	}
	annTalks, benTalks := listening.Part{Taken: true, Last: "ann"}, listening.Part{Taken: true, Last: "ben"}
	waits := listening.Part{Taken: true, Last: "ann", Waiting: true, Asker: "ann"}
	reply := func(text string) listening.Said { return listening.Said{Text: text, By: "ann", InThread: true} }
	open := func(said listening.Said) listening.Said { said.Open = true; return said }
	toOther := reply("who knows?")
	toOther.ToOther = true
	bens := reply("yes")
	bens.By = "ben"
	for name, test := range map[string]struct {
		said         listening.Said
		now          listening.Part
		hear, unsure bool
	}{
		"to somebody else":               {toOther, annTalks, false, false},
		"an answer":                      {reply("thanks"), waits, true, false},
		"an answer of somebody else":     {bens, waits, false, true},
		"an answer that anybody may":     {bens, listening.Part{Taken: true, Waiting: true}, true, false},
		"a word to stop":                 {reply("stop"), benTalks, true, false},
		"a word to stop elsewhere":       {reply("stop"), listening.Part{}, false, false},
		"a remark":                       {reply("thanks"), annTalks, false, false},
		"a follow-up":                    {reply("and on staging"), annTalks, true, true},
		"a telling":                      {reply("I did that"), annTalks, false, true},
		"another's question":             {reply("does it work?"), benTalks, true, true},
		"another's words":                {reply("and on staging"), benTalks, false, true},
		"a question in a strange thread": {reply("does it work?"), listening.Part{}, false, false},
		"a question where all are heard": {open(reply("does it work?")), listening.Part{}, true, false},
		"words where questions are":      {open(reply("it works")), listening.Part{}, false, false},
		"a remark where questions are":   {open(reply("thanks")), listening.Part{}, false, false},
	} {
		got := manner.Hears(test.said, test.now)
		if got.Hear != test.hear || got.Unsure != test.unsure || !got.Hear && got.Why == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
