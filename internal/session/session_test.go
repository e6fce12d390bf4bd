package session

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

func TestAddRemembersWhoWroteAndWhatFirst(t *testing.T) {
	var s Session
	s.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: " \n "})
	s.Add(chat.Turn{Role: chat.Bot, Reply: &chat.Reply{Text: "help"}})
	s.Add(chat.Turn{Role: chat.Person, Author: "bob", Text: "how do I\n  roll back?"})
	s.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "thanks"})
	if s.Title != "how do I roll back?" {
		t.Errorf("the title is %q", s.Title)
	}
	if len(s.People) != 2 || s.People[0] != "ann" || s.People[1] != "bob" {
		t.Errorf("people are %v", s.People)
	}
	for i := range MaxPeople + MaxTurns {
		s.Add(chat.Turn{Role: chat.Person, Author: chat.UserID(fmt.Sprint(i)), Text: "x"})
	}
	if len(s.People) != MaxPeople || len(s.Turns) != MaxTurns || s.Title != "how do I roll back?" {
		t.Errorf("%d people and %d turns are kept, of %q", len(s.People), len(s.Turns), s.Title)
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"short", "short"},
		{"twelve chars", "twelve chars"},
		{"twelve chars?", "twelve…"},
		{"elevenchars x", "elevenchars…"},
		{"ununterbrochen", "ununterbroc…"},
		{"回滚只需要一个命令它会使用上一个", "回滚只需要一个命令它会…"},
		{"broken \xff x", "broken \uFFFD x"},
	} {
		if got := shorten(test.text, 12); got != test.want {
			t.Errorf("shorten(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("how do I roll back a release of the API?")
	f.Add("回滚\x00只 \xff\u2028x")
	f.Fuzz(func(t *testing.T, text string) {
		got := shorten(text, MaxTitle)
		if utf8.RuneCountInString(got) > MaxTitle || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r") {
			t.Errorf("shorten(%q) = %q", text, got)
		}
	})
}

func TestForgetLeavesWhatOthersSaid(t *testing.T) {
	var s Session
	question := &chat.Question{ID: "q", Asker: "bob"}
	for _, turn := range []chat.Turn{
		{Role: chat.Person, Message: "1", Author: "ann", Text: "ann's"}, {Role: chat.Bot, Message: "1", Reply: &chat.Reply{Text: "to ann"}},
		{Role: chat.Person, Message: "2", Author: "bob", Text: "bob's"}, {Role: chat.Bot, Message: "2", Question: question, Answer: "this", AnsweredBy: "ann"},
	} {
		s.Add(turn)
	}
	s.Halt = &runs.Stop{By: "ann"}
	s.Waiting = &Waiting{Question: *question}
	s.Forget("ann")
	if len(s.Turns) != 2 || s.Title != "bob's" || len(s.People) != 1 || s.Halt != nil || s.Waiting == nil {
		t.Errorf("after ann: %+v", s)
	}
	if s.Turns[1].Answer != "forgotten" || s.Turns[1].AnsweredBy != "" {
		t.Errorf("ann's answer is kept: %+v", s.Turns[1])
	}
	s.Forget("bob")
	if len(s.Turns) != 0 || s.Title != "" || len(s.People) != 0 || s.Waiting != nil {
		t.Errorf("after bob: %+v", s)
	}
}

func TestASessionOfVersion1IsRead(t *testing.T) {
	body := []byte(`{"version":1,"flow":"answer","title":"t","people":["ann"],"turns":[{"Role":"person","Text":"hi","Message":"m"}]}`)
	s, err := Decode("web:1", body)
	if err != nil || s.Thread != "web:1" || s.Title != "t" || len(s.Turns) != 1 || s.Work != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Decode("web:1", []byte(`{"version":99}`)); err == nil {
		t.Error("a version to come is read")
	}
}
