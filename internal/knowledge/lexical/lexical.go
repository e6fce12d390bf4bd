// Package lexical says what a word is for every index backend and for the flows:
// how text is cut into terms, which of them carry no meaning, and how passages are
// scored by them. Both backends analyse with it, so that both rank alike.
package lexical

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// maxTermBytes bounds a term; what is longer is data, not a word, and is cut.
const maxTermBytes = 64

// Word is a word of a text as it is written, and where: text[Start:End].
type Word struct {
	Text       string
	Start, End int // bytes
}

// Analyze returns the terms of a text in the order they occur: lower case, English
// words stemmed (Snowball's Porter 2), accents kept out of the comparison. An
// identifier gives itself whole and its parts: "timeout.reconciliation" gives
// "timeout", "reconcili" and "timeout.reconciliation"; "requeueAfterSeconds" gives
// "requeu", "after", "second" and "requeueaftersecond"; "self-heal" gives "self",
// "heal" and "selfheal". Runs of Han, kana and Hangul give their pairs of characters. The
// addresses of links are no terms. Stop words are included: see IsStop. Text in another
// language than English is analysed by AnalyzeIn.
func Analyze(text string) []string {
	folded := Fold(knowledge.WithoutAddresses(text))
	terms := make([]string, 0, len(folded)/6)
	var previous Word
	for i, word := range Words(folded) {
		terms = appendTerms(terms, word.Text)
		if i > 0 && word.Start == previous.End+1 && folded[previous.End] == '-' {
			terms = append(terms, Stem(strings.ToLower(previous.Text+word.Text)))
		}
		previous = word
	}
	return terms
}

// Fold returns the form in which text is cut into words: NFKC, without the addresses of
// links, zero-width and combining marks, broken UTF-8 replaced.
func Fold(text string) string {
	text = knowledge.WithoutAddresses(text)
	if isASCII(text) {
		return text
	}
	decomposed := norm.NFKD.String(strings.ToValidUTF8(text, "\uFFFD"))
	var folded strings.Builder
	folded.Grow(len(decomposed))
	for _, r := range decomposed {
		switch {
		case r == voicedMark || r == halfVoicedMark: // it makes ga of ka
			folded.WriteRune(r)
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r):
		case r == '’' || r == '‘':
			folded.WriteByte('\'')
		default:
			folded.WriteRune(r)
		}
	}
	return norm.NFC.String(folded.String())
}

// Marks of kana, which tell sounds apart.
const (
	voicedMark     = '\u3099'
	halfVoicedMark = '\u309A'
	longSound      = 'ー' // in words of kana
)

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Words cuts text into words: runs of letters and digits, joined where a single
// "." or "_" stands between two of them (identifiers, versions, file names) or an
// apostrophe between letters.
func Words(text string) []Word {
	words := make([]Word, 0, len(text)/5)
	runes := scanner{text: text}
	for runes.next() {
		if !isWordRune(runes.r) {
			continue
		}
		start := runes.at
		end := runes.end
		for runes.next() {
			if isWordRune(runes.r) {
				end = runes.end
				continue
			}
			if isJoiner(runes.r) && runes.followedByWord() {
				continue
			}
			break
		}
		words = append(words, Word{Text: text[start:end], Start: start, End: end})
	}
	return words
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func isJoiner(r rune) bool {
	return r == '.' || r == '_' || r == '\''
}

// appendTerms adds the terms of one word.
func appendTerms(terms []string, word string) []string {
	if first, wide := firstWide(word); wide {
		return appendWide(terms, word, first)
	}
	lower := strings.TrimSuffix(strings.ToLower(word), "'s")
	parts := splitIdentifier(word)
	if len(parts) < 2 {
		return append(terms, Stem(lower))
	}
	for _, part := range parts {
		terms = append(terms, Stem(strings.ToLower(part)))
	}
	return append(terms, Stem(lower))
}

// splitIdentifier returns the parts of "a.b_c", "camelCase" and "HTTPServer2"; a plain
// word is one part or none.
func splitIdentifier(word string) []string {
	if isPlain(word) {
		return nil
	}
	var parts []string
	start := 0
	cut := func(end int) {
		if end > start {
			parts = append(parts, word[start:end])
		}
	}
	var previous rune
	runes := scanner{text: word}
	for runes.next() {
		switch {
		case runes.r == '.' || runes.r == '_':
			cut(runes.at)
			start = runes.end
		case unicode.IsUpper(runes.r) && unicode.IsLower(previous),
			unicode.IsUpper(runes.r) && unicode.IsUpper(previous) && runes.beforeLower():
			cut(runes.at)
			start = runes.at
		}
		previous = runes.r
	}
	cut(len(word))
	// "IDs" and "URLs" are words, not the identifiers "I Ds" and "UR Ls".
	if len(parts) == 2 && len(parts[1]) == 2 && strings.HasSuffix(word, "s") && !strings.ContainsAny(word, "._") {
		return nil
	}
	return parts
}

// isPlain reports whether a word is of the letters a to z alone, as most words are.
func isPlain(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}

// Stem returns the stem of one lower-case word; words that are not English letters
// are their own stem.
func Stem(word string) string {
	if len(word) < 3 || len(word) > maxTermBytes {
		return shorten.Bytes(word, maxTermBytes)
	}
	for i := range len(word) {
		if (word[i] < 'a' || word[i] > 'z') && word[i] != '\'' {
			return shorten.Bytes(word, maxTermBytes)
		}
	}
	return shorten.Bytes(stemmers[language.English].apply(word), maxTermBytes)
}

// isWide reports whether a rune belongs to a script that writes words without spaces.
func isWide(r rune) bool {
	return r == longSound || r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer)
}

func firstWide(word string) (int, bool) {
	for i, r := range word {
		if isWide(r) {
			return i, true
		}
	}
	return 0, false
}

// appendWide adds the pairs of neighbouring characters of a run without spaces; a
// single character stands for itself.
func appendWide(terms []string, word string, first int) []string {
	if first > 0 {
		terms = appendTerms(terms, word[:first])
	}
	var previous rune
	count := 0
	for i, r := range word[first:] {
		if !isWide(r) {
			return appendTerms(appendSingle(terms, previous, count), word[first+i:])
		}
		if count > 0 {
			terms = append(terms, string([]rune{previous, r}))
		}
		previous = r
		count++
	}
	return appendSingle(terms, previous, count)
}

func appendSingle(terms []string, r rune, count int) []string {
	if count == 1 {
		return append(terms, string(r))
	}
	return terms
}
