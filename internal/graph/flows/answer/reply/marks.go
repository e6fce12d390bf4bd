package reply

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
)

// mark is a citation in a text.
type mark struct {
	at    int // in the text without marks, bytes
	cites []int
	noun  bool // it is a word of its sentence, and the text holds nounSign in its place
}

// nounSign stands in a text for a mark that is a noun. It is no character of any script.
const nounSign = "\uE000"

const (
	sourceWords = `(?:sources?|src|quellen?|fuentes?|font[ei]s?|bron(?:nen)?|docs?|documents?|dokumente?|refs?|references?|passages?)`
	numberList  = `(\d{1,3}(?:\s*(?:[,;&–-]|and|und|et|y|e|en)\s*(?:` + sourceWords + `\s*)?\^?\d{1,3})*)`
)

// marked are the ways in which models cite. numbered ones are read only where such a source
// was given.
var marked = []struct {
	pattern  *regexp.Regexp
	numbered bool
}{
	{regexp.MustCompile(`^\[\s*\^?\s*` + numberList + `\s*\]`), true},
	{regexp.MustCompile(`(?i)^\[\s*` + sourceWords + `\s*[:#]?\s*` + numberList + `\s*\]`), false},
	{regexp.MustCompile(`(?i)^【\s*(?:` + sourceWords + `\s*)?` + numberList + `[^】\n]{0,40}】`), false},
	{regexp.MustCompile(`(?i)^\(\s*` + sourceWords + `\s*[:#]?\s*` + numberList + `\s*\)`), false},
	{regexp.MustCompile(`(?i)^<sup>\s*\[?` + numberList + `\]?\s*</sup>`), false},
}

// inParentheses cites only at the end of a sentence or of a table's cell.
var inParentheses = regexp.MustCompile(`^\((\d{1,3}(?:\s*,\s*\d{1,3})*)\)(?:\s*$|[.,;:!?]|\s*\n|\s*\|)`)

// markAt reads the mark that stands at a place of a text; length is 0 where there is none.
func (r reader) markAt(text string, at int) (cites []int, length int) {
	rest := text[at:]
	for _, style := range marked {
		found := style.pattern.FindStringSubmatch(rest)
		if found == nil {
			continue
		}
		cites = r.readNumbers(found[1])
		if style.numbered && len(cites) == 0 && !standsAsMark(text, at) {
			return nil, 0
		}
		if style.numbered && strings.HasPrefix(rest[len(found[0]):], "(") {
			return nil, 0
		}
		return cites, len(found[0])
	}
	if found := inParentheses.FindStringSubmatch(rest); found != nil && at > 0 {
		if cites = r.readNumbers(found[1]); len(cites) > 0 && endsWord(text[:at]) && !parenthesesCount(text) {
			return cites, len(found[1]) + 2
		}
	}
	return nil, 0
}

// endsWord says whether a text ends with a word, a number or a code span and a blank: "exit(1)" is
// a call.
func endsWord(text string) bool {
	trimmed := strings.TrimRight(text, " ")
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	return trimmed != text && (unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune("`*_\"”’%", last))
}

// parenthesesCount says whether a text counts its parts with numbers in parentheses.
func parenthesesCount(text string) bool {
	first, second := strings.Index(text, "(1) "), strings.Index(text, "(2) ")
	return first >= 0 && second > first
}

// standsAsMark says whether brackets stand where a mark would: behind white space.
func standsAsMark(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return at > 0 && (unicode.IsSpace(before) || unicode.IsPunct(before))
}

// giveNumbers reads a list of numbers and ranges; those that no source has are left out.
func (r reader) readNumbers(list string) []int {
	var cites []int
	add := func(n int) {
		if n >= 1 && n <= r.sources && !slices.Contains(cites, n) {
			cites = append(cites, n)
		}
	}
	last, ranged := 0, false
	for _, field := range splitNumbers.FindAllString(list, -1) {
		n, err := strconv.Atoi(field)
		switch {
		case field == "-" || field == "–":
			ranged = true
			continue
		case err != nil:
			continue
		case ranged && n > last && n-last <= maxRange:
			for between := last + 1; between < n; between++ {
				add(between)
			}
		}
		add(n)
		last, ranged = n, false
	}
	return cites
}

// maxRange is how many sources "[1-9]" may name.
const maxRange = 20

var splitNumbers = regexp.MustCompile(`\d+|[–-]`)

// withoutMarks takes the marks out of a text, with the blanks in front of them. Code spans,
// links and what a backslash escapes are left as they are.
func (r reader) withoutMarks(text string) (string, []mark) {
	var b strings.Builder
	var found []mark
	for at := 0; at < len(text); {
		switch {
		case text[at] == '`':
			end := sentence.CodeSpanEnd(text, at)
			b.WriteString(text[at:end])
			at = end
			continue
		case text[at] == '\\' && at+1 < len(text):
			b.WriteString(text[at : at+2])
			at += 2
			continue
		case text[at] == '[' && knowledge.LinkLength(text[at:]) > 0 && !onlyNumber.MatchString(text[at:]):
			end := at + knowledge.LinkLength(text[at:])
			b.WriteString(text[at:end])
			at = end
			continue
		}
		cites, length := r.markAt(text, at)
		if length == 0 {
			b.WriteByte(text[at])
			at++
			continue
		}
		clean := b.String()
		if isNoun(clean, text[at+length:], found) && len(cites) > 0 {
			found = append(found, mark{at: len(clean), cites: cites, noun: true})
			b.WriteString(nounSign)
			at += length
			continue
		}
		trimmed := strings.TrimRight(clean, " \t")
		b.Reset()
		b.WriteString(trimmed)
		at += length
		if trimmed == "" || strings.HasSuffix(trimmed, "\n") {
			for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
				at++
			}
		}
		if len(cites) > 0 {
			found = append(found, mark{at: len(trimmed), cites: cites})
		}
	}
	return b.String(), found
}

var onlyNumber = regexp.MustCompile(`^\[\s*\d{1,3}\s*\]`)

// beforeNouns are words behind which a mark names a source rather than cites it.
var beforeNouns = wordSet(`to in see from by per of while whereas than with via section but where that as both although both
	laut nach siehe gemäß während aber wie aus von
	selon dans voir tandis mais par
	según en ver mientras pero
	secondo vedi mentre volgens zie terwijl segundo veja enquanto`)

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// isNoun says whether a mark between two texts is a word of its sentence.
func isNoun(before, after string, earlier []mark) bool {
	trimmed := strings.TrimRight(before, " ")
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	goesOn := strings.HasPrefix(after, " ") && unicode.IsLower(next)
	if trimmed == "" || strings.HasSuffix(trimmed, "\n") || strings.HasSuffix(trimmed, ". ") {
		return goesOn
	}
	if trimmed == before {
		return false // it touches the word before it
	}
	if chained := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(trimmed, ","), " and"), " und"); chained != trimmed {
		return strings.HasSuffix(chained, nounSign) && len(earlier) > 0
	}
	if last, _ := utf8.DecodeLastRuneInString(trimmed); strings.ContainsRune(".!?", last) {
		return goesOn
	}
	word := trimmed[strings.LastIndexAny(trimmed, " \n(")+1:]
	return beforeNouns[strings.ToLower(word)]
}
