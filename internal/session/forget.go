package session

import (
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

// forgottenText takes the place of an answer whose author is forgotten.
const forgottenText = "forgotten"

// Forget removes what a person said, what was said in answer to it, what is left of both
// among the topics, and that they were there. What others said of them stays. The title
// is made anew from what is left.
func (s *Session) Forget(by chat.UserID) {
	shown := s.Waiting != nil && containsQuestion(s.Turns, s.Waiting.Question.ID)
	theirs := make(map[chat.MessageID]bool)
	for _, turn := range s.Turns {
		if turn.Role == chat.Person && turn.Author == by && turn.Message != "" {
			theirs[turn.Message] = true
		}
	}
	s.Turns = slices.DeleteFunc(s.Turns, func(turn chat.Turn) bool {
		return turn.Role == chat.Person && turn.Author == by || turn.Role == chat.Bot && theirs[turn.Message]
	})
	for i := range s.Turns {
		if turn := &s.Turns[i]; turn.AnsweredBy == by {
			turn.Answer, turn.AnsweredBy = forgottenText, ""
		}
	}
	s.Earlier = slices.DeleteFunc(s.Earlier, func(topic Topic) bool { return topic.By == by })
	s.People = slices.DeleteFunc(s.People, func(person chat.UserID) bool { return person == by })
	s.Title, s.Named = s.firstTitle(), false
	s.Shared = s.Shared && len(s.People) > 0
	if s.Waiting != nil && (s.Waiting.Question.Asker == by || shown && !containsQuestion(s.Turns, s.Waiting.Question.ID)) {
		s.Waiting = nil
	}
	if s.Work != nil && s.Work.Answer != nil && s.Work.Answer.By == string(by) {
		s.Work.Answer = nil
	}
	if s.Halt != nil && s.Halt.By == by {
		s.Halt = nil
	}
}

// firstTitle returns the title that the thread has by what is remembered of it.
func (s *Session) firstTitle() string {
	if len(s.Earlier) > 0 {
		return shortenLine(s.Earlier[0].Asked, MaxTitle)
	}
	first := ""
	for _, turn := range s.Turns {
		if title := titleOf(turn); title != "" && (first == "" || isSocial(first)) {
			first = title
		}
	}
	return first
}

// containsQuestion reports whether a question is among the turns.
func containsQuestion(turns []chat.Turn, question string) bool {
	return slices.ContainsFunc(turns, func(turn chat.Turn) bool { return turn.Question != nil && turn.Question.ID == question })
}
