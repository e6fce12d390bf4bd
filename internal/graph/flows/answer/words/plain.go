package words

import (
	_ "embed" // the list
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

//go:embed slang.txt
var slangList string

var slang = func() map[string]bool {
	set := make(map[string]bool)
	for line := range lines(slangList) {
		for _, word := range strings.Fields(line) {
			set[word] = true
			for _, term := range lexical.Analyze(word) {
				set[term] = true
			}
		}
	}
	return set
}()

// IsSlang says whether a term is a word of chat that tells nothing about what is asked.
func IsSlang(term string) bool { return slang[term] }

// Telling is how many words of a text tell what it is about.
func Telling(text string) int {
	count := 0
	for _, term := range lexical.Analyze(WriteOut(text)) {
		if !lexical.IsFiller(term) && !slang[term] {
			count++
		}
	}
	return count
}

var (
	whether = regexp.MustCompile(`(?i)^\W*(?:(?:and|but|so|ok|hey|hi|also)\W+)*(?:is|are|isn'?t|aren'?t|can|can'?t|could|does|doesn'?t|do|don'?t|did|will|won'?t|would|should|has|have|was|were|must|may|am)\s`)
	// requested begins a wish that is put as a question: "could you tell me about …".
	requested = regexp.MustCompile(`(?i)^\W*(?:(?:and|but|so|ok|hey|hi|hello|please)\W+)*(?:can|could|would|will)\s+(?:you|u|someone|anyone|anybody|somebody)\s+(?:(?:please|kindly|also|maybe|perhaps)\s+)*(?:tell|give|show|explain|share|shed|provide|describe|elaborate|list|help|clarify|remind|point|walk|name)\b`)
	// function asks what a thing does or is for.
	function = regexp.MustCompile(`(?i)^\W*(?:\S+\s+){0,3}(?:what|wat)(?: does|'?s| is| do)\s.+\b(?:do|for|mean|stand for|check)\b\W*(?:exactly|anyway)?\W*$`)
	which    = regexp.MustCompile(`(?i)\b(?:what|which|how|why|where|when|who|whose)\b`)
)

// AsksWhether says whether a question is to be answered by yes or no.
func AsksWhether(text string) bool { return whether.MatchString(text) && !requested.MatchString(text) }

// States says whether a message asks nothing: it has no question mark, no question word, and no
// verb in front.
func States(text string) bool {
	return !strings.ContainsAny(text, "?？") && !AsksWhich(text) && !whether.MatchString(text)
}

// AsksFunction says whether a question asks what a thing does, or is for.
func AsksFunction(text string) bool { return function.MatchString(WriteOut(text)) }

// AsksWhich says whether a text has a question word.
func AsksWhich(text string) bool { return which.MatchString(text) }

// ExplainsPronoun says whether a question has a pronoun that stands for what it names
// before: "what is a hook and how does it work".
func ExplainsPronoun(text string) bool {
	rest := expletives.ReplaceAllString(text, " ")
	at := referents.FindStringIndex(rest)
	return at != nil && explained(rest[:at[0]])
}

// MeansProduct says whether "it" in a message may stand for what all documents are about: the
// message asks for yes or no, or tells more than what is to be done, and points at nothing else.
func MeansProduct(text string) bool {
	if ActsOnProduct(text) {
		return true
	}
	text = productLast.ReplaceAllString(text, " it ")
	for _, referent := range referents.FindAllString(expletives.ReplaceAllString(text, " "), -1) {
		if referent = strings.ToLower(referent); referent != "it" && referent != "its" {
			return false
		}
	}
	return AsksWhether(text) || slices.ContainsFunc(lexical.Analyze(WriteOut(text)), namesThing)
}

// productAction is done to a program as a whole: in a first message "it" is the program.
var productAction = regexp.MustCompile(`(?i)^\W*(?:how|where|what do i need|what's needed|can|could)\b.*\b(?:install|uninstall|download|set ?up|deploy|upgrade|get started with|launch)\s+(?:it|this)(?:\s+(?:up|on|in|with|from|to|using|via)\b.*)?\W*$`)

// ActsOnProduct says whether a message asks how the program that all documents are about is
// installed, or the like: "how do I install it?".
func ActsOnProduct(text string) bool { return productAction.MatchString(WriteOut(text)) }

// productLast is a "this" at the end of a message that may mean the product: "do I need Docker for this?"
var productLast = regexp.MustCompile(`(?i)\b(?:for|with|in|on|by|from) this\W*$`)

// namesThing says whether a term names something, rather than what is to be done.
func namesThing(term string) bool {
	return !lexical.IsFiller(term) && !slang[term] && !actions[term]
}

// joint parts a message where a pronoun behind it may mean what is named before it.
var joint = regexp.MustCompile(`(?i)[,;.:!?\n]\s|\b(?:and|but|or|if|when|because|since|so|that|which|who|then|without|before|after|while|until|instead of)\b`)

// explained says whether what stands before a pronoun of a message names a thing, in a
// part of its own.
func explained(before string) bool {
	at := joint.FindAllStringIndex(before, -1)
	if at == nil {
		return false
	}
	return slices.ContainsFunc(lexical.Analyze(before[:at[len(at)-1][0]]), namesThing)
}

// identifier is one word in the form of code: "url_for", "--dry-run", "foo.bar".
var identifier = regexp.MustCompile(`^[\s` + "`" + `]*(?:--?[a-zA-Z][\w-]*|\w+(?:[_.:/]+\w+)+(?:\(\))?|\w+\(\))[\s?` + "`" + `]*$`)

// IsIdentifier says whether a message is one word in the form of code, which names one thing.
func IsIdentifier(text string) bool { return identifier.MatchString(text) }

// maxKeywords is how many words a message has at most that only names a subject.
const maxKeywords = 3

// IsKeyword says whether a message only names a subject: "precondition", "docker secrets".
func IsKeyword(text string) bool {
	fields := strings.Fields(text)
	return len(fields) > 0 && len(fields) <= maxKeywords && !strings.ContainsAny(text, "?？!！\n") && !AsksWhich(text) && !whether.MatchString(text)
}
