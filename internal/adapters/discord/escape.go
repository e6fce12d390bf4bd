package discord

import (
	"regexp"
	"strings"
)

// unseen is a character that nobody sees, for where no backslash helps.
const unseen = "\u200b"

// special are the characters that Discord's Markdown reads anywhere in a line.
const special = "\\`*_~|[]<"

var (
	// beginsBlock is what makes a heading, a quote, a list or small print of a line.
	beginsBlock = regexp.MustCompile(`^\s*(#{1,3}|>{1,3}|[-+•]|-#)(\s|$)|^\s*\d+[.)]`)
	everyone    = regexp.MustCompile(`(?i)@(everyone|here)`)
	scheme      = regexp.MustCompile(`(?i)(https?|ftp|steam|discord):/`)
)

// escapeText makes text that Discord shows as it is: no markup, no mention, no link. atStart
// tells that it begins a line.
func escapeText(text string, atStart bool) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = escapeLine(line, atStart || i > 0)
	}
	return strings.Join(lines, "\n")
}

func escapeLine(line string, atStart bool) string {
	block := -1
	if atStart {
		if found := beginsBlock.FindStringIndex(line); found != nil {
			block = found[0] + strings.IndexFunc(line[found[0]:found[1]], func(r rune) bool { return r != ' ' })
			for block < len(line) && line[block] >= '0' && line[block] <= '9' {
				block++
			}
		}
	}
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c < 0x80 && (strings.IndexByte(special, c) >= 0 || i == block && c > ' ') {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
		if c == '<' && i+1 < len(line) && strings.IndexByte("@#:/!&atiATI", line[i+1]) >= 0 {
			out.WriteString(unseen)
		}
	}
	escaped := out.String()
	if strings.Contains(escaped, ":/") {
		escaped = scheme.ReplaceAllStringFunc(escaped, func(found string) string { return found[:len(found)-1] + `\/` })
	}
	return disarmWords(escaped)
}

// live is what calls somebody, or shows something in its place.
var live = regexp.MustCompile(`<(@[!&]?\d|#\d|a?:\w+:\d|t:-?\d|/[\w -]+:\d|id:\w)`)

// disarmCode keeps code, in which Discord shows no calls, from being taken for calls all the same.
func disarmCode(code string) string {
	if strings.Contains(code, "<") {
		code = live.ReplaceAllStringFunc(code, func(found string) string { return "<" + unseen + found[1:] })
	}
	return disarmWords(code)
}

// disarmWords calls nobody by a word.
func disarmWords(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	return everyone.ReplaceAllString(text, "@"+unseen+"$1")
}

// codeSpan shows text as code inside a line.
func codeSpan(text string) string {
	text = disarmCode(strings.ReplaceAll(text, "\n", " "))
	if strings.TrimSpace(text) == "" {
		return text
	}
	if !strings.Contains(text, "`") && !strings.HasSuffix(text, `\`) { // which may be taken to escape what ends it
		return "`" + text + "`"
	}
	return "`` " + separateBackticks(text) + " ``"
}

// separateBackticks keeps backticks from standing side by side, where they would end what they are in.
func separateBackticks(text string) string {
	var out strings.Builder
	before := false
	for _, r := range text {
		if r == '`' && before {
			out.WriteString(unseen)
		}
		before = r == '`'
		out.WriteRune(r)
	}
	return out.String()
}
