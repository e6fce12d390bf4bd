package lexical

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/language"
)

// Version is that of the analysis. Raise it when what Analyze, AnalyzeIn or Names gives changes:
// an index holds the terms of one version.
const Version = 4

// AnalyzeIn returns the terms of a text in a language: those of Analyze, and for each word
// that another stem stands for in that language that one too, right behind. So a text is
// found by questions in its own language, and by names and exact words in all others. An
// article before an apostrophe ("l'image") is left out in French and Italian.
func AnalyzeIn(tag language.Tag, text string) []string {
	if !hasStems(tag) {
		return Analyze(text)
	}
	terms := make([]string, 0, len(text)/4)
	for _, pair := range Pairs(tag, text) {
		terms = append(terms, pair.Terms...)
		if pair.Native != "" && !pair.IsPlain() {
			terms = append(terms, pair.Native)
		}
	}
	return terms
}

// Pair is a word's analysis in two languages.
type Pair struct {
	Written string   // the word in the text; of joined ones the first and the second
	Terms   []string // as Analyze gives them
	Native  string   // its stem in the text's language, marked with the language; "" for none
	Stem    string   // the same without the mark
}

// IsPlain says whether a word's stem is the same in its language and in English: texts hold
// it without the mark. Other forms of the word may have the marked stem.
func (p Pair) IsPlain() bool { return slices.Contains(p.Terms, p.Stem) }

// Pairs analyses each word of a text in a language. Words that a hyphen joins have a
// further pair for both together.
func Pairs(tag language.Tag, text string) []Pair {
	text = norm.NFC.String(strings.ToValidUTF8(knowledge.WithoutAddresses(text), "\uFFFD"))
	words := Words(text)
	pairs := make([]Pair, 0, len(words))
	for i, word := range words {
		own := withoutArticle(tag, word.Text)
		pair := Pair{Written: own, Terms: appendTerms(nil, Fold(own)), Stem: nativeStem(tag, own)}
		if pair.Stem != "" {
			pair.Native = pair.Stem + markSeparator + string(tag)
		}
		pairs = append(pairs, pair)
		if i > 0 && words[i-1].End+1 == word.Start && text[words[i-1].End] == '-' {
			joined := words[i-1].Text + word.Text
			pairs = append(pairs, Pair{Written: joined, Terms: []string{Stem(strings.ToLower(Fold(joined)))}})
		}
	}
	return pairs
}

func hasStems(tag language.Tag) bool { return tag != language.English && stemmers[tag] != nil }

// markSeparator stands between a stem and the language that it is one in: "instal", the
// stem of Spanish "instalar", would pass for a word of English without it. No other term
// has it.
const markSeparator = ":"

// maxMark is how long a mark is.
const maxMark = 3

// IsMarked says whether a term is no word of English: a stem in another language, or a name.
func IsMarked(term string) bool { return strings.Contains(term, markSeparator) }

// nativeStem returns the folded stem of a word of letters in a language, "" for none.
func nativeStem(tag language.Tag, word string) string {
	if !hasStems(tag) || len(word) < 3 || len(word) > maxTermBytes-maxMark ||
		strings.ContainsFunc(word, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) || len(splitIdentifier(word)) > 1 {
		return ""
	}
	stem := Fold(stemmers[tag].apply(strings.ToLower(word)))
	if len(stem) > maxTermBytes-maxMark {
		return ""
	}
	return stem
}

// withoutArticle returns what follows the apostrophe of "l'image" and "dell'utente".
func withoutArticle(tag language.Tag, word string) string {
	if tag != language.French && tag != language.Italian {
		return word
	}
	at := strings.IndexAny(word, "'’")
	if at < 1 || at > 6 {
		return word
	}
	if rest := strings.TrimLeft(word[at:], "'’"); len(rest) > 1 {
		return rest
	}
	return word
}

// TellingPairs returns the pairs of a question in a language without what tells nothing
// about its subject, as IsFiller says for English.
func TellingPairs(tag language.Tag, question string) []Pair {
	var telling []Pair
	for _, pair := range Pairs(tag, question) {
		pair.Terms = slices.DeleteFunc(pair.Terms, func(term string) bool { return isFillerIn(tag, term) })
		if len(pair.Terms) > 0 {
			telling = append(telling, pair)
		}
	}
	return telling
}

func isFillerIn(tag language.Tag, term string) bool {
	fillers, ok := fillersByLanguage[tag]
	if !ok {
		return IsFiller(term)
	}
	return fillers[term] || tag == language.Japanese && isHiragana(term)
}

// fillersByLanguage holds what Analyze gives for the words that tell nothing, of every
// language but English. Their stems are not among them: words that tell have the same.
var fillersByLanguage = func() map[language.Tag]map[string]bool {
	all := make(map[language.Tag]map[string]bool)
	for _, tag := range language.All() {
		if tag == language.English {
			continue
		}
		function, question := language.Words(tag)
		fillers := make(map[string]bool)
		for _, word := range slices.Concat(function, question) {
			for _, term := range Analyze(withoutArticle(tag, word)) {
				fillers[term] = true
			}
		}
		all[tag] = fillers
	}
	return all
}()

// isHiragana reports whether a term is of hiragana alone: endings and particles.
func isHiragana(term string) bool {
	for _, r := range term {
		if !unicode.Is(unicode.Hiragana, r) {
			return false
		}
	}
	return term != ""
}
