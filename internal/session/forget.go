package session

import (
	"slices"

	"cairn/internal/chat"
)

// forgotten takes the place of an answer whose author is forgotten.
const forgotten = "forgotten"

// Forget removes what a person said, what was said in answer to it, and that they were
// there. What others said of them stays. The title is made anew from what is left.
func (s *Session) Forget(by chat.UserID) {
	theirs := make(map[chat.MessageID]bool)
	for _, turn := range s.Turns {
		if turn.Role == chat.Person && turn.Author == by && turn.Message != "" {
			theirs[turn.Message] = true
		}
	}
	s.Turns = slices.DeleteFunc(s.Turns, func(turn chat.Turn) bool {
		return turn.Role == chat.Person && turn.Author == by || turn.Role == chat.Bot && theirs[turn.Message]
	})
	s.Title = ""
	for i := range s.Turns {
		turn := &s.Turns[i]
		if turn.AnsweredBy == by {
			turn.Answer, turn.AnsweredBy = forgotten, ""
		}
		if turn.Role == chat.Person && s.Title == "" {
			s.Title = shorten(turn.Text, MaxTitle)
		}
	}
	if s.Waiting != nil && (s.Waiting.Question.Asker == by || !asks(s.Turns, s.Waiting.Question.ID)) {
		s.Waiting = nil
	}
	if s.Work != nil && s.Work.Answer != nil && s.Work.Answer.By == string(by) {
		s.Work.Answer = nil
	}
	if s.Halt != nil && s.Halt.By == by {
		s.Halt = nil
	}
	s.People = slices.DeleteFunc(s.People, func(person chat.UserID) bool { return person == by })
}

// asks tells whether a question is among the turns.
func asks(turns []chat.Turn, question string) bool {
	return slices.ContainsFunc(turns, func(turn chat.Turn) bool { return turn.Question != nil && turn.Question.ID == question })
}
