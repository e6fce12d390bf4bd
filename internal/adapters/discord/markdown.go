package discord

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/render"
)

// writeRuns writes runs as Discord reads them.
func writeRuns(runs []render.Run) string {
	var out strings.Builder
	for _, r := range runs {
		written := writeRun(r, out.Len() == 0 || strings.HasSuffix(out.String(), "\n"))
		if wouldMerge(out.String(), written) {
			out.WriteString(unseen)
		}
		out.WriteString(written)
	}
	return out.String()
}

// wouldMerge tells whether two pieces would be read as one markup where they meet.
func wouldMerge(before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	last := before[len(before)-1]
	return strings.IndexByte("*~`", last) >= 0 && (after[0] == last || after[0] == '\\' && len(after) > 1 && after[1] == last) ||
		last == '\\' || last == ']' && after[0] == '(' || last == '@' || last == '<' || strings.HasSuffix(before, ":") && after[0] == '/'
}

// writeRun writes one run. atStart tells that it begins a line.
func writeRun(r render.Run, atStart bool) string {
	switch {
	case r.User != "":
		return "<@" + r.User + ">"
	case r.URL != "":
		return writeLink(r, atStart)
	case r.Style.Code:
		return applyStyle(r.Style, codeSpan(r.Text))
	}
	// Discord reads no markup around white space.
	inner := strings.TrimSpace(r.Text)
	if inner == "" {
		return r.Text
	}
	at := strings.Index(r.Text, inner)
	before, after := r.Text[:at], r.Text[at+len(inner):]
	return before + applyStyle(r.Style, escapeText(inner, isPlain(r.Style) && (atStart || strings.HasSuffix(before, "\n")))) + after
}

func isPlain(s render.Style) bool { return s == render.Style{} }

// applyStyle puts the marks of a style around text.
func applyStyle(s render.Style, text string) string {
	for _, mark := range []struct {
		on bool
		is string
	}{{s.Italic, "*"}, {s.Bold, "**"}, {s.Strike, "~~"}} {
		if mark.on {
			text = mark.is + text + mark.is
		}
	}
	return text
}

// addressLike is a label that Discord takes for an address: it makes no link of it then.
var addressLike = regexp.MustCompile(`(?i)https?:|\.[a-z]{2,}(/|$|\b)`)

// writeLink writes a link that is not unfurled. A label that looks like an address is
// written before the address, as text.
func writeLink(r render.Run, atStart bool) string {
	label := strings.Join(strings.Fields(r.Text), " ")
	switch {
	case label == "" || label == r.URL:
		return "<" + escapeAddress(r.URL) + ">"
	case addressLike.MatchString(label):
		return applyStyle(r.Style, escapeText(label, atStart && isPlain(r.Style))) + " <" + escapeAddress(r.URL) + ">"
	}
	if r.Style.Code {
		label = codeSpan(label)
	} else {
		label = escapeText(label, false)
	}
	return applyStyle(r.Style, "["+label+"](<"+escapeAddress(r.URL)+">)")
}

var addressEscaper = strings.NewReplacer("<", "%3C", ">", "%3E", "(", "%28", ")", "%29", "\\", "%5C", "`", "%60", "|", "%7C", "*", "%2A", "@", "%40")

// escapeAddress spells an address so that nothing in it ends the link.
func escapeAddress(url string) string { return addressEscaper.Replace(url) }
