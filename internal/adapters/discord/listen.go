package discord

import (
	"regexp"
	"strings"

	"cairn/internal/chat/listening"
	"cairn/internal/chat/settings"
)

// remarks are what people say to one another, which asks nothing.
var remarks = regexp.MustCompile(`(?i)^\W*(((thanks?|thank you|thx|ty|cheers|ok(ay)?|great|perfect|nice|cool|awesome|got it|lol|lgtm|yes|yep|no|nope|sure|done|fixed|makes sense|sounds good)\b[\s\pP]*(so much|a lot|all|everyone)?[\s\pP]*$)|(i|i'm|i'll|i've|we|we'll|we're|let's|he|she|they|you|my|our)\b)`)

// manner is how people talk in Discord.
var manner = listening.Manner{
	Remark:   func(text string) bool { return remarks.MatchString(text) && !strings.HasSuffix(text, "?") },
	FollowUp: func(string) bool { return true },
}

// hears decides whether something said is for the bot, and if not, why.
func hears(of signal, how settings.Setting, now listening.Part) listening.Verdict {
	inThread := isThread(of.at.kind)
	switch {
	case of.at.guild == directly:
		return listening.Verdict{Hear: true}
	case how.Mode == settings.ModeOff:
		return listening.Verdict{Why: "the bot is off in this channel"}
	case !how.Admits(of.roles):
		return listening.Verdict{Why: "its author has none of the roles that may ask"}
	case of.called:
		return listening.Verdict{Hear: true}
	case of.at.forum() && (how.Mode == settings.ModeThread || how.Mode == settings.ModeQuestions):
		return listening.Verdict{Hear: true}
	case of.empty:
		return listening.Verdict{Why: "Discord does not tell what it says: the app lacks the MESSAGE CONTENT intent"}
	}
	return manner.Hears(listening.Said{
		Text: of.message.Text, By: of.by, ToOther: of.toOther, InThread: inThread,
		Open: how.Mode == settings.ModeQuestions || how.Mode == settings.ModeThread && inThread,
	}, now)
}
