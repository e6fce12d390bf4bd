package session

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat"
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
		if got := shortenLine(test.text, 12); got != test.want {
			t.Errorf("shortenLine(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("how do I roll back a release of the API?")
	f.Add("回滚\x00只 \xff\u2028x")
	f.Fuzz(func(t *testing.T, text string) {
		got := shortenLine(text, MaxTitle)
		if utf8.RuneCountInString(got) > MaxTitle || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r") {
			t.Errorf("shortenLine(%q) = %q", text, got)
		}
	})
}

func TestEvaluationsAreKeptOfTheLatestRuns(t *testing.T) {
	var s Session
	for i := range 12 {
		s.Evaluate(chat.RunID(fmt.Sprintf("run-%d", i)), map[string]float64{"overall": float64(i)})
	}
	s.Evaluate("run-11", map[string]float64{"overall": 98.5})
	body, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode("web:1", body)
	if err != nil {
		t.Fatal(err)
	}
	kept := read.Evaluations
	if len(kept) != 10 || kept[0].Run != "run-2" || kept[9].Run != "run-11" || kept[9].Scores["overall"] != 98.5 {
		t.Errorf("kept are %+v", kept)
	}
}
