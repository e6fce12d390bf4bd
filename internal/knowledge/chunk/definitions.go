package chunk

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

const (
	maxDefinitions = 50 // of one passage
	maxLongWords   = 12 // of what an abbreviation stands for
)

var (
	shortInBrackets = regexp.MustCompile("[(\\[][`\"“*]*([A-Z0-9][A-Za-z0-9&/.-]{1,11})[`\"”*]*[)\\]]")
	longInBrackets  = regexp.MustCompile("([A-Z0-9][A-Za-z0-9&/.-]{1,11})[`\"”*]*[ \u00a0]\\(([^()\n]{3,120})\\)")
)

// definitions finds the abbreviations that a passage explains, in its headings and
// its text: "Long Form (LF)" and "LF (Long Form)". The letters of the abbreviation
// have to be the initials of the words in order; small words may be left out.
func definitions(passage knowledge.Passage) []knowledge.Definition {
	var found []knowledge.Definition
	add := func(short, long string) {
		definition := knowledge.Definition{Short: singular(short), Long: strings.Trim(long, " `\"'“”*_,;:")}
		if long != "" && !slices.Contains(found, definition) && len(found) < maxDefinitions {
			found = append(found, definition)
		}
	}
	for _, text := range []string{passage.Section(), knowledge.WithoutAddresses(passage.Text)} {
		if !strings.ContainsAny(text, "([") {
			continue
		}
		for _, m := range shortInBrackets.FindAllStringSubmatchIndex(text, -1) {
			if short := text[m[2]:m[3]]; isShort(short) {
				add(short, longBefore(text[:m[0]], letters(short)))
			}
		}
		for _, m := range longInBrackets.FindAllStringSubmatchIndex(text, -1) {
			short, long := text[m[2]:m[3]], text[m[4]:m[5]]
			if m[2] > 0 && isWordByte(text[m[2]-1]) || !isShort(short) {
				continue
			}
			long, _, _ = strings.Cut(long, ",")
			long, _, _ = strings.Cut(long, ";")
			if longBefore(long, letters(short)) == strings.TrimSpace(long) {
				add(short, long)
			}
		}
	}
	return found
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// isShort says whether a word may be an abbreviation: two capitals at least, and
// more of them than of small letters.
func isShort(word string) bool {
	capitals, small, digits := 0, 0, 0
	for _, r := range singular(word) {
		switch {
		case unicode.IsUpper(r):
			capitals++
		case unicode.IsLower(r):
			small++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return capitals >= 1 && capitals+digits >= 2 && capitals >= small
}

// singular takes the small s off "CRDs".
func singular(short string) string {
	short = strings.TrimRight(short, ".-/&")
	if stem, plural := strings.CutSuffix(short, "s"); plural && stem != "" && !unicode.IsLower(rune(stem[len(stem)-1])) {
		return stem
	}
	return short
}

// letters are those of an abbreviation that have to be found, in lower case.
func letters(short string) []rune {
	var found []rune
	for _, r := range strings.ToLower(singular(short)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			found = append(found, r)
		}
	}
	return found
}

// longBefore gives the words at the end of a text whose initials are the letters, as
// they are written; "" where they are not.
func longBefore(text string, wanted []rune) string {
	if cut := strings.LastIndexAny(text, "\n.;()|"); cut >= 0 {
		text = text[cut+1:]
	}
	words := wordsOf(text)
	words = words[max(0, len(words)-maxLongWords):]
	if from, ok := match(words, wanted); ok {
		return strings.TrimSpace(text[words[from].start:])
	}
	return ""
}

// initialed is a word, or a part of one behind a hyphen or slash, with the letters
// that it may give to an abbreviation: its first, and its capitals and digits.
type initialed struct {
	start    int // in the text
	initials []rune
	small    bool // may be left out
}

var smallWords = []string{"of", "the", "and", "for", "to", "in", "on", "a", "an", "at", "by", "with", "as", "&", "und", "der", "die", "für", "de", "la"}

func wordsOf(text string) []initialed {
	var words []initialed
	inside := false
	start := 0
	for i, r := range text + " " {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '&' || r == '\'' || r == '’'
		if letter && !inside {
			start = i
		}
		if !letter && inside {
			words = append(words, initialsOf(text[start:i], start))
		}
		inside = letter
	}
	return words
}

func initialsOf(word string, start int) initialed {
	found := initialed{start: start, small: slices.Contains(smallWords, strings.ToLower(word))}
	for i, r := range word {
		if i == 0 || unicode.IsUpper(r) || unicode.IsDigit(r) {
			found.initials = append(found.initials, unicode.ToLower(r))
		}
	}
	switch strings.ToLower(word) { // B2B, P4P
	case "to":
		found.initials = append(found.initials, '2')
	case "for":
		found.initials = append(found.initials, '4')
	}
	return found
}

// match finds the letters backwards in the initials of words, the last word first. It
// gives the first word of the long form.
func match(words []initialed, wanted []rune) (from int, ok bool) {
	if len(wanted) == 0 {
		return 0, false
	}
	for last := len(words) - 1; last >= 0; last-- {
		word := words[last]
		for taken := min(len(word.initials), len(wanted)); taken > 0; taken-- {
			rest := wanted[:len(wanted)-taken]
			if !takes(word, wanted[len(wanted)-taken:]) {
				continue
			}
			if len(rest) == 0 {
				return last, !word.small
			}
			if from, ok := match(words[:last], rest); ok {
				return from, true
			}
		}
		if !word.small {
			return 0, false
		}
	}
	return 0, false
}

// takes says whether letters are initials of one word in order: its first, and
// capitals behind it.
func takes(word initialed, wanted []rune) bool {
	if wanted[0] != word.initials[0] && (!word.small || len(wanted) > 1 || !slices.Contains(word.initials, wanted[0])) {
		return false
	}
	at := 0
	for _, r := range wanted {
		found := slices.Index(word.initials[at:], r)
		if found < 0 {
			return false
		}
		at += found + 1
	}
	return true
}
