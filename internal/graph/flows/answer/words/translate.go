package words

import (
	_ "embed" // the list
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

//go:embed translations.txt
var translationsList string

// translationColumns are the languages of the columns behind the English one.
var translationColumns = []language.Tag{
	language.German, language.French, language.Spanish, language.Portuguese, language.Italian,
	language.Dutch, language.Japanese, language.Chinese,
}

// dictionary has the analysed English terms that words of a language stand for, by stem, or as
// they are written in Japanese and Chinese.
type dictionary map[string][]string

var dictionaries = parseTranslations(translationsList)

func parseTranslations(list string) map[language.Tag]dictionary {
	parsed := make(map[language.Tag]dictionary, len(translationColumns))
	for _, tag := range translationColumns {
		parsed[tag] = make(dictionary)
	}
	for line := range lines(list) {
		columns := strings.Split(line, " | ")
		terms := lexical.Analyze(columns[0])
		for i, tag := range translationColumns {
			for _, word := range strings.Fields(columns[i+1]) {
				key := dictionaryKey(tag, word)
				parsed[tag][key] = appendNew(parsed[tag][key], terms...)
			}
		}
	}
	return parsed
}

// dictionaryKey is the form of a word that a dictionary has.
func dictionaryKey(tag language.Tag, word string) string {
	word = strings.ToLower(word)
	if isWide(tag) {
		return word
	}
	for _, pair := range lexical.Pairs(tag, word) {
		if pair.Stem != "" {
			return pair.Stem
		}
	}
	return lexical.Fold(word)
}

func isWide(tag language.Tag) bool { return tag == language.Japanese || tag == language.Chinese }

func appendNew(terms []string, others ...string) []string {
	for _, other := range others {
		if !slices.Contains(terms, other) {
			terms = append(terms, other)
		}
	}
	return terms
}

// leastOfCompound is how many bytes of a compound word its first or last part has at least.
const leastOfCompound = 5

// Translate gives the analysed English terms that a word of a question in another language
// stands for; nil where none is known. German and Dutch compounds stand for what their first and
// last parts do: "Protokolldatei".
func Translate(tag language.Tag, word string) []string {
	known := dictionaries[tag]
	key := dictionaryKey(tag, word)
	terms := known[key]
	if len(terms) > 0 || tag != language.German && tag != language.Dutch {
		return slices.Clone(terms)
	}
	first, last := "", ""
	for part := range known {
		if len(part) < leastOfCompound {
			continue
		}
		if strings.HasPrefix(key, part) && len(part) > len(first) {
			first = part
		}
		if strings.HasSuffix(key, part) && len(part) > len(last) {
			last = part
		}
	}
	return appendNew(slices.Clone(known[first]), known[last]...)
}

// Translated is a word of a text with the analysed English terms that it stands for.
type Translated struct {
	Word  string
	Terms []string
}

// TranslateWide finds the words of a Japanese or Chinese text that are known, longest first
// where several begin at one place.
func TranslateWide(tag language.Tag, text string) []Translated {
	if !isWide(tag) {
		return nil
	}
	known := dictionaries[tag]
	var found []Translated
	for text = strings.ToLower(text); text != ""; {
		longest := ""
		for word := range known {
			if len(word) > len(longest) && strings.HasPrefix(text, word) {
				longest = word
			}
		}
		if longest == "" {
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
			continue
		}
		found = append(found, Translated{Word: longest, Terms: slices.Clone(known[longest])})
		text = text[len(longest):]
	}
	return found
}
