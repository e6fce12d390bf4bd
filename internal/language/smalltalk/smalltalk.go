// Package smalltalk tells what a short message is: a greeting, thanks, a wish to drop a
// question, words that point at what others said. It is pure functions over a message's
// text and knows the languages of its list, phrases.txt. A message is of a kind only
// where phrases of the list, and fillers, cover all of it.
package smalltalk

import (
	_ "embed" // the list
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

//go:embed phrases.txt
var list string

// Kind is what a phrase does.
type Kind string

// The kinds of messages that ask the documents nothing.
const (
	Greeting  Kind = "greeting"
	Thanks    Kind = "thanks"
	Goodbye   Kind = "goodbye"
	Ack       Kind = "ack"   // "ok", "lol", a thumb
	Emoji     Kind = "emoji" // signs and pictures alone
	Insult    Kind = "insult"
	Test      Kind = "test"
	Gibberish Kind = "gibberish"
	Joke      Kind = "joke" // chat for its own sake
	Who       Kind = "who"  // are you
	Can       Kind = "can"  // what can you do
	Know      Kind = "know" // what do you know
	Use       Kind = "use"  // how do I use you
)

const (
	filler Kind = "filler"
	drop   Kind = "drop"
	again  Kind = "again"
	point  Kind = "point"
	other  Kind = "other"
	pick   Kind = "pick"
)

// social are the kinds that make a message social, the one that decides first: "hi, who
// are you?" asks who the bot is.
var social = []Kind{Who, Can, Know, Use, Insult, Joke, Test, Thanks, Goodbye, Greeting, Ack}

// places are the kinds of words that say which of several things is meant.
var places = []Kind{"1st", "2nd", "3rd", "4th"}

const last Kind = "last"

// English is the language of messages that no other claims.
const English = "en"

// Message is what a message was found to be.
type Message struct {
	Kind     Kind
	Language string // "en", "de", …
}

// phrase is a sequence of words; anyWord stands for one of any kind.
type phrase struct {
	kind     Kind
	language string
	words    []string
}

const anyWord = "*"

// byFirst holds the phrases by their first word.
var byFirst = parse(list)

func parse(list string) map[string][]phrase {
	parsed := make(map[string][]phrase)
	var kind Kind
	var language string
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if head, ok := strings.CutPrefix(line, "["); ok {
			first, second, _ := strings.Cut(strings.TrimSuffix(head, "]"), " ")
			kind, language = Kind(first), second
			continue
		}
		for entry := range strings.SplitSeq(line, ",") {
			words := split(entry)
			if len(words) > 0 {
				parsed[words[0]] = append(parsed[words[0]], phrase{kind, language, words})
			}
		}
	}
	return parsed
}

// split cuts a text into its words, folded and in small letters, without what is between
// them. Each letter of Chinese and Japanese is a word of its own.
func split(text string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range strings.ToLower(lexical.Fold(text)) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー':
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word.WriteRune(r)
		case r == '\'' && word.Len() > 0: // "what's" and "whats" are one
		case r == '*' || r == '^' || r == '+' && word.Len() == 0:
			end()
			word.WriteRune(r)
			if r != '+' {
				end()
			}
		default:
			end()
		}
	}
	end()
	return words
}

// maxWords is how many words a message may have that phrases cover.
const maxWords = 16

// matched is a phrase that covers words of a message.
type matched struct {
	phrase
	length int
}

// cover finds phrases of the kinds that, with fillers, cover all words, the fewest of
// them; nil where there are none, or fillers alone.
func cover(words []string, kinds ...Kind) []matched {
	if len(words) == 0 || len(words) > maxWords {
		return nil
	}
	best := make([][]matched, len(words)+1) // of the words from here on
	reached := make([]bool, len(words)+1)
	reached[len(words)] = true
	for at := len(words) - 1; at >= 0; at-- {
		for _, candidate := range starting(words[at:], kinds) {
			next := at + candidate.length
			if !reached[next] || reached[at] && !better(candidate, best[next], best[at]) {
				continue
			}
			reached[at] = true
			best[at] = append([]matched{candidate}, best[next]...)
		}
	}
	if !slices.ContainsFunc(best[0], func(m matched) bool { return m.kind != filler && m.kind != pick }) {
		return nil
	}
	return best[0]
}

// better says whether a phrase and what follows it cover words better than others do:
// with fewer phrases, and with fewer fillers among as many.
func better(candidate matched, following, others []matched) bool {
	fillers := func(list []matched) int {
		count := 0
		for _, m := range list {
			if m.kind == filler || m.kind == pick {
				count++
			}
		}
		return count
	}
	if 1+len(following) != len(others) {
		return 1+len(following) < len(others)
	}
	return fillers(append([]matched{candidate}, following...)) < fillers(others)
}

// starting gives the phrases of the kinds, and the fillers, that words begin with.
func starting(words []string, kinds []Kind) []matched {
	var found []matched
	for _, p := range append(slices.Clone(byFirst[words[0]]), byFirst[squeeze(words[0])]...) {
		if (p.kind == filler || slices.Contains(kinds, p.kind)) && begins(words, p.words) {
			found = append(found, matched{p, len(p.words)})
		}
	}
	return found
}

