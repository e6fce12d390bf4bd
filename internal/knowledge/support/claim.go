package support

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// assertion is one thing that a claim states: a word, a name or a number.
type assertion struct {
	written string
	term    string   // as it is analysed
	keys    []string // what it is called in a statement; any of them will do
	exact   bool     // a name, an identifier or a number: nothing else serves in its place
}

// statement is a sentence as it is compared.
type statement struct {
	set     Set      // terms, and numbers by their value behind a "#"
	all     Set      // stems of all words, those that tell nothing among them
	order   []string // telling terms in the order in which they stand
	denied  Set      // telling terms shortly behind a "not"
	negated bool
	refuses bool // it has a word that says "not" without one, such as "incompatible"
}

// deniesOtherwise says whether one of two statements has a "not", and the other neither that nor a
// word that says as much.
func (s statement) deniesOtherwise(other statement) bool {
	return s.negated && !other.negated && !other.refuses || other.negated && !s.negated && !s.refuses
}

// deniedWords is how many telling words a "not" denies that stand behind it.
const deniedWords = 3

// name is what words for the same thing have in common: that of their first group of synonyms.
func (a assertion) name() string {
	if !a.exact && len(a.keys) > 1 {
		return a.keys[1]
	}
	return a.keys[0]
}

// isIn says whether a statement holds what is asserted.
func (a assertion) isIn(s statement) bool { return slices.ContainsFunc(a.keys, s.set.Has) }

// readStatement cuts a sentence into what it asserts.
func readStatement(sentence string) (asserted []assertion, whole statement) {
	folded := lexical.Fold(knowledge.WithoutAddresses(sentence))
	whole = statement{set: make(Set), all: make(Set), denied: make(Set)}
	deny := 0
	found := lexical.Words(folded)
	texts := lexical.JoinPhrases(found)
	byDefault := readDefaults(folded, found, texts)
	if byDefault != "" {
		asserted = append(asserted, assertion{written: byDefault, keys: []string{defaultTerm}})
		whole.set[defaultTerm] = struct{}{}
		whole.order = append(whole.order, defaultTerm)
	}
	for i := 0; i < len(found); i++ {
		first, text := i, texts[i]
		if text == "" {
			continue
		}
		for i+1 < len(found) && groupsThousands(folded, found[i], found[i+1]) {
			i++
			text += found[i].Text
		}
		if isNegation(text) {
			whole.negated, deny = true, deniedWords
		}
		whole.refuses = whole.refuses || slices.Contains(refusals, lexical.Stem(strings.ToLower(text)))
		if month := isoMonth(folded, found[first]); month != "" {
			whole.set[month] = struct{}{}
		}
		whole.all[lexical.Stem(strings.ToLower(text))] = struct{}{}
		terms := lexical.Analyze(text)
		for _, term := range terms {
			whole.set[term] = struct{}{}
		}
		for _, a := range readAssertions(text, terms, first > 0) {
			for _, key := range a.keys {
				whole.set[key] = struct{}{}
			}
			a.written = folded[found[first].Start:found[i].End]
			if !lexical.IsFiller(a.term) {
				asserted = append(asserted, a)
				whole.order = append(whole.order, a.name())
				if deny > 0 {
					whole.denied[a.name()] = struct{}{}
					deny--
				}
			}
		}
	}
	return asserted, whole
}

// readAssertions gives what one word of some terms asserts: one thing, or several where a
// script writes without spaces. A capital letter makes a name of any word but a
// sentence's first.
func readAssertions(word string, terms []string, inside bool) []assertion {
	if len(terms) == 0 {
		return nil
	}
	whole := terms[len(terms)-1]
	if len(terms) > 1 && whole != lexical.Stem(strings.TrimSuffix(strings.ToLower(word), "'s")) {
		separate := make([]assertion, len(terms))
		for i, term := range terms {
			separate[i].term, separate[i].keys = term, []string{term}
		}
		return separate
	}
	if value, ok := parseNumber(word); ok {
		return []assertion{{term: whole, keys: []string{"#" + value, whole}, exact: true}}
	}
	if len(terms) > 1 || inside && isCapitalized(word) {
		return []assertion{{term: whole, keys: []string{whole}, exact: true}}
	}
	return []assertion{{term: whole, keys: append([]string{whole}, lexical.Synonyms(whole)...)}}
}

