package suggest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// candidate is a suggestion that a document makes.
type candidate struct {
	Suggestion
	document knowledge.DocumentID
	worth    int // the higher, the more it tells somebody who is new
	turn     int // how many of its document are better
}

const (
	// maxTerm and maxQuestion are how long a suggestion is at most, in letters.
	maxTerm     = 30
	maxQuestion = 80
	// minAnswer is how many letters a passage has at least that answers something.
	minAnswer = 60
)

// What a suggestion is worth.
const (
	worthOther = iota
	worthTerm
	worthTask     // of a heading that names one
	worthQuestion // for a task, as the documents ask it
)

// defining finds the verb with which a definition begins, behind the term that it defines.
var defining = regexp.MustCompile(`(?i)^(?:(?:an?|the|une?|les?|la|ein|eine|der|die|das|una?|el|los|las|o|um|uma|un|il|lo|een|het|de)\s+)?(.+?)\s+(?:is|are|ist|sind|est|sont|es|son|é|são|è|sono|zijn)\s+(?:an?|the|ein|eine|une?|das|der|die|una?|uma?|el|la|le|um|een|het|de)\s`)

// makeCandidate makes a suggestion of a passage whose heading is a question or names a task, or
// whose text begins with a definition of what the heading names.
func makeCandidate(found index.Found) (candidate, bool) {
	made := candidate{document: found.Document.ID}
	section := strings.TrimSpace(found.Passage.Section())
	if utf8.RuneCountInString(found.Passage.Text) < minAnswer && !isWide(section) {
		return made, false
	}
	task := questionOfTask(section)
	switch {
	case strings.HasSuffix(section, "?") || strings.HasSuffix(section, "？"):
		made.Question, made.worth = section, worthOther
		if asksTask.MatchString(section) {
			made.worth = worthQuestion
		}
		return made, standsAlone(section)
	case task != "" && language.Detect(found.Passage.Text).Or(language.English) == language.English:
		made.Question, made.worth = task, worthTask
		return made, standsAlone(task)
	}
	made.Term, made.worth = definedTerm(found), worthTerm
	return made, made.Term != ""
}

// definedTerm gives the term of a heading that the text below it begins to define, "" for none.
func definedTerm(found index.Found) string {
	begins := defining.FindStringSubmatch(strings.TrimSpace(found.Passage.Text))
	if begins == nil || utf8.RuneCountInString(begins[1]) > maxTerm || strings.ContainsAny(begins[1], "[]()<>{}|*#\n") {
		return ""
	}
	term := strings.Trim(begins[1], "`\"_")
	for _, heading := range []string{found.Passage.Section(), found.Document.Title} {
		if strings.EqualFold(heading, term) || strings.EqualFold(strings.TrimSuffix(heading, "s"), term) {
			return term
		}
	}
	return ""
}

var (
	// asksTask begins questions about what people want to do.
	asksTask = regexp.MustCompile(`(?i)^(?:how (?:(?:do|can|should) (?:i|we)|to)|can (?:i|we)|wie|comment|cómo|como|come|hoe)\b`)
	// leaning are words that only what stands before a heading explains.
	leaning = regexp.MustCompile(`(?i)\b(?:it|its|this|that|these|those|they|them|their|one|here|there|else|same)\b`)
	howTo   = regexp.MustCompile(`(?i)^how (?:to|do you) (.+)$`)
)

// leastTelling is how many words a question has at least that tell what it is about.
const leastTelling = 2

// standsAlone says whether a question can be understood, and is short enough, where nothing
// stands before it.
func standsAlone(question string) bool {
	if utf8.RuneCountInString(question) > maxQuestion {
		return false
	}
	if isWide(question) {
		return true
	}
	telling := 0
	for _, term := range lexical.Analyze(question) {
		if !lexical.IsFiller(term) {
			telling++
		}
	}
	return telling >= leastTelling && !leaning.MatchString(question)
}

// tasks are the verbs of headings that name a task, as a heading may have them. Those that are
// nouns as well are not among them: "Search quality" asks for nothing to be searched.
var tasks = func() map[string]string {
	known := make(map[string]string)
	for _, verb := range strings.Fields(`add configure connect convert create customize define delete deploy disable enable
		install integrate invite migrate publish remove rename replace restore rotate uninstall use verify`) {
		known[verb] = verb
		known[strings.TrimSuffix(verb, "e")+"ing"] = verb
	}
	return known
}()

// questionOfTask makes a question of an English heading that names a task: "Installing the
// agent", "How to install the agent"; "" of others.
func questionOfTask(heading string) string {
	if strings.ContainsAny(heading, "?:()[]`|!.,") {
		return ""
	}
	if how := howTo.FindStringSubmatch(heading); how != nil {
		return "How do I " + how[1] + "?"
	}
	first, rest, _ := strings.Cut(heading, " ")
	verb := tasks[strings.ToLower(first)]
	if verb == "" || strings.TrimSpace(rest) == "" {
		return ""
	}
	return "How do I " + verb + " " + strings.TrimSpace(rest) + "?"
}

// isWide tells texts in Chinese or Japanese letters, which have no spaces.
func isWide(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return first >= 0x3040
}
