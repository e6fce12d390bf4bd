package session

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat"
)

func TestTurnsThatGoAreSummedUp(t *testing.T) {
	var s Session
	s.exchange("1", "ann", "how do I get a parking permit?", "Ask the front desk [1]. "+strings.Repeat("More. ", 100), "Parking", "Front desk")
	for i := 2; i <= 100; i++ {
		s.exchange(chat.MessageID(fmt.Sprint(i)), "bob", fmt.Sprintf("question %d?", i), "an answer")
		if i == 30 {
			want := Topic{Message: "1", By: "ann", Asked: "how do I get a parking permit?", Documents: []string{"Parking", "Front desk"}}
			got := s.Earlier[0]
			if !strings.HasPrefix(got.Answered, "Ask the front desk [1]. More.") || utf8.RuneCountInString(got.Answered) > maxAnswered {
				t.Errorf("answered is %q", got.Answered)
			}
			if got.Answered = ""; !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if topics := s.Topics(); len(s.Earlier) != 10 || len(topics) != 30 || topics[29].Asked != "question 30?" {
				t.Errorf("%d topics, %d of them of turns that went: %+v", len(topics), len(s.Earlier), topics)
			}
		}
	}
	if len(s.Earlier) != MaxTopics || s.Earlier[0].Asked != "question 41?" {
		t.Errorf("%d topics are kept, from %q on", len(s.Earlier), s.Earlier[0].Asked)
	}
}

func TestASummaryIsSmall(t *testing.T) {
	var s Session
	long := strings.Repeat("Ünïcödé ", 100)
	for i := range 60 {
		s.exchange(chat.MessageID(fmt.Sprint(i)), "ann", long, long, long, long, long, long)
	}
	body, err := json.Marshal(s.Earlier)
	if err != nil || len(body) > 64<<10 {
		t.Errorf("the summary of 40 long exchanges has %d bytes, %v", len(body), err)
	}
}

func TestWhatIsNoTopic(t *testing.T) {
	said := func(message, text string) chat.Turn {
		return chat.Turn{Role: chat.Person, Author: "ann", Message: chat.MessageID(message), Text: text}
	}
	replied := func(message string, run chat.RunID, outcome chat.Outcome) chat.Turn {
		return chat.Turn{Role: chat.Bot, Message: chat.MessageID(message), Reply: &chat.Reply{Run: run, Outcome: outcome, Text: "said"}}
	}
	asked := func(message, answer string) chat.Turn {
		return chat.Turn{Role: chat.Bot, Message: chat.MessageID(message), Question: &chat.Question{Text: "Which?"}, Answer: answer}
	}
	byBob := said("2", "Heron")
	byBob.Author = "bob"
	for name, test := range map[string]struct {
		turns []chat.Turn
		want  []string // what was asked, and how it was answered
	}{
		"an answer":                 {[]chat.Turn{said("1", " how\n so? "), replied("1", "r", chat.Answered)}, []string{"how so?: said"}},
		"none found":                {[]chat.Turn{said("1", "how?"), replied("1", "r", chat.Abstained)}, []string{"how?: "}},
		"a failure":                 {[]chat.Turn{said("1", "how?"), replied("1", "r", chat.Failure)}, []string{"how?: "}},
		"a reminder":                {[]chat.Turn{said("1", "how?"), replied("1", "", chat.Noticed), replied("1", "r", chat.Answered)}, []string{"how?: said"}},
		"a word to stop":            {[]chat.Turn{said("1", "stop"), replied("1", "", chat.Answered)}, nil},
		"an empty message":          {[]chat.Turn{said("1", " "), replied("1", "", chat.Answered)}, nil},
		"a press that was too late": {[]chat.Turn{said("1", "Heron"), replied("1", "", chat.Abstained)}, nil},
		"asked back, a choice":      {[]chat.Turn{said("1", "restart?"), asked("1", "Heron"), said("2", "heron "), replied("2", "r", chat.Answered)}, []string{"restart? Heron: said"}},
		"asked back, a press":       {[]chat.Turn{said("1", "restart?"), asked("1", "Heron"), said("2", ""), replied("2", "r", chat.Answered)}, []string{"restart? Heron: said"}},
		"asked back, another":       {[]chat.Turn{said("1", "restart?"), asked("1", "Heron"), byBob, replied("2", "r", chat.Answered)}, []string{"restart?: ", "Heron: said"}},
		"asked back, dropped":       {[]chat.Turn{said("1", "restart?"), asked("1", "cancelled"), said("2", "never mind"), replied("2", "r", chat.Answered)}, nil},
		"asked back, left open":     {[]chat.Turn{said("1", "restart?"), asked("1", "left open"), said("2", "who pays?"), replied("2", "r", chat.Answered)}, []string{"restart?: ", "who pays?: said"}},
		"nothing to tell it apart":  {[]chat.Turn{said("", "one"), said("", "two"), replied("", "r", chat.Answered)}, []string{"one: ", "two: "}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			s := Session{Turns: test.turns}
			for _, topic := range s.Topics() {
				got = append(got, topic.Asked+": "+topic.Answered)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestRecall(t *testing.T) {
	var s Session
	s.exchange("1", "ann", "how do I get a parking permit?", "Ask the front desk [1].", "Parking")
	s.exchange("2", "ann", "where does the billing service run?", "On the Heron cluster [1].", "Billing", "Clusters")
	for i := range 30 {
		s.exchange(chat.MessageID(fmt.Sprint("x", i)), "bob", fmt.Sprintf("what is question %d?", i), "no telling", "Riddles")
	}
	s.exchange("last", "ann", "how do I reset the VPN password?", strings.Repeat("Open the portal. ", 20)+"A badge is needed for the portal.", "VPN")
	for text, want := range map[string]string{
		"how long is this permit valid?":                           "how do I get a parking permit?",
		"back to the permit: how long is it valid?":                "how do I get a parking permit?",
		"can you restart the cluster that we talked about earlier": "where does the billing service run?",
		"as for that cluster, who owns it?":                        "where does the billing service run?",
		"how do I get a permit?":                                   "", // whole in itself
		"is it for the permit we discussed?":                       "", // "it" is what was said last
		"is that so for this permit?":                              "",
		"is there a tool that permits this?":                       "",
		"how long is this password valid?":                         "", // of the latest topic
		"where do I get this badge?":                               "", // likewise, far down in the answer
		"what colour is this elephant?":                            "",
		"":                                                         "",
		"this":                                                     "",
	} {
		got, found := s.Recall(text)
		if found != (want != "") || got.Asked != want {
			t.Errorf("%q recalls %q, %v, want %q", text, got.Asked, found, want)
		}
	}
	if _, found := (&Session{}).Recall("how long is this permit valid?"); found {
		t.Error("an empty thread recalls something")
	}
}
