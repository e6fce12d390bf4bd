package session

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Bounds of what is kept of turns that went.
const (
	MaxTopics = 40 // the oldest are forgotten

	maxAsked     = 200 // letters
	maxAnswered  = 160 // letters
	maxDocuments = 3
)

// Topic is what is left of a question and its answer when their turns go. It is found by
// rules, so that it costs nothing and needs no model.
type Topic struct {
	Message chat.MessageID // the person's, that was answered
	By      chat.UserID    // who asked
	// Asked is the question on one line, shortened, with what was said when the bot asked
	// back.
	Asked string
	// Answered is the beginning of the answer, likewise; "" where there was none.
	Answered string
	// Documents are titles of those that the answer cites, most used first.
	Documents []string
	// Clarified is what the bot's own question about it was answered with: the turn that
	// says so belongs to the topic. "" where the bot asked nothing, or nobody answered.
	Clarified string
	// Cited are the ids of all documents that the answer cites.
	Cited []string
}

// Topics returns what was spoken of in the whole thread, oldest first: what is left of the
// turns that went, and what would be left of those that are there.
func (s *Session) Topics() []Topic { return summarizeTurns(slices.Clone(s.Earlier), s.Turns) }

// summarizeTurns adds turns to the topics before them. Commands such as stop and help, failure lines and
// reminders belong to no topic.
func summarizeTurns(topics []Topic, turns []chat.Turn) []Topic {
	for _, turn := range turns {
		at := topicOf(topics, turn.Message)
		switch {
		case turn.Role == chat.Person:
			topics = addQuestion(topics, turn)
		case at < 0:
		case turn.Question != nil:
			topics[at].Clarified = turn.Answer
		case turn.Reply == nil || turn.Reply.Outcome == chat.Noticed:
		case turn.Reply.Run == "": // no run: it is about the thread itself
			topics = slices.Delete(topics, at, at+1)
		case turn.Reply.Outcome == chat.Answered:
			topics[at].Answered = shortenLine(turn.Reply.Text, maxAnswered)
			topics[at].Documents = citedTitles(turn.Reply.Sources)
			topics[at].Cited = turn.Reply.Cited()
		}
	}
	return topics
}

// topicOf finds the topic whose message a turn of the bot is about, -1 where there is none.
func topicOf(topics []Topic, message chat.MessageID) int {
	for i, topic := range slices.Backward(topics) {
		if message != "" && topic.Message == message {
			return i
		}
	}
	return -1
}

// addQuestion adds a person's turn: a topic of its own, or more of their topic before it where
// it answers what the bot asked back.
func addQuestion(topics []Topic, turn chat.Turn) []Topic {
	text := strings.TrimSpace(turn.Text)
	if n := len(topics); n > 0 && topics[n-1].Clarified != "" && topics[n-1].By == turn.Author {
		topic := &topics[n-1]
		clarified := topic.Clarified
		topic.Clarified = ""
		switch {
		case text == "", strings.EqualFold(text, clarified):
			topic.Asked = shortenLine(topic.Asked+" "+clarified, maxAsked)
			topic.Message = turn.Message
			return topics
		case chat.IsStop(text):
			return topics[:n-1]
		}
	}
	if text == "" || chat.IsStop(text) {
		return topics
	}
	return append(topics, Topic{Message: turn.Message, By: turn.Author, Asked: shortenLine(text, maxAsked)})
}

// citedTitles returns the titles of the documents that an answer cites.
func citedTitles(groups []chat.SourceGroup) []string {
	var titles []string
	for _, group := range groups {
		for _, source := range group.Sources {
			if len(source.Numbers) > 0 && len(titles) < maxDocuments {
				titles = append(titles, shortenLine(source.Title, MaxTitle))
			}
		}
	}
	return titles
}
