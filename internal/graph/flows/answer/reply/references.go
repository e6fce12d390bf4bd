package reply

import (
	"regexp"
	"strings"
)

var (
	noteLine      = regexp.MustCompile(`^\[\^?\d{1,3}\]:`)
	referenceLine = regexp.MustCompile(`^(?:[-*•]\s+)?(?:\[\^?\d{1,3}\]:?|【\d{1,3}】)\s+\S`)
	sourcesTitle  = regexp.MustCompile(`(?i)^[\W_]*(?:` + sourceWords + `|footnotes?|fußnoten)[\W_]*$`)
)

// withoutReferences drops footnotes and the list of sources that models put at the end: the
// sources are listed below an answer anyway, under the numbers that they have there.
func withoutReferences(blocks []*block) []*block {
	var left []*block
	for _, b := range blocks {
		if b.kind == paragraph {
			if b.text = withoutLines(b.text, noteLine); b.text == "" {
				continue
			}
		}
		left = append(left, b)
	}
	for end := len(left) - 1; end > 0; end-- {
		titled := sourcesTitle.MatchString(left[end-1].text)
		if !isReferences(left[end], titled) {
			break
		}
		left = left[:end]
		if titled {
			left = left[:end-1]
			break
		}
	}
	if last := len(left) - 1; last > 0 && sourcesTitle.MatchString(left[last].text) && left[last].kind != table {
		left = left[:last]
	}
	return left
}

// isReferences says whether a block lists sources by their numbers, or, under a title that
// says so, is any list.
func isReferences(b *block, titled bool) bool {
	switch b.kind {
	case list:
		if titled {
			return true
		}
		for _, entry := range b.children {
			if len(entry.children) != 1 || !referenceLine.MatchString(entry.children[0].text) || entry.children[0].kind != paragraph {
				return false
			}
		}
		return len(b.children) > 1
	case paragraph:
		lines := strings.Split(b.text, "\n")
		if sourcesTitle.MatchString(lines[0]) && len(lines) > 1 {
			return withoutLines(strings.Join(lines[1:], "\n"), referenceLine) == ""
		}
		return withoutLines(b.text, referenceLine) == "" && (titled || len(lines) > 1)
	}
	return false
}

// withoutLines drops the lines that a pattern matches.
func withoutLines(text string, pattern *regexp.Regexp) string {
	var left []string
	for line := range strings.SplitSeq(text, "\n") {
		if !pattern.MatchString(line) {
			left = append(left, line)
		}
	}
	return strings.Join(left, "\n")
}
