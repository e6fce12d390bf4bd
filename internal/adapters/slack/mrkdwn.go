package slack

import (
	"regexp"
	"strings"
)

// words are what a person wrote, as text.
type words struct {
	text    string
	called  bool // the bot was mentioned
	toOther bool // somebody else was
}

// token is what stands in angle brackets in mrkdwn: a mention, a channel, a link.
var token = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)

var unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// readMrkdwn reads what a person wrote: mentions of the bot are taken out, others keep
// a name, links keep their address, and escapes are resolved.
func readMrkdwn(mrkdwn, bot string) words {
	var read words
	var out strings.Builder
	end := 0
	for _, at := range token.FindAllStringSubmatchIndex(mrkdwn, -1) {
		out.WriteString(mrkdwn[end:at[0]])
		end = at[1]
		label := ""
		if at[6] >= 0 {
			label = mrkdwn[at[6]:at[7]]
		}
		sigil, target := mrkdwn[at[2]:at[3]], mrkdwn[at[4]:at[5]]
		if sigil == "@" && target == bot && bot != "" {
			read.called = true
			continue
		}
		read.toOther = read.toOther || sigil == "@" || sigil == "!" && strings.HasPrefix(target, "subteam")
		out.WriteString(tokenText(sigil, target, label))
	}
	out.WriteString(mrkdwn[end:])
	read.text = strings.TrimSpace(unescaper.Replace(out.String()))
	return read
}

func tokenText(sigil, target, label string) string {
	switch sigil {
	case "@", "#":
		if label == "" {
			label = target
		}
		return sigil + strings.TrimPrefix(label, sigil)
	case "!":
		if label != "" {
			return label
		}
		name, _, _ := strings.Cut(target, "^")
		return "@" + name
	}
	switch {
	case label == "" || label == target:
		return strings.TrimPrefix(target, "mailto:")
	case strings.HasSuffix(target, label): // "https://a.example" written as "a.example"
		return label
	}
	return label + " (" + target + ")"
}
