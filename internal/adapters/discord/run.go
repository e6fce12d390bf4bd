package discord

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// style is how a run of text looks.
type style struct{ bold, italic, strike, code bool }

// run is a piece of text on which one style lies, a link where url is set, or the mention
// of a person where user is.
type run struct {
	text  string
	url   string
	user  string
	style style
}

// joined merges neighbours that look the same and drops what is empty.
func joined(runs []run) []run {
	var out []run
	for _, next := range runs {
		if next.text == "" && next.user == "" {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].style == next.style && out[last].url+next.url+out[last].user+next.user == "" {
			out[last].text += next.text
			continue
		}
		out = append(out, next)
	}
	return out
}

// plain is what runs say.
func plain(runs []run) string {
	var out strings.Builder
	for _, r := range runs {
		out.WriteString(r.text)
	}
	return out.String()
}

// markdown writes runs as Discord reads them.
func markdown(runs []run) string {
	var out strings.Builder
	for _, r := range runs {
		written := r.markdown(out.Len() == 0 || strings.HasSuffix(out.String(), "\n"))
		if clash(out.String(), written) {
			out.WriteString(unseen)
		}
		out.WriteString(written)
	}
	return out.String()
}

// clash tells whether two pieces would be read as one markup where they meet.
func clash(before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	last := before[len(before)-1]
	return strings.IndexByte("*~`", last) >= 0 && (after[0] == last || after[0] == '\\' && len(after) > 1 && after[1] == last) ||
		last == '\\' || last == ']' && after[0] == '(' || last == '@' || last == '<' || strings.HasSuffix(before, ":") && after[0] == '/'
}

func (r run) markdown(atStart bool) string {
	switch {
	case r.user != "":
		return "<@" + r.user + ">"
	case r.url != "":
		return r.link(atStart)
	case r.style.code:
		return r.style.around(codeSpan(r.text))
	}
	// Discord reads no markup around white space.
	inner := strings.TrimSpace(r.text)
	if inner == "" {
		return r.text
	}
	at := strings.Index(r.text, inner)
	before, after := r.text[:at], r.text[at+len(inner):]
	return before + r.style.around(escape(inner, r.style.isPlain() && (atStart || strings.HasSuffix(before, "\n")))) + after
}

func (s style) isPlain() bool { return s == style{} }

func (s style) around(text string) string {
	for _, mark := range []struct {
		on bool
		is string
	}{{s.italic, "*"}, {s.bold, "**"}, {s.strike, "~~"}} {
		if mark.on {
			text = mark.is + text + mark.is
		}
	}
	return text
}

// addressLike is a label that Discord takes for an address: it makes no link of it then.
var addressLike = regexp.MustCompile(`(?i)https?:|\.[a-z]{2,}(/|$|\b)`)

// link writes a link that is not unfurled. A label that looks like an address is written
// before the address, as text.
func (r run) link(atStart bool) string {
	label := strings.Join(strings.Fields(r.text), " ")
	switch {
	case label == "" || label == r.url:
		return "<" + address(r.url) + ">"
	case addressLike.MatchString(label):
		return r.style.around(escape(label, atStart && r.style.isPlain())) + " <" + address(r.url) + ">"
	}
	if r.style.code {
		label = codeSpan(label)
	} else {
		label = escape(label, false)
	}
	return r.style.around("[" + label + "](<" + address(r.url) + ">)")
}

var addressEscaper = strings.NewReplacer("<", "%3C", ">", "%3E", "(", "%28", ")", "%29", "\\", "%5C", "`", "%60", "|", "%7C", "*", "%2A", "@", "%40")

// address spells an address so that nothing in it ends the link.
func address(url string) string { return addressEscaper.Replace(url) }

// cutRuns divides runs so that the first part is written in at most budget: between runs,
// or at white space in a run of text, or where there is none between two characters. A
// link is never divided; one that is too long alone becomes text.
func cutRuns(runs []run, budget int) (first, rest []run) {
	left := budget
	for i, r := range runs {
		if cost := length(r.markdown(true)) + 1; cost <= left {
			left -= cost
			continue
		}
		if r.user != "" || r.url != "" && i > 0 {
			return runs[:i:i], runs[i:]
		}
		if r.url != "" {
			r = run{text: r.text + " (" + r.url + ")", style: r.style}
		}
		at := divide(r.text, left)
		for at > 0 && length(run{text: r.text[:at], style: r.style}.markdown(true))+1 > left {
			at = divide(r.text[:at], length(r.text[:at])*9/10)
		}
		if at == 0 {
			if i > 0 {
				return runs[:i:i], runs[i:]
			}
			_, at = utf8.DecodeRuneInString(r.text) // at least one character, to come to an end
		}
		before, after := r, r
		before.text, after.text = r.text[:at], r.text[at:]
		return append(runs[:i:i], before), append([]run{after}, runs[i+1:]...)
	}
	return runs, nil
}
