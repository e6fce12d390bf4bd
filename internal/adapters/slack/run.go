package slack

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/slack-go/slack"
)

// style is how a run of text looks.
type style struct{ bold, italic, strike, code bool }

// run is a piece of text on which one style lies, a link where url is set, or the
// mention of a person where user is.
type run struct {
	text  string
	url   string
	user  string
	style style
}

// elementCost is what an element is taken to count against Slack's limit on a message
// beside its text. Slack does not tell how it counts.
const elementCost = 16

func (r run) cost() int { return elementCost + length(r.text) + length(r.url) }

// length counts as Slack is taken to count characters: UTF-16 units, the most cautious
// way.
func length(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// cut shortens text to at most limit of length, with an ellipsis where it had to.
func cut(text string, limit int) string {
	if length(text) <= limit {
		return text
	}
	return head(text, limit-1) + "…"
}

// head is the longest beginning of text of at most limit of length.
func head(text string, limit int) string {
	n := 0
	for at, r := range text {
		if n += max(utf16.RuneLen(r), 1); n > limit {
			return text[:at]
		}
	}
	return text
}

// joined merges neighbours that look the same and drops what is empty.
func joined(runs []run) []run {
	var out []run
	for _, next := range runs {
		if next.text == "" && next.user == "" {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].url == next.url && out[last].style == next.style &&
			out[last].user == "" && next.user == "" && next.url == "" {
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

// elements makes Slack's elements of runs.
func elements(runs []run) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	for _, r := range runs {
		var look *slack.RichTextSectionTextStyle
		if r.style != (style{}) {
			look = &slack.RichTextSectionTextStyle{Bold: r.style.bold, Italic: r.style.italic, Strike: r.style.strike, Code: r.style.code}
		}
		switch {
		case r.user != "":
			out = append(out, slack.NewRichTextSectionUserElement(r.user, nil))
		case r.url != "":
			out = append(out, slack.NewRichTextSectionLinkElement(r.url, r.text, look))
		default:
			out = append(out, slack.NewRichTextSectionTextElement(r.text, look))
		}
	}
	return out
}

// cutRuns divides runs so that the first part costs at most budget: between runs, or
// at white space in a run of text, or where there is none between two characters. A
// link is never divided; one that is too dear alone becomes text.
func cutRuns(runs []run, budget int) (first, rest []run) {
	for i, r := range runs {
		if cost := r.cost(); cost <= budget {
			budget -= cost
			continue
		}
		if r.url != "" || r.user != "" {
			if i > 0 {
				return runs[:i:i], runs[i:]
			}
			r = run{text: r.text + " (" + r.url + ")", style: r.style}
		}
		at := divide(r.text, budget-elementCost)
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

// divide is where to cut text so that at most limit of length comes before: after the
// last white space there, if it is not too near to the beginning.
func divide(text string, limit int) int {
	fits := len(head(text, max(limit, 0)))
	if fits == len(text) {
		return fits
	}
	if space := strings.LastIndexAny(text[:fits], " \n"); space > fits/2 {
		return space + 1
	}
	return fits
}
