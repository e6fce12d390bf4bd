package discord

import (
	"regexp"
	"slices"
	"strings"

	"cairn/internal/chat"
)

// taking is the part that the bot has in a conversation so far.
type taking struct {
	taken   bool // it was asked there, or asked itself
	waiting bool // for an answer to a question of its own
	asker   chat.UserID
	last    chat.UserID // who spoke to it last
}

// partIn tells the part that the bot has in a conversation with these turns.
func partIn(turns []chat.Turn) taking {
	now := taking{taken: len(turns) > 0}
	for _, turn := range turns {
		switch {
		case turn.Question != nil:
			now.waiting, now.asker = turn.Answer == "", turn.Question.Asker
		case turn.Role == chat.Person:
			now.last = turn.Author
		}
	}
	return now
}

var (
	asking = regexp.MustCompile(`(?i)[?？]\s*$|^\W*(who|what|where|when|why|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|any(one|body)? know)\b`)
	// remarks are what people say to one another, which asks nothing.
	remarks = regexp.MustCompile(`(?i)^\W*(((thanks?|thank you|thx|ty|cheers|ok(ay)?|great|perfect|nice|cool|awesome|got it|lol|lgtm|yes|yep|no|nope|sure|done|fixed|makes sense|sounds good)\b[\s\pP]*(so much|a lot|all|everyone)?[\s\pP]*$)|(i|i'm|i'll|i've|we|we'll|we're|let's|he|she|they|you|my|our)\b)`)
)

func asks(text string) bool { return asking.MatchString(strings.TrimSpace(text)) }

// hears decides whether something said is for the bot, and if not, why. The rules look at
// the text alone; where they don't know, the bot rather stays quiet.
func hears(of signal, how Setting, now taking) (hear bool, why string) {
	text := of.message.Text
	inThread := isThread(of.at.kind)
	switch {
	case of.at.guild == directly:
		return true, ""
	case how.Mode == ModeOff:
		return false, "the bot is off in this channel"
	case !how.admits(of.roles):
		return false, "its author has none of the roles that may ask"
	case of.called:
		return true, ""
	case of.at.forum() && (how.Mode == ModeThread || how.Mode == ModeQuestions):
		return true, ""
	case of.empty:
		return false, "Discord does not tell what it says: the app lacks the MESSAGE CONTENT intent"
	case of.toOther:
		return false, "it is said to somebody else"
	case inThread && now.waiting && (now.asker == "" || now.asker == of.by):
		return true, ""
	case inThread && now.taken && chat.IsStop(text):
		return true, ""
	case remarks.MatchString(text) && !strings.HasSuffix(text, "?"):
		return false, "it asks nothing"
	case inThread && now.taken && now.last == of.by:
		return true, "" // a follow-up: "and on staging", "explain the second step"
	case inThread && (now.taken || how.Mode == ModeThread), how.Mode == ModeQuestions:
		return asks(text), "it is no question"
	}
	return false, "the bot was not invited"
}

// admits tells whether one with these roles may ask.
func (s Setting) admits(roles []string) bool {
	return len(s.Roles) == 0 || slices.ContainsFunc(s.Roles, func(role string) bool { return slices.Contains(roles, role) })
}
