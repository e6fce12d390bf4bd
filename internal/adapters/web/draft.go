package web

import (
	"regexp"
	"strings"
)

// unfinished is the end of a text that may become more than the letters it is made of
// so far: a citation's mark, emphasis, a code span's delimiter.
var unfinished = regexp.MustCompile("(\\[[0-9]{0,4}|[*_`~]+|\\n[ \\t]*([-+#>|]+|[0-9]{1,3}[.)]?)[ \\t]*)$")

// longestEnd is how many bytes of a draft's end are looked at for what is unfinished.
const longestEnd = 64

// closeMarkdown is how a draft reads until more of it comes: what is open at its end is
// closed, and what can't be read yet is kept back.
func closeMarkdown(draft string) string {
	from := max(0, len(draft)-longestEnd)
	draft = draft[:from] + unfinished.ReplaceAllString(draft[from:], "")
	last := draft[strings.LastIndex(draft, "\n\n")+1:]
	if strings.Count(draft, "```")%2 == 1 { // inside a block of code, which needs no end
		return draft
	}
	for _, mark := range []string{"`", "**"} {
		if strings.Count(last, mark)%2 == 1 {
			draft = strings.TrimRight(draft, " ") + mark
		}
	}
	return draft
}
