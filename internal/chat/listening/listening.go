// Package listening decides when a bot that hears a channel takes part in it. The rules
// look at the text and at who spoke before alone; where they don't know, the bot rather
// stays quiet. What a platform itself tells, such as a mention, its adapter looks at first.
package listening

import (
	"regexp"
	"strings"

	"cairn/internal/chat"
)

// Part is the part that the bot has in a thread so far.
type Part struct {
	Taken   bool        // it was asked there, or asked itself
	Waiting bool        // for an answer to a question of its own
	Asker   chat.UserID // whom that question is for; "" is anybody
	Last    chat.UserID // who spoke to it last
}

// PartIn tells the part that the bot has in a thread with these turns.
func PartIn(turns []chat.Turn) Part {
	now := Part{Taken: len(turns) > 0}
	for _, turn := range turns {
		if turn.Question != nil {
			now.Waiting, now.Asker = turn.Answer == "", turn.Question.Asker
		}
		if turn.Role == chat.Person {
			now.Last = turn.Author
		}
	}
	return now
}

var asking = regexp.MustCompile(`(?i)[?？]\s*$|^\W*(who|what|whats|where|when|why|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|any(one|body)? know)\b`)

// Asks tells a question from what people tell one another.
func Asks(text string) bool { return asking.MatchString(strings.TrimSpace(text)) }

// Said is something that was said where the bot hears it without being called.
type Said struct {
	Text     string
	By       chat.UserID
	ToOther  bool // it mentions somebody else
	InThread bool // it is in a thread, not its first message
	Open     bool // all questions are heard there
}

// Manner is how people talk on a platform.
type Manner struct {
	// Remark tells what is said to one another and asks nothing.
	Remark func(text string) bool
	// FollowUp tells what goes on with a talk, of things said by who spoke to the bot last.
	FollowUp func(text string) bool
}

// Verdict is what the rules say of something said.
type Verdict struct {
	Hear   bool
	Why    string // of what is not heard
	Unsure bool   // it is said in a thread that the bot takes part in, and nothing tells to whom
}

// Hears decides whether something said is for the bot, which has a part in the thread.
func (m Manner) Hears(said Said, now Part) Verdict {
	mine := said.InThread && now.Taken
	switch {
	case said.ToOther:
		return Verdict{Why: "it is said to somebody else"}
	case said.InThread && now.Waiting && (now.Asker == "" || now.Asker == said.By):
		return Verdict{Hear: true}
	case mine && chat.IsStop(said.Text):
		return Verdict{Hear: true}
	case m.Remark(said.Text):
		return Verdict{Why: "it asks nothing"}
	case mine && now.Last == said.By:
		// "and on staging", "explain the second step".
		return Verdict{Hear: m.FollowUp(said.Text), Why: "it tells something", Unsure: true}
	case mine, said.Open:
		return Verdict{Hear: Asks(said.Text), Why: "it is no question", Unsure: mine}
	}
	return Verdict{Why: "the bot was not invited"}
}