func begins(words, with []string) bool {
	if len(words) < len(with) {
		return false
	}
	for i, word := range with {
		if word != anyWord && word != words[i] && (i > 0 || word != squeeze(words[i])) {
			return false
		}
	}
	return true
}

// squeeze shortens letters that are drawn out: "hiiii" is "hi", "thaaanks" is "thanks".
func squeeze(word string) string {
	runes := []rune(word)
	var short []rune
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && runes[end] == runes[i] {
			end++
		}
		short = append(short, runes[i])
		if end-i == 2 {
			short = append(short, runes[i])
		}
		i = end
	}
	return string(short)
}

// Read tells what a message is that asks the documents nothing; ok is false for any other.
func Read(text string) (message Message, ok bool) {
	words := split(text)
	if len(words) == 0 {
		if strings.ContainsFunc(text, unicode.IsGraphic) && !strings.ContainsAny(text, "?¿？") && strings.TrimSpace(text) != "" {
			return Message{Emoji, English}, true
		}
		return Message{}, false
	}
	found := cover(words, social...)
	for _, kind := range social {
		if kind == Ack && strings.ContainsAny(text, "?¿？") {
			break // "right?", "ok and then?"
		}
		if slices.ContainsFunc(found, func(m matched) bool { return m.kind == kind }) {
			return Message{kind, languageOf(found, words)}, true
		}
	}
	if isGibberish(words) {
		return Message{Gibberish, English}, true
	}
	return Message{}, false
}

// languages are those of the list, in the order in which a message is taken for theirs.
var languages = []string{English, "de", "fr", "es", "pt", "it", "nl", "ja", "zh"}

// languageOf is the language whose phrases cover most of a message: those that were found,
// and the same words as other languages have them.
func languageOf(found []matched, words []string) string {
	covered := make(map[string]int)
	at := 0
	for _, m := range found {
		for _, language := range languages {
			same := func(p phrase) bool {
				return p.language == language && len(p.words) == m.length && begins(words[at:], p.words)
			}
			if slices.ContainsFunc(byFirst[m.words[0]], same) {
				covered[language] += m.length
			}
		}
		at += m.length
	}
	best := English
	for _, language := range languages {
		if covered[language] > covered[best] {
			best = language
		}
	}
	return best
}

// keyboardRows are the rows of common keyboards; who types nonsense runs along them.
var keyboardRows = []string{"qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm"}

// isGibberish tells words that are no words: one or two runs along a keyboard, or letters
// without a vowel.
func isGibberish(words []string) bool {
	for _, word := range words {
		if len(word) < 4 || !isLatin(word) || !runsAlong(word) && (len(word) < 6 || strings.ContainsAny(word, "aeiouy")) {
			return false
		}
	}
	return len(words) <= 2
}

func isLatin(word string) bool {
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

// runsAlong tells a word whose letters lie side by side on a keyboard, all but one or two.
func runsAlong(word string) bool {
	beside := 0
	for i := 1; i < len(word); i++ {
		for _, row := range keyboardRows {
			from, to := strings.IndexByte(row, word[i-1]), strings.IndexByte(row, word[i])
			if from >= 0 && to >= 0 && (to-from == 1 || from-to == 1) {
				beside++
				break
			}
		}
	}
	return beside >= 3 && beside >= len(word)-2-len(word)/4
}

// Drops tells whether a message gives up a question that the bot has asked: "never mind",
// "thanks, found it myself".
func Drops(text string) (Message, bool) {
	words := split(text)
	found := cover(words, drop, Thanks, Ack, Goodbye)
	if !slices.ContainsFunc(found, func(m matched) bool { return m.kind == drop }) {
		return Message{}, false
	}
	return Message{drop, languageOf(found, words)}, true
}

// AsksAgain tells whether a message says that the bot's question was not understood:
// "what?", "which ones?", a lone question mark.
func AsksAgain(text string) (Message, bool) {
	words := split(text)
	if len(words) == 0 {
		return Message{again, English}, strings.ContainsAny(text, "?¿？")
	}
	found := cover(words, again)
	if found == nil {
		return Message{}, false
	}
	return Message{again, languageOf(found, words)}, true
}

// Points tells whether a message only points at what was said before it: "any idea?",
// "is that right?", a lone question mark, nothing at all.
func Points(text string) bool {
	words := split(text)
	return len(words) == 0 && !strings.ContainsFunc(text, isPicture) || cover(words, point) != nil
}

func isPicture(r rune) bool { return unicode.Is(unicode.So, r) }

// Other cuts words off that say that a new question follows: "different question: …". ok
// is false where there are none, or nothing follows.
func Other(text string) (rest string, ok bool) {
	before, after, found := strings.Cut(text, ":")
	if !found {
		if before, after, found = strings.Cut(text, ","); !found {
			return "", false
		}
	}
	after = strings.TrimSpace(after)
	return after, after != "" && cover(split(before), other) != nil
}

// Place gives which of several things a message means that names its place alone, from 1;
// -1 is the last one. ok is false for any other message.
func Place(text string) (place int, ok bool) {
	for at, kind := range places {
		if cover(split(text), kind, pick) != nil {
			return at + 1, true
		}
	}
	return -1, cover(split(text), last, pick) != nil
}
