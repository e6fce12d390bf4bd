package reply

import (
	"regexp"
	"strings"
)

var numberedStart = regexp.MustCompile(`^(\d{1,9})([.)])`)

// asParagraph gives the lines of a text that a reader of Markdown takes for one paragraph: what
// would begin another block is escaped.
func asParagraph(text string) []string {
	lines := strings.Split(text, "\n")
	if isParagraph(lines) {
		return lines
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case numberedStart.MatchString(line):
			line = numberedStart.ReplaceAllString(line, `$1\$2`)
		case line != "" && strings.ContainsRune("#>-+*=_~`<|:", rune(line[0])):
			line = `\` + line
		}
		lines[i] = line
	}
	if isParagraph(lines) {
		return lines
	}
	return []string{`\` + strings.TrimLeft(strings.Join(lines, " "), `\`)}
}

func isParagraph(lines []string) bool {
	blocks := parseBlocks(strings.Join(lines, "\n"))
	return len(blocks) == 1 && blocks[0].kind == paragraph
}
