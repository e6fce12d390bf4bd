package eval

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// section is a page's text from one heading to the next, of any level.
type section struct {
	anchor  string
	id      string // canonical, as written at the heading: "{#id}"; "" for none
	level   int    // 1 to 6; 0 is what stands before the first heading
	heading string
	text    string
	path    []string // canonical anchors of the headings it lies under, its own last
}

// white is the white space of Unicode, as a regular expression's class: RE2's \s is ASCII alone.
const white = `[\s\v\x1c-\x1f\x{85}\p{Z}]`

var (
	headingLine = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	fenceLine   = regexp.MustCompile("^" + white + "*(?:[-*+] +|\\p{Nd}+\\. +)?(`{3,}|~{3,})(.*)$")
	titleLine   = regexp.MustCompile(`^title:` + white + `*(.*)$`)

	htmlTag      = regexp.MustCompile(`<[^>]+>`)
	link         = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)]*)\)`)
	attributes   = regexp.MustCompile(`\{[:#][^}]*\}`)
	givenID      = regexp.MustCompile(`\{#([^}\s\v\x1c-\x1f\x{85}\p{Z}]+)\}` + white + `*$`)
	numberSuffix = regexp.MustCompile(`_(\p{Nd}+)$`)
	hyphens      = regexp.MustCompile(`-{2,}`)
)

// cutSections splits a Markdown page at its headings outside code fences.
func cutSections(markdown string) []section {
	lines := splitLines(markdown)
	title, start := frontMatter(lines)
	out := []section{{heading: title, path: []string{""}}}
	var body []string
	var stack []section
	seen := make(map[string]int)
	fence := ""
	for _, text := range lines[start:] {
		mark := fenceLine.FindStringSubmatch(text)
		inside := fence != ""
		if mark != nil {
			fence = nextFence(fence, mark[1], mark[2])
		}
		head := headingLine.FindStringSubmatch(text)
		if inside || mark != nil || head == nil {
			body = append(body, text)
			continue
		}
		out[len(out)-1].text = strings.Join(body, "\n")
		body = nil
		s := section{level: len(head[1]), heading: head[2]}
		s.anchor = numbered(slug(s.heading), seen)
		if given := givenID.FindStringSubmatch(s.heading); given != nil {
			s.id = canon(given[1])
		}
		for len(stack) > 0 && stack[len(stack)-1].level >= s.level {
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, s)
		for _, above := range stack {
			s.path = append(s.path, canon(above.anchor))
		}
		out = append(out, s)
	}
	out[len(out)-1].text = strings.Join(body, "\n")
	if len(out) > 1 && title == "" && trimSpace(out[0].text) == "" {
		out = out[1:]
	}
	return out
}

// frontMatter gives the title set in a page's leading block of metadata, and the
// number of the first line after it.
func frontMatter(lines []string) (title string, start int) {
	if len(lines) == 0 || trimSpace(lines[0]) != "---" {
		return "", 0
	}
	for i, text := range lines[1:] {
		if m := titleLine.FindStringSubmatch(text); m != nil {
			title = strings.Trim(trimSpace(m[1]), `'"`)
		}
		if trimSpace(text) == "---" {
			return title, i + 2
		}
	}
	return title, 0
}

// nextFence gives the mark that closes the current code block after a line with a
// fence mark, "" outside a block.
func nextFence(open, mark, rest string) string {
	switch {
	case open == "" && mark[0] == '`' && strings.Contains(rest, "`"):
		return "" // code in a line, not a block
	case open == "":
		return mark
	case mark[0] == open[0] && len(mark) >= len(open) && trimSpace(rest) == "":
		return ""
	}
	return open
}

// numbered makes a slug unique in its page: the second of a name gets "-1".
func numbered(base string, seen map[string]int) string {
	n := seen[base]
	seen[base]++
	if n == 0 {
		return base
	}
	return fmt.Sprintf("%s-%d", base, n)
}

// slug is the GitHub form of a heading: lower case, punctuation dropped, spaces to hyphens.
func slug(heading string) string {
	text := htmlTag.ReplaceAllString(heading, "")
	text = link.ReplaceAllString(text, "$1")
	text = attributes.ReplaceAllString(text, "")
	text = dropUnderscores(text)
	text = strings.NewReplacer("`", "", "*", "").Replace(text)
	text = strings.ToLower(trimSpace(text))
	text = strings.Map(func(r rune) rune {
		if isWord(r) || r == '-' || r == ' ' {
			return r
		}
		return -1
	}, text)
	return strings.ReplaceAll(text, " ", "-")
}

// dropUnderscores takes the marks off "_emphasis_" where they stand at word bounds.
func dropUnderscores(text string) string {
	in := []rune(text)
	var out []rune
	for i := 0; i < len(in); i++ {
		end := emphasisEnd(in, i)
		if end < 0 {
			out = append(out, in[i])
			continue
		}
		out = append(out, in[i+1:end]...)
		i = end
	}
	return string(out)
}

// emphasisEnd is the position of the mark that closes an emphasis opened at start, or -1.
func emphasisEnd(text []rune, start int) int {
	if text[start] != '_' || (start > 0 && isWord(text[start-1])) {
		return -1
	}
	length := slices.IndexFunc(text[start+1:], func(r rune) bool { return r == '_' || r == '`' })
	end := start + 1 + length
	if length < 1 || text[end] != '_' || (end+1 < len(text) && isWord(text[end+1])) {
		return -1
	}
	return end
}

// canon gives an anchor as it is compared: "#", a "_1" suffix against "-1", and runs
// of hyphens make no difference.
func canon(anchor string) string {
	a := strings.ToLower(strings.TrimLeft(trimSpace(anchor), "#"))
	a = numberSuffix.ReplaceAllString(a, "-$1")
	return strings.Trim(hyphens.ReplaceAllString(a, "-"), "-")
}

// splitLines cuts at every line break that Unicode knows; a break at the end opens no
// further line.
func splitLines(text string) []string {
	var lines []string
	start, afterCR := 0, false
	for i, r := range text {
		if r == '\n' && afterCR {
			start, afterCR = i+1, false
			continue
		}
		afterCR = r == '\r'
		if isBreak(r) {
			lines = append(lines, text[start:i])
			start = i + len(string(r))
		}
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f) }

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isWord(r rune) bool { return isAlphanumeric(r) || r == '_' }

func trimSpace(text string) string { return strings.TrimFunc(text, isSpace) }
