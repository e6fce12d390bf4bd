package eval

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	quotes = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
		"\u2013", "-", "\u2014", "-", "\u00a0", " ")
	marks       = strings.NewReplacer("`", "", "*", "", `"`, "", `\`, "")
	whiteSpace  = regexp.MustCompile(white + "+")
	literalPart = regexp.MustCompile("`([^`]+)`")
)

// norm makes texts comparable: lower case, Markdown's emphasis and code marks dropped,
// white space and quotes alike.
func norm(text string) string {
	text = strings.ToLower(quotes.Replace(text))
	text = link.ReplaceAllString(text, "$1 $2")
	return whiteSpace.ReplaceAllString(marks.Replace(text), " ")
}

// literals are the parts of a fact that are matched, each a list of accepted spellings.
func literals(fact string) [][]string {
	var out [][]string
	for _, m := range literalPart.FindAllStringSubmatch(fact, -1) {
		var spellings []string
		for spelling := range strings.SplitSeq(m[1], "|") {
			spellings = append(spellings, trimSpace(norm(spelling)))
		}
		out = append(out, spellings)
	}
	return out
}

// holds says whether a text that norm made states a fact: each of its literals occurs,
// in one of its spellings.
func holds(fact, normed string) bool {
	for _, spellings := range literals(fact) {
		found := false
		for _, spelling := range spellings {
			found = found || occurs(spelling, normed)
		}
		if !found {
			return false
		}
	}
	return true
}

// occurs searches for whole tokens: "10" is not in "100", nor "sync" in "async".
func occurs(needle, text string) bool {
	if needle == "" {
		return true
	}
	first, _ := utf8.DecodeRuneInString(needle)
	last, _ := utf8.DecodeLastRuneInString(needle)
	for from := 0; ; {
		at := strings.Index(text[from:], needle)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(needle)
		left := isAlphanumeric(first) && at > 0 && isTokenByte(text[at-1])
		right := isAlphanumeric(last) && end < len(text) && isTokenByte(text[end])
		if !left && !right {
			return true
		}
		from = at + 1
	}
}

func isTokenByte(b byte) bool { return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') }

// Stated tells for each of the question's facts whether a text states it.
func (q Question) Stated(text string) []bool {
	normed := norm(text)
	stated := make([]bool, len(q.Facts))
	for i, fact := range q.Facts {
		stated[i] = holds(fact, normed)
	}
	return stated
}

// AnsweredBy says whether a page is one that answers the question.
func (q Question) AnsweredBy(path string) bool {
	return slices.ContainsFunc(q.Gold, func(g Gold) bool {
		return slices.ContainsFunc(g.places(), func(p Place) bool { return p.Path == path })
	})
}
