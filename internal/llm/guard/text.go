package guard

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// cleanText cleans a block of running text: code spans as code, links by where they
// lead, bare addresses too.
func (g Guard) cleanText(text string) string {
	var cleaned []byte
	for text != "" {
		at := strings.IndexAny(text, "\\`[!<")
		if at < 0 {
			break
		}
		cleaned = append(cleaned, g.cleanPlain(text[:at])...)
		text = text[at:]
		written, length := g.construct(text)
		if written == "" {
			cleaned = bytes.TrimRight(cleaned, " ")
		}
		cleaned = append(cleaned, written...)
		text = text[length:]
	}
	return string(append(cleaned, g.cleanPlain(text)...))
}

// construct reads what may be more than plain text at the beginning of text. It gives
// what to write for it and how much of text that was.
func (g Guard) construct(text string) (written string, length int) {
	switch text[0] {
	case '\\':
		if len(text) > 1 && strings.IndexByte("\\`[]!<", text[1]) >= 0 {
			return text[:2], 2
		}
	case '`':
		return g.codeSpan(text)
	case '!':
		if strings.HasPrefix(text, "![") {
			if written, length, ok := g.link(text[1:]); ok {
				return written, length + 1
			}
		}
	case '[':
		if written, length, ok := g.link(text); ok {
			return written, length
		}
	case '<':
		if found := autolink.FindStringSubmatch(text); found != nil {
			if g.Allows(found[1]) {
				return found[0], len(found[0])
			}
			return "", len(found[0])
		}
	}
	return text[:1], 1
}

var autolink = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>`)

// codeSpan reads a code span, or a run of backticks that nothing closes.
func (g Guard) codeSpan(text string) (written string, length int) {
	run := len(text) - len(strings.TrimLeft(text, "`"))
	for at := run; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			break
		}
		at += next
		closing := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if closing == run {
			return text[:run] + g.cleanCode(text[run:at]) + text[at:at+run], at + run
		}
		at += closing
	}
	return text[:run], run
}

// link reads "[label](destination)" at the beginning of text. What is no link, such as
// a citation, is not ok; references have no definitions, see cleanPlain.
func (g Guard) link(text string) (written string, length int, ok bool) {
	end := closingBracket(text)
	if end < 0 || end+1 >= len(text) {
		return "", 0, false
	}
	label := text[1:end]
	if text[end+1] != '(' {
		return "", 0, false
	}
	destination, after, closed := destinationOf(text[end+2:])
	if !closed {
		return "", 0, false
	}
	return g.linkTo(label, destination), end + 2 + after, true
}

func (g Guard) linkTo(label, destination string) string {
	shown := g.cleanText(label)
	if g.Allows(destination) && strings.Trim(shown, "0123456789 ") != "" { // else it is a mark
		return "[" + shown + "](" + destination + ")"
	}
	return apart(shown)
}

// apart keeps a label that lost its link from making a construct with its neighbours.
func apart(label string) string {
	first, _ := utf8.DecodeRuneInString(label)
	last, _ := utf8.DecodeLastRuneInString(label)
	if label != "" && !unicode.IsLetter(first) && !unicode.IsNumber(first) {
		label = joiner + label
	}
	if label != "" && !unicode.IsLetter(last) && !unicode.IsNumber(last) {
		label += joiner
	}
	return label
}

// closingBracket gives the position of the "]" that closes text's first character.
func closingBracket(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			closing := strings.Index(text[i+run:], text[i:i+run])
			if closing >= 0 {
				i += run + closing
			}
			i += run - 1
		case '[':
			depth++
		case ']':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// destinationOf reads what stands in a link's parentheses. after is the length with
// the closing one; a title is dropped.
func destinationOf(text string) (destination string, after int, closed bool) {
	depth := 1
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' && i > 0 && text[i-1] == ' ':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
			if depth == 0 {
				return firstWord(text[:i]), i + 1, true
			}
		}
	}
	return "", 0, false
}

func firstWord(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<") {
		return strings.TrimSuffix(strings.SplitN(text[1:], ">", 2)[0], ">")
	}
	if fields := strings.Fields(text); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// domains are names of hosts without a scheme, which some chat clients link.
var domains = regexp.MustCompile(`(?i)(?:^|[\s("'*_])((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24})((?::\d+)?(?:/[^\s<>"` + "`" + `]*)?)`)

// cleanPlain takes bare addresses out of text without any markup, shows names of hosts
// as code, which nothing links, and keeps "[reference]:" from defining anything.
func (g Guard) cleanPlain(text string) string {
	text = strings.ReplaceAll(text, "]:", "]"+joiner+":")
	text = g.withoutUnknown(text)
	return domains.ReplaceAllStringFunc(text, func(found string) string {
		parts := domains.FindStringSubmatch(found)
		before := found[:len(found)-len(parts[1])-len(parts[2])]
		if !isHost(parts[1]) || g.Hosts[strings.ToLower(parts[1])] {
			return found
		}
		address, after := trimAddress(parts[1] + parts[2])
		return before + "`" + address + "`" + after
	})
}

// isHost tells names of hosts from abbreviations and file names as far as the list of
// public suffixes does.
func isHost(name string) bool {
	suffix, listed := publicsuffix.PublicSuffix(strings.ToLower(name))
	return listed && suffix != strings.ToLower(name)
}
