package slack

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"time"

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
	part    bool        // it has been asked there, or asked itself
	waiting bool        // for an answer to a question of its own
	asker   chat.UserID // whom that question is for; "" is anybody
	last    chat.UserID // who spoke to it last
}

// takingIn tells the part that the bot has in a thread with these turns.
func takingIn(turns []chat.Turn) taking {
	now := taking{part: len(turns) > 0}
	for _, turn := range turns {
		if turn.Question != nil {
			now.waiting, now.asker = turn.Answer == "", turn.Question.Asker
		}
		if turn.Role == chat.Person {
			now.last = turn.Author
		}
	}
	return now
}

var (
	// chatter is what people say to close a talk. It is no question.
	chatter = regexp.MustCompile(`(?i)^[^\pL\pN]*((many |great |ok(ay)? )?(thanks?|thank you|thx|ty|cheers)( (so much|a lot|all|everyone|both))?|ok(ay)?|great|perfect|nice|cool|awesome|got it|lol|lgtm|\+1|yes|yep|no|nope|sure|done|fixed|will do|makes sense|sounds good|(that|it) work(s|ed)|:[a-z0-9_+-]+:)?[^\pL\pN]*$`)
	asking  = regexp.MustCompile(`(?i)[?？]\s*$|^\W*(who|what|whats|where|when|why|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|any(one|body)? know)\b`)
	// telling is how people begin to say what they do or think, which asks nothing.
	telling = regexp.MustCompile(`(?i)^\W*(i|i'm|i'll|i've|i'd|im|we|we'll|we're|we've|let's|he|she|they|you|my|our|thanks?|thank you)\b`)
)

// isQuestion tells a question from what people tell one another.
func isQuestion(text string) bool { return asking.MatchString(strings.TrimSpace(text)) }

// verdict is what the rules say of something said.
type verdict struct {
	hear   bool
	why    string // of what is not heard
	unsure bool   // it is said in a thread that the bot takes part in, and nothing tells to whom
}

// hears decides whether something said is for the bot, and if not, why. The rules look
// at the text alone; where they don't know, the bot rather stays quiet.
func hears(of signal, how Listening, now taking) verdict {
	text := of.message.Text
	switch {
	case of.direct:
		return verdict{hear: true}
	case how == ListenOff:
		return verdict{why: "the bot is off in this channel"}
	case of.called:
		return verdict{hear: true}
	case of.toOther:
		return verdict{why: "it is said to somebody else"}
	case of.reply && now.waiting && (now.asker == "" || now.asker == of.message.Author):
		return verdict{hear: true}
	case of.reply && now.part && chat.IsStop(text):
		return verdict{hear: true}
	case chatter.MatchString(text):
		return verdict{why: "it asks nothing"}
	case of.reply && now.part && now.last == of.message.Author:
		// A follow-up: "and on staging", "explain the second step".
		return verdict{hear: isQuestion(text) || !telling.MatchString(text), why: "it tells something", unsure: true}
	case of.reply && now.part:
		return verdict{hear: isQuestion(text), why: "it is no question", unsure: true}
	case of.reply && how == ListenThread, how == ListenQuestions:
		return verdict{hear: isQuestion(text), why: "it is no question"}
	}
	return verdict{why: "the bot was not invited"}
}

// Overheard is a reply in a thread that the bot takes part in, of which the rules don't
// know whom it is said to.
type Overheard struct {
	Before []string // what was said to the bot and by it before, the last few turns
	Text   string
}

// judgeWithin is how long somebody who judges may take: Slack waits for 3 s.
const judgeWithin = 1500 * time.Millisecond

// judged asks who judges where the rules are unsure. Where there is nobody, or they take
// too long, the rules hold.
func (a *Adapter) judged(ctx context.Context, of signal, ruled verdict, turns []chat.Turn) verdict {
	if !ruled.unsure || a.options.Judge == nil {
		return ruled
	}
	ctx, cancel := context.WithTimeout(ctx, judgeWithin)
	defer cancel()
	meant, err := a.options.Judge(ctx, Overheard{Before: lastSaid(turns), Text: of.message.Text})
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack reply was judged by rules alone", slog.Any("error", err))
		return ruled
	}
	return verdict{hear: meant, why: "the model says that it is not for the bot"}
}

// lastSaid gives the last turns in words.
func lastSaid(turns []chat.Turn) []string {
	const most = 4
	var said []string
	for _, turn := range turns[max(0, len(turns)-most):] {
		switch {
		case turn.Reply != nil:
			said = append(said, "Cairn: "+cut(turn.Reply.Text, maxNotification))
		case turn.Question != nil:
			said = append(said, "Cairn: "+cut(turn.Question.Text, maxNotification))
		default:
			said = append(said, "Person: "+cut(turn.Text, maxNotification))
		}
	}
	return said
}
