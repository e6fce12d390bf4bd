package analyze

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Decision is what a person wants done with a draft.
type Decision string

// A person takes the draft, gives up, says what is to be different, or wants to say so.
const (
	Approved Decision = "approved"
	Stopped  Decision = "stopped"
	Feedback Decision = "feedback"
	Revise   Decision = "revise"
)

// The choices of the question, which are offered in this order.
const (
	choiceApprove = "approve"
	choiceRevise  = "revise"
	choiceStop    = "stop"
)

// maxFeedback is how much of a reply counts, in characters.
const maxFeedback = 2000

// parseDecision reads the reply to a draft. Words beside a press of Revise are the feedback.
func parseDecision(answer graph.Answer) (decision Decision, text string) {
	text = shorten.Head(strings.TrimSpace(answer.Text), maxFeedback)
	switch {
	case answer.Choice == choiceApprove:
		return Approved, text
	case answer.Choice == choiceStop:
		return Stopped, text
	case text == "":
		return Revise, ""
	}
	return ReadReply(text), text
}

// ReadReply tells what a reply in plain words means: "looks good", "ship it", "lgtm" and
// the like approve, with a letter or two wrong, too; "stop" stops; a bare "no" or "revise"
// wants to say more; anything else, also "yes, but …", is feedback.
func ReadReply(text string) Decision {
	words := replyWords(text)
	switch {
	case len(words) == 0, len(words) > maxReplyWords, strings.Contains(text, "?"):
		return Feedback
	case consistsOf(words, stopping, besideStop):
		return Stopped
	case consistsOf(words, refusing, besideRefusal):
		return Revise
	}
	decided := false
	for i, word := range words {
		switch {
		case isApproval(word):
			decided = true
		case i+1 < len(words) && pairs[word+" "+words[i+1]], i > 0 && pairs[words[i-1]+" "+word]:
			decided = true
		case !isPolite(word):
			return Feedback
		}
	}
	if decided {
		return Approved
	}
	return Feedback
}

// maxReplyWords is the length of the longest reply that can be an approval.
const maxReplyWords = 10

// consistsOf says whether words are of these alone, and at least one of them decides.
func consistsOf(words []string, deciding, beside map[string]bool) bool {
	decided := false
	for _, word := range words {
		if !deciding[word] && !beside[word] {
			return false
		}
		decided = decided || deciding[word]
	}
	return decided
}

func wordSet(words string) map[string]bool {
	made := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		made[word] = true
	}
	return made
}

var (
	// approving words approve whatever polite words stand around them.
	approving = wordSet(`approve approved approving accept accepted lgtm ok okay okey k kk yes yep yeah yup ya sure good great
		perfect fine nice excellent awesome cool correct done agreed agree ship publish finished wonderful brilliant
		ja oui si sí sim tak da passt gut super d'accord vale bueno 👍 ✅ 🚀 👌 🎉 💯 ☑ ✔ +1`)
	polite = wordSet(`that's thats by it its it's this that all to me us we i for very really so the a is are am be from here now please pls thanks thank you
		thx cheers go ahead with just one draft analysis version look looks looking sounds seems lets let's let im i'm happy works
		work quite pretty exactly as well done and enough everything report`)
	pairs         = map[string]bool{"go ahead": true, "go for": true, "sounds good": true, "works for": true, "take it": true, "use it": true, "post it": true, "send it": true, "do it": true, "save it": true, "keep it": true, "i'm happy": true, "im happy": true}
	stopping      = wordSet("stop cancel abort discard quit drop forget never nevermind")
	besideStop    = wordSet("it that this mind please the a analysis draft thanks now")
	refusing      = wordSet("no nope nah not revise change changes edit nein non")
	besideRefusal = wordSet("yet please it this that quite thanks")
	// In these words a letter that is wrong, missing, too many or in another place is
	// overlooked.
	forgivingApproval = []string{"approve", "approved", "accept", "accepted", "perfect", "excellent", "awesome", "correct", "agreed", "publish", "great", "lgtm", "good"}
	forgivingPolite   = []string{"looks", "sounds", "thanks", "please"}
)

func isApproval(word string) bool {
	return approving[word] || !polite[word] && nearlyOne(word, forgivingApproval)
}

func isPolite(word string) bool { return polite[word] || nearlyOne(word, forgivingPolite) }

func nearlyOne(word string, known []string) bool {
	return len(word) >= 4 && slices.ContainsFunc(known, func(one string) bool { return isNearlyEqual(word, one) })
}

// replyWords gives the words of a reply in lower case, without punctuation. Emoji count.
func replyWords(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '\'' || r == '\uFE0F' || unicode.Is(unicode.Sk, r)
	})
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
	}
	return words
}

// isNearlyEqual says whether two words differ by one letter: another, one more, one less, or two
// that changed places.
func isNearlyEqual(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i == len(a) || a[i+1:] == b[i+1:] ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
