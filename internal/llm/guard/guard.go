// Package guard bounds what an answer lets out. An answer is made from documents and,
// with a model, by a model that has read them: either may carry somebody's text that
// wants a link posted or everybody called. What leaves here links only to known
// addresses and mentions nobody.
package guard

import (
	"net/url"
	"regexp"
	"strings"
)

// Guard says which links may leave.
type Guard struct {
	// Known are the addresses of the documents, without fragments.
	Known map[string]bool
	// Hosts may be linked to whatever the path: "docs.example.com".
	Hosts map[string]bool
	// Quoted says whether an address, with its fragment, was read in a document that the
	// answer is made from. nil: none was.
	Quoted func(address string) bool
}

// Allows says whether an answer may link to an address.
func (g Guard) Allows(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || parsed.User != nil {
		return false
	}
	onWeb := parsed.Scheme == "https" || parsed.Scheme == "http"
	if onWeb && g.Quoted != nil && g.Quoted(address) {
		return true
	}
	parsed.Fragment, parsed.RawFragment = "", ""
	if g.Known[parsed.String()] {
		return true
	}
	return onWeb && g.Hosts[strings.ToLower(parsed.Hostname())]
}

// Clean gives the Markdown with unknown links taken out but for their words, images turned
// into links, and mentions of everybody, of people and of channels broken. Text without any of these
// is unchanged. The result holds no other links when it is read as CommonMark with
// bare addresses linked.
func (g Guard) Clean(markdown string) string {
	var b strings.Builder
	for _, part := range blocks(markdown) {
		b.WriteString(g.cleanBlock(part))
	}
	cleaned := b.String()
	if g.leaks(cleaned) {
		cleaned = defuse(cleaned)
	}
	return cleaned
}

func (g Guard) cleanBlock(part block) string {
	if part.code {
		return unmention(g.cleanCode(part.text))
	}
	return unmention(g.cleanText(part.text))
}

// cleanCode keeps the addresses that documents hold.
func (g Guard) cleanCode(code string) string {
	return g.withoutUnknown(code)
}

// withoutUnknown takes unknown addresses out of a text, and the space in front of them.
func (g Guard) withoutUnknown(text string) string {
	var out strings.Builder
	for {
		at := addresses.FindStringIndex(text)
		if at == nil {
			break
		}
		found := text[at[0]:at[1]]
		address, after := trimAddress(found)
		if g.Allows(address) || g.Quoted != nil && g.Quoted(address) {
			out.WriteString(text[:at[0]] + found)
		} else {
			before := strings.TrimRight(text[:at[0]], " ")
			if open, ok := strings.CutSuffix(before, "("); ok && strings.HasPrefix(after, ")") {
				before, after = strings.TrimRight(open, " "), after[1:]
			}
			out.WriteString(before + after)
		}
		text = text[at[1]:]
	}
	return out.String() + text
}

// Addresses gives the addresses that stand in a text.
func Addresses(text string) []string {
	var found []string
	for _, match := range addresses.FindAllString(text, -1) {
		address, _ := trimAddress(match)
		found = append(found, address)
	}
	return found
}

var (
	// addresses are what chat clients and browsers make links of.
	addresses = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]{1,20}:(?:/|\\){1,3}|www\.|(?:javascript|vbscript|data|mailto|tel|sms|callto|blob):)[^\s<>"` + "`" + `]+`)
	// ending is what belongs to the sentence and not to the address before it.
	ending = ".,;:!?'*_~)]}|\\"
)

// trimAddress parts an address from the punctuation after it.
func trimAddress(found string) (address, after string) {
	address = strings.TrimRight(found, ending)
	for strings.HasPrefix(found[len(address):], ")") && strings.Count(address, "(") > strings.Count(address, ")") {
		address += ")"
	}
	return address, found[len(address):]
}

var (
	everybody = regexp.MustCompile(`(?i)(?:@|&#0*64;|&#x0*40;|&commat;)(everyone|here|channel)`)
	// markup is how Slack and Discord write mentions: "<!channel>", "<@U123>", "<#C1>".
	markup   = regexp.MustCompile(`(?i)(<|&lt;|&#0*60;|&#x0*3c;)([!@#][a-z0-9&!^]+)`)
	declares = regexp.MustCompile(`(?i)^!(?:doctype|element|attlist|entity)$`)
)

// joiner is invisible and keeps what it stands in from being a mention.
const joiner = "\u2060"

// unmention breaks mentions as chat platforms write them.
func unmention(text string) string {
	text = everybody.ReplaceAllString(text, "@"+joiner+"$1")
	return markup.ReplaceAllStringFunc(text, func(found string) string {
		parts := markup.FindStringSubmatch(found)
		if declares.MatchString(parts[2]) {
			return found
		}
		return parts[1] + joiner + parts[2]
	})
}
