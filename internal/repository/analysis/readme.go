package analysis

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// Lengths of what is read of a README, in characters.
const (
	maxParagraph = 600 // of the first paragraph
	maxTitle     = 100
)

var (
	// notProse is a line of Markdown that tells nothing: a table, code, a rule, a definition of a link.
	notProse = regexp.MustCompile("^(?:\\||```|---|===|\\*\\*\\*[^\\pL]*$|\\[[^\\]]*\\]:|>\\s*(?:\\[!\\w+\\])?\\s*$)")
	// htmlLine begins HTML, which goes on to an empty line.
	htmlLine = regexp.MustCompile(`^<(?:!|/?[A-Za-z][\w-]*(?:[\s/>]|$))`)
	// htmlProse is a heading or a paragraph of HTML on one line.
	htmlProse = regexp.MustCompile(`(?i)^<(h1|p)(?:\s[^>]*)?>(.*)</(?:h1|p)>$`)

	images    = regexp.MustCompile(`\[!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])\](?:\([^)]*\)|\[[^\]]*\])?|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])`)
	links     = regexp.MustCompile(`\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])`)
	anyTag    = regexp.MustCompile(`<!--.*?-->|</?[A-Za-z][\w-]*(?:\s[^>]*)?/?>`)
	anyAnchor = regexp.MustCompile(`(?i)<a\s`)
)

// fewestWords is how many words a paragraph of HTML has that describes something.
const fewestWords = 4

// readReadme reads the title and the first paragraph of a README, without badges and markup.
func readReadme(file, text string) *Readme {
	readme := &Readme{Place: Place{Path: file}}
	var paragraph []string
	number, before, markup := 0, "", false
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line != "" && (markup || htmlLine.MatchString(line)) {
			markup = true
			readme.readHTML(line, number)
			if readme.Text != "" {
				return readme
			}
			continue
		}
		markup = false
		underlined := line != "" && before != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
		plain := plainLine(line)
		switch {
		case underlined && readme.Title == "" && len(paragraph) == 1:
			readme.Title, paragraph = before, nil
		case strings.HasPrefix(line, "#"):
			if readme.Title == "" {
				readme.Title = strings.TrimSpace(strings.Trim(plain, "#"))
			}
		case notProse.MatchString(line):
		case strings.ContainsFunc(plain, unicode.IsLetter):
			if len(paragraph) == 0 {
				readme.Line = number
			}
			paragraph = append(paragraph, strings.TrimSpace(strings.TrimLeft(plain, ">")))
		}
		// A paragraph ends at an empty line or a heading.
		if (line == "" || strings.HasPrefix(line, "#")) && len(paragraph) > 0 {
			break
		}
		before = plain
	}
	readme.Text = shorten.Line(strings.Join(paragraph, " "), maxParagraph)
	readme.Title = shorten.Line(readme.Title, maxTitle)
	return readme
}

// readHTML takes the title or the description from a line of HTML, where it is one of these.
func (r *Readme) readHTML(line string, number int) {
	found := htmlProse.FindStringSubmatch(line)
	if found == nil || anyAnchor.MatchString(found[2]) {
		return
	}
	plain := plainLine(found[2])
	switch {
	case strings.EqualFold(found[1], "h1") && r.Title == "":
		r.Title = shorten.Line(plain, maxTitle)
	case strings.EqualFold(found[1], "p") && len(strings.Fields(plain)) >= fewestWords:
		r.Line, r.Text = number, shorten.Line(plain, maxParagraph)
	}
}

// plainLine returns a line without images, tags and the addresses of links.
func plainLine(line string) string {
	line = links.ReplaceAllString(images.ReplaceAllString(line, ""), "$1")
	return strings.TrimSpace(html.UnescapeString(anyTag.ReplaceAllString(line, "")))
}
