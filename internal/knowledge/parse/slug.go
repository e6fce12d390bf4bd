package parse

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	slugTag       = regexp.MustCompile(`<[^>]+>`)
	slugLink      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	slugAttribute = regexp.MustCompile(`\{[:#][^}]*\}`)
	slugMarks     = strings.NewReplacer("`", "", "*", "")
)

// slug is GitHub's anchor for a heading, given as it stands in the Markdown source:
// lower case, punctuation dropped, spaces made hyphens.
func slug(heading string) string {
	text := slugTag.ReplaceAllString(heading, "")
	text = slugLink.ReplaceAllString(text, "$1")
	text = slugAttribute.ReplaceAllString(text, "")
	text = withoutUnderscores(text)
	text = slugMarks.Replace(text)
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', isWord(r):
			return r
		}
		return -1
	}, text)
}

// withoutUnderscores drops the marks of _emphasis_, not the underscores of snake_case.
func withoutUnderscores(text string) string {
	var out strings.Builder
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '_' && !isWord(before) {
			if inner := strings.IndexAny(text[i+1:], "_`"); inner > 0 && text[i+1+inner] == '_' {
				end := i + 1 + inner + 1
				if after, _ := utf8.DecodeRuneInString(text[end:]); end == len(text) || !isWord(after) {
					out.WriteString(text[i+1 : end-1])
					before, i = '_', end
					continue
				}
			}
		}
		out.WriteString(text[i : i+size])
		before, i = r, i+size
	}
	return out.String()
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
}

// slugs counts the slugs of one document: the second of a name gets "-1".
type slugs map[string]int

func (s slugs) unique(base string) string {
	n := s[base]
	s[base] = n + 1
	if n == 0 {
		return base
	}
	return base + "-" + strconv.Itoa(n)
}
