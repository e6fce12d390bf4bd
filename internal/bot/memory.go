package bot

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/session"
)

// recallHistory gives a flow what was said in the thread before a request, oldest first:
// what is left of the turns that went, then the turns. What the request takes up again
// from further back is said once more at the end, where flows look first.
func recallHistory(before session.Session, request string) []flows.Turn {
	var said []flows.Turn
	for _, topic := range before.Earlier {
		said = append(said, topicTurns(topic)...)
	}
	said = append(said, convertHistory(before.Turns)...)
	if topic, found := before.Recall(request); found {
		said = append(said, topicTurns(topic)...)
	}
	return said
}

// topicTurns gives a topic as what was said.
func topicTurns(topic session.Topic) []flows.Turn {
	said := []flows.Turn{{Role: flows.User, Text: topic.Asked}}
	if topic.Answered == "" {
		return said
	}
	answer := topic.Answered
	if len(topic.Documents) > 0 {
		answer += " (from: " + strings.Join(topic.Documents, ", ") + ")"
	}
	return append(said, flows.Turn{Role: flows.Assistant, Text: answer})
}
