package session

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

func TestAThreadIsNamedByWhatItIsAbout(t *testing.T) {
	for name, test := range map[string]struct {
		messages []chat.Turn
		title    string
	}{
		"a question":            {says("How do I roll back a release?"), "How do I roll back a release?"},
		"a greeting first":      {says("hi", "How do I roll back a release?", "And then?"), "How do I roll back a release?"},
		"nothing but greetings": {says("hi", "thanks!"), "thanks!"},
		"a greeting before it":  {says("Hello, how do I roll back a release?"), "how do I roll back a release?"},
		"in German":             {says("Hallo! Wer darf den Schlüssel tauschen?"), "Wer darf den Schlüssel tauschen?"},
		"a story before it": {says("We upgraded the cluster yesterday, and since then nothing works. Who can restart the gateway? Please hurry."),
			"Who can restart the gateway?"},
		"a log before it": {says("```\n12:00 GET /a?b=c failed. why?\n```\nERROR at /x?y=1 line 3\nwhat does this mean?"), "what does this mean?"},
		"no question":     {says("Deploy the API to staging, then tell the team in the channel about what has changed since"), "Deploy the API to staging, then tell the team in the…"},
		"a file":          {[]chat.Turn{{Role: chat.Person, Author: "ann", Files: []chat.File{{Name: "bill.pdf"}, {Name: "terms.md"}}}}, "bill.pdf, terms.md"},
		"Japanese":        {says("昨日クラスターを更新しました。それ以来、何も動きません。誰がゲートウェイを再起動できますか？急いでください。よろしくお願いします。本当に困っています。"), "誰がゲートウェイを再起動できますか？"},
	} {
		t.Run(name, func(t *testing.T) {
			var s Session
			for _, turn := range test.messages {
				s.Add(turn)
			}
			if s.Title != test.title {
				t.Errorf("the title is %q, want %q", s.Title, test.title)
			}
			s.Rename("mine")
			s.Add(says("Something else entirely?")[0])
			if s.Title != "mine" {
				t.Errorf("a title of its own became %q", s.Title)
			}
			s.Turns = s.Turns[:len(test.messages)]
			if s.Rename(""); s.Title != test.title {
				t.Errorf("without a title of its own it is %q, want %q", s.Title, test.title)
			}
		})
	}
}

// says are messages of one person.
func says(texts ...string) []chat.Turn {
	var turns []chat.Turn
	for _, text := range texts {
		turns = append(turns, chat.Turn{Role: chat.Person, Author: "ann", Text: text})
	}
	return turns
}
