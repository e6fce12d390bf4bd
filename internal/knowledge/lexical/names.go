package lexical

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

const (
	// nameMark begins a term that stands for a whole name. No other term begins with it.
	nameMark = markSeparator
	// maxNameWords is how many telling words a name has at most: what is longer is a sentence.
	maxNameWords = 5
	// maxEntries is how many entries of a glossary are read in one passage.
	maxEntries = 100
)

// inBrackets matches further names behind one: Repository (Repo, Chart Repository).
var inBrackets = regexp.MustCompile(`^(.+?)\s*\((.+)\)\s*$`)

// glossary matches titles and headings under which terms are explained.
var glossary = regexp.MustCompile(`(?i)(?:^|\s)(?:glossar(?:y|ies)?|terms|terminology|definitions|acronyms|abbreviations|vocabulary|jargon|begriffe|abkürzungen|glossaire|glosario|glossário|glossario|woordenlijst)\W*$`)

// entry matches a line of a glossary: a term and, behind a colon, a dash or in the next column,
// what it is.
var entry = regexp.MustCompile(`(?m)^[ \t]*(?:[-*+][ \t]+|\|[ \t]*)?([^|:\n]{1,60}?)[ \t]*(?::[ \t]|[ \t][–—-][ \t]|\|)`)

// Names returns the terms for the names of what a passage is about, so that the section about a
// thing is found among many that mention it: the passage's own heading, or the title before the
// first heading, each as one term, and so each name in brackets behind it. In a glossary the terms
// that the passage explains are names as well.
func Names(title string, headings []string, body string) []string {
	own := title
	if len(headings) > 0 {
		own = headings[len(headings)-1]
	}
	var names []string
	for _, text := range SplitNames(own) {
		if name := Name(tellingTerms(text)); name != "" {
			names = append(names, name)
		}
	}
	if !glossary.MatchString(title) && !glossary.MatchString(own) {
		return names
	}
	for _, found := range entry.FindAllStringSubmatch(knowledge.WithoutAddresses(body), maxEntries) {
		for _, text := range SplitNames(found[1]) {
			if name := Name(tellingTerms(text)); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// SplitNames returns the names that a heading gives a thing: the heading itself, or what stands
// in front of brackets and, between commas, in them.
func SplitNames(heading string) []string {
	found := inBrackets.FindStringSubmatch(heading)
	if found == nil {
		return []string{heading}
	}
	return append([]string{found[1]}, strings.Split(found[2], ",")...)
}

// Name returns the term for the name that consists of some terms, "" for none or too many.
func Name(terms []string) string {
	name := nameMark + strings.Join(terms, " ")
	if len(terms) == 0 || len(terms) > maxNameWords || len(name) > maxTermBytes {
		return ""
	}
	return name
}

// tellingTerms returns one term for each word of a text that is no filler: of an identifier the
// whole.
func tellingTerms(text string) []string {
	var telling []string
	for _, word := range Words(Fold(knowledge.WithoutAddresses(text))) {
		terms := appendTerms(nil, word.Text)
		if len(terms) > 0 && !IsFiller(terms[len(terms)-1]) {
			telling = append(telling, terms[len(terms)-1])
		}
	}
	return telling
}
