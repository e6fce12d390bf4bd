package slack

import (
	"context"
	"log/slog"
	"regexp"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/listening"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/settings"
)

var (
	// chatter is what people say to close a talk. It is no question.
	chatter = regexp.MustCompile(`(?i)^[^\pL\pN]*((many |great |ok(ay)? )?(thanks?|thank you|thx|ty|cheers)( (so much|a lot|all|everyone|both))?|ok(ay)?|great|perfect|nice|cool|awesome|got it|lol|lgtm|\+1|yes|yep|no|nope|sure|done|fixed|will do|makes sense|sounds good|(that|it) work(s|ed)|:[a-z0-9_+-]+:)?[^\pL\pN]*$`)
	// telling is how people begin to say what they do or think, which asks nothing.
	telling = regexp.MustCompile(`(?i)^\W*(i|i'm|i'll|i've|i'd|im|we|we'll|we're|we've|let's|he|she|they|you|my|our|thanks?|thank you)\b`)
)

// manner is how people talk in Slack.
var manner = listening.Manner{
	Remark:   chatter.MatchString,
	FollowUp: func(text string) bool { return listening.Asks(text) || !telling.MatchString(text) },
}

// decideHearing decides whether something said is for the bot, and if not, why.
func decideHearing(of signal, how settings.Mode, now listening.Part) listening.Verdict {
	switch {
	case of.direct:
		return listening.Verdict{Hear: true}
	case how == settings.ModeOff:
		return listening.Verdict{Why: "the bot is off in this channel"}
	case of.called:
		return listening.Verdict{Hear: true}
	}
	return manner.Hears(listening.Said{
		Text: of.message.Text, By: of.message.Author, ToOther: of.toOther, InThread: of.reply,
		Open: how == settings.ModeQuestions || how == settings.ModeThread && of.reply,
	}, now)
}

// Overheard is a reply in a thread that the bot takes part in, of which the rules don't
// know whom it is said to.
type Overheard struct {
	Before []string // what was said to the bot and by it before, the last few turns
	Text   string
}

// judgeWithin is how long somebody who judges may take: Slack waits for 3 s.
const judgeWithin = 1500 * time.Millisecond

// judgeHearing asks who judges where the rules are unsure. Where there is nobody, or they take
// too long, the rules hold.
func (a *Adapter) judgeHearing(ctx context.Context, of signal, ruled listening.Verdict, turns []chat.Turn) listening.Verdict {
	if !ruled.Unsure || a.options.Judge == nil {
		return ruled
	}
	ctx, cancel := context.WithTimeout(ctx, judgeWithin)
	defer cancel()
	meant, err := a.options.Judge(ctx, Overheard{Before: lastSaid(turns), Text: of.message.Text})
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack reply was judged by rules alone", slog.Any("error", err))
		return ruled
	}
	return listening.Verdict{Hear: meant, Why: "the model says that it is not for the bot"}
}

// lastSaid gives the last turns in words.
func lastSaid(turns []chat.Turn) []string {
	const most = 4
	var said []string
	for _, turn := range turns[max(0, len(turns)-most):] {
		switch {
		case turn.Reply != nil:
			said = append(said, "Cairn: "+rich.Cut(turn.Reply.Text, maxNotification))
		case turn.Question != nil:
			said = append(said, "Cairn: "+rich.Cut(turn.Question.Text, maxNotification))
		default:
			said = append(said, "Person: "+rich.Cut(turn.Text, maxNotification))
		}
	}
	return said
}