// groupsThousands says whether two words are one number written with a comma.
func groupsThousands(text string, before, after lexical.Word) bool {
	if after.Start != before.End+1 || text[before.End] != ',' || !isDigits(before.Text) {
		return false
	}
	whole, _, _ := strings.Cut(after.Text, ".")
	return len(whole) == 3 && isDigits(whole)
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// numerals are the numbers that people write as words. "One" and "second" mean
// other things too often.
var numerals = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40",
	"fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100", "thousand": "1000",
	"third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8",
	"ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12",
	"twice": "2", "half": "50", "double": "2", "triple": "3",
}

// parseNumber gives the value of a word that is one, without a unit or an ending behind it:
// "30" for "30s", "5" for "5th", "1.2" for "v1.2", "3" for "three".
func parseNumber(word string) (value string, ok bool) {
	lower := strings.ToLower(word)
	if value, ok = numerals[lower]; ok {
		return value, true
	}
	if len(lower) > 1 && lower[0] == 'v' && lower[1] >= '0' && lower[1] <= '9' {
		lower = lower[1:]
	}
	end := strings.IndexFunc(lower, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(lower)
	}
	value = strings.TrimLeft(strings.TrimRight(lower[:end], "."), "0")
	if value == "" && end > 0 {
		value = "0"
	}
	return value, end > 0 && len(lower)-end <= maxUnit
}

// maxUnit is how many letters may follow a number's digits.
const maxUnit = 3

var negations = map[string]bool{
	"no": true, "not": true, "never": true, "none": true, "nor": true, "neither": true, "nothing": true, "nobody": true,
	"without": true, "cannot": true, "cant": true, "dont": true, "doesnt": true, "isnt": true, "wont": true, "unable": true,
	"nicht": true, "kein": true, "keine": true, "keinen": true, "keiner": true, "ohne": true, "nie": true, "nichts": true,
	"pas": true, "sans": true, "jamais": true, "aucun": true, "aucune": true, "sin": true, "nunca": true, "ningún": true,
	"não": true, "sem": true, "non": true, "senza": true, "niet": true, "geen": true, "zonder": true,
}

func isNegation(word string) bool {
	lower := strings.ToLower(word)
	return negations[lower] || strings.HasSuffix(lower, "n't")
}

// refusals are words that deny what they are said of.
var refusals = stemWords(`fail fails failed failure refuse refuses refused reject rejects rejected prevent prevents prevented forbid
	forbids forbidden deny denies denied ignore ignores ignored skip skips skipped lack lacks missing absent incompatible
	unavailable unable impossible unsupported invalid disable disables disabled exclude excludes excluded avoid avoids omit omits
	omitted only unless except instead rather replace replaces replaced remove removes removed stop stops`)

func isCapitalized(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first)
}

var months = [...]string{"januari", "februari", "march", "april", "may", "june", "juli", "august", "septemb", "octob", "novemb", "decemb"}

// isoMonth gives the term of the month of a date such as 2024-05-31, where a word is
// its year, and "" elsewhere.
func isoMonth(text string, year lexical.Word) string {
	rest := text[year.End:]
	if len(year.Text) != 4 || !isDigits(year.Text) || len(rest) < 6 || rest[0] != '-' || rest[3] != '-' || !isDigits(rest[1:3]) {
		return ""
	}
	month := int(rest[1]-'0')*10 + int(rest[2]-'0')
	if month < 1 || month > len(months) {
		return ""
	}
	return months[month-1]
}
