package slack

import (
	"regexp"
	"strings"

	"cairn/internal/chat"
)

// Listening is what the bot answers in a channel. In direct conversations it always
// answers all. Each kind of listening hears what those before it hear.
type Listening string

// The kinds of listening.
const (
	// ListenOff hears nothing.
	ListenOff Listening = "off"
	// ListenMention hears mentions, and replies in threads that the bot takes part in.
	ListenMention Listening = "mention"
	// ListenThread hears questions in all threads of the channel, too.
	ListenThread Listening = "thread"
	// ListenQuestions hears all questions in the channel.
	ListenQuestions Listening = "questions"
)

// taking is the part that the bot has in a thread so far.
type taking struct {
	part    bool // it has been asked there, or asked itself
	waiting bool // for an answer to a question of its own
}

// takingIn tells the part that the bot has in a thread with these turns.
func takingIn(turns []chat.Turn) taking {
	now := taking{part: len(turns) > 0}
	for _, turn := range turns {
		if turn.Question != nil {
			now.waiting = turn.Answer == ""
		}
	}
	return now
}

var (
	// chatter is what people say to close a talk. It is no question.
	chatter = regexp.MustCompile(`(?i)^[^\pL\pN]*((many |great |ok(ay)? )?(thanks?|thank you|thx|ty|cheers)( (so much|a lot|all|everyone|both))?|ok(ay)?|great|perfect|nice|cool|awesome|got it|lol|lgtm|\+1|:[a-z0-9_+-]+:)?[^\pL\pN]*$`)
	asking  = regexp.MustCompile(`(?i)[?？]\s*$|^\W*(who|what|whats|where|when|why|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|any(one|body)? know)\b`)
)

// hears decides whether something said is for the bot, and if not, why. The rules look
// at the text alone; where they don't know, the bot stays quiet.
func hears(of signal, how Listening, now taking) (bool, string) {
	switch {
	case of.direct:
		return true, ""
	case how == ListenOff:
		return false, "the bot is off in this channel"
	case of.called:
		return true, ""
	case of.toOther:
		return false, "it is said to somebody else"
	case of.reply && now.waiting:
		return true, ""
	case chatter.MatchString(of.message.Text):
		return false, "it asks nothing"
	case of.reply && now.part:
		return true, ""
	case of.reply && how == ListenThread, how == ListenQuestions:
		return asking.MatchString(strings.TrimSpace(of.message.Text)), "it is no question"
	}
	return false, "the bot was not invited"
}
