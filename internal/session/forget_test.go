package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

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

func TestForgetReachesTopics(t *testing.T) {
	var s Session
	for i := range 2 * MaxTurns {
		by := []chat.UserID{"ann", "bob"}[i%2]
		s.exchange(chat.MessageID(fmt.Sprint(i)), by, fmt.Sprintf("%s's question %d", by, i), "the answer")
	}
	s.Waiting = &Waiting{Question: chat.Question{ID: "long ago", Asker: "bob"}}
	s.Forget("ann")
	for _, topic := range s.Topics() {
		if strings.Contains(topic.Asked, "ann") {
			t.Errorf("ann asked: %+v", topic)
		}
	}
	if s.Title != s.Earlier[0].Asked || !strings.HasPrefix(s.Title, "bob's question") || len(s.Earlier) == 0 {
		t.Errorf("the title is %q, the first topic %+v", s.Title, s.Earlier)
	}
	if s.Waiting == nil {
		t.Error("bob's question waits no longer")
	}
}

// exchange adds a question and what was answered, citing documents.
func (s *Session) exchange(message chat.MessageID, by chat.UserID, question, answer string, documents ...string) {
	s.Add(chat.Turn{Role: chat.Person, Message: message, Author: by, Text: question})
	reply := chat.Reply{Run: "run", Outcome: chat.Answered, Text: answer, Sources: []chat.SourceGroup{{}}}
	for i, title := range documents {
		reply.Sources[0].Sources = append(reply.Sources[0].Sources, chat.Source{Numbers: []int{i + 1}, Title: title})
	}
	s.Add(chat.Turn{Role: chat.Bot, Message: message, Reply: &reply})
}
