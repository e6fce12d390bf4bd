package interact

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// Part is the part that the bot has in a thread so far.
type Part struct {
	Taken   bool        // it was asked there, or asked itself
	Waiting bool        // for an answer to a question of its own
	Asker   chat.UserID // whom that question is for; "" is anybody
	Last    chat.UserID // who spoke to it last
}

// PartIn returns the part that the bot has in a thread with these turns.
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

var (
	asking = regexp.MustCompile(`(?i)[?？]\s*$|^\W*(who|what|whats|where|when|why|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|any(one|body)? know)\b`)
	// chatter is what people say to close a talk. It asks nothing.
	chatter = regexp.MustCompile(`(?i)^[^\pL\pN]*((many |great |ok(ay)? )?(thanks?|thank you|thx|ty|cheers|ok(ay)?|great|perfect|nice|cool|awesome|got it|lol|lgtm|yes|yep|no|nope|sure|done|fixed|will do|makes sense|sounds good)([^\pL\pN]+(so much|a lot|all|everyone|both))?|\+1|(that|it) work(s|ed)|:[a-z0-9_+-]+:)?[^\pL\pN]*$`)
	// telling is how people begin to say what they do or think, which asks nothing.
	telling = regexp.MustCompile(`(?i)^\W*(i|i'm|i'll|i've|i'd|im|we|we'll|we're|we've|let's|he|she|they|you|my|our|thanks?|thank you)\b`)
)

// asksSomething tells a question from what people tell one another.
func asksSomething(text string) bool { return asking.MatchString(strings.TrimSpace(text)) }

// Verdict is what the rules say of a message.
type Verdict struct {
	Hear   bool
	Reason string // of a message that is not for the bot
	Unsure bool   // it is said in a thread that the bot takes part in, and nothing tells to whom
}

// Decide decides whether a message is for the bot, which has a part in its thread. The rules
// look at the text and at who spoke before alone; where they don't know, the bot rather stays
// quiet.
func (m Incoming) Decide(now Part) Verdict {
	everyThread := m.Mode == settings.ModeThread || m.Mode == settings.ModeQuestions
	switch {
	case m.Direct:
		return Verdict{Hear: true}
	case m.Mode == settings.ModeOff:
		return Verdict{Reason: "the bot is off in this channel"}
	case m.Called, m.OpensTopic && everyThread:
		return Verdict{Hear: true}
	case m.Unreadable:
		return Verdict{Reason: "the platform does not tell what it says"}
	}
	return m.decideByText(now, m.Mode == settings.ModeQuestions || m.InThread && everyThread)
}

// decideByText decides about a message that does not mention the bot. open tells that all
// questions are heard where it is said.
func (m Incoming) decideByText(now Part, open bool) Verdict {
	by, text := m.Message.Author, m.Message.Text
	mine := m.InThread && now.Taken
	switch {
	case m.ToOther:
		return Verdict{Reason: "it is said to somebody else"}
	case m.InThread && now.Waiting && (now.Asker == "" || now.Asker == by):
		return Verdict{Hear: true}
	case mine && chat.IsStop(text):
		return Verdict{Hear: true}
	case chatter.MatchString(text):
		return Verdict{Reason: "it asks nothing"}
	case mine && now.Last == by:
		// "and on staging", "explain the second step".
		return Verdict{Hear: asksSomething(text) || !telling.MatchString(text), Reason: "it tells something", Unsure: true}
	case mine, open:
		return Verdict{Hear: asksSomething(text), Reason: "it is no question", Unsure: mine}
	}
	return Verdict{Reason: "the bot was not invited"}
}
