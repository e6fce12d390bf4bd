package digest

import (
	"fmt"
	"strings"

	"cairn/internal/chat/markup"
	"cairn/internal/shorten"
)

// maxLine is how many letters a line of a digest has of a question, a reason or a title.
const maxLine = 160

// Render writes a digest as Markdown for the terminal. Each line ends with what drafts a page about it.
func Render(d Digest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What the documents lack: %s to %s\n\n%d answers were looked at.\n", d.From.Format("2006-01-02"), d.To.Format("2006-01-02"), d.Runs)
	if len(d.Collections) == 0 {
		b.WriteString("\nNothing was found.\n")
	}
	for _, c := range d.Collections {
		name := c.Name
		if name == "" {
			name = "no collection"
		}
		fmt.Fprintf(&b, "\n## %s\n", name)
		if len(c.Gaps) > 0 {
			b.WriteString("\nQuestions without an answer:\n\n")
		}
		for _, gap := range c.Gaps {
			fmt.Fprintf(&b, "- %d × %s — draft a page: `page: new %s`\n", gap.Count, cleanLine(gap.Question), cleanTitle(gap.Question))
		}
		if len(c.Contradictions) > 0 {
			b.WriteString("\nSaid against answers:\n\n")
		}
		for _, said := range c.Contradictions {
			fmt.Fprintf(&b, "- “%s”, to the answer of: %s — draft a page: `page: new %s`\n", cleanLine(said.Reason), cleanLine(said.Question), cleanTitle(said.Question))
		}
		if len(c.Stale) > 0 {
			b.WriteString("\nRead often, and not changed for a year:\n\n")
		}
		for _, stale := range c.Stale {
			fmt.Fprintf(&b, "- %s (%s), of %s, %d answers — draft a page: `page: new %s`\n",
				cleanLine(stale.Title), cleanLine(stale.Path), stale.Modified.Format("2006-01-02"), stale.Answers, cleanTitle(stale.Title))
		}
	}
	return b.String()
}

func cleanLine(text string) string { return shorten.Line(markup.CleanLine(text), maxLine) }

// cleanTitle gives a text as the title of a page that is to be written.
func cleanTitle(text string) string {
	return strings.ReplaceAll(strings.TrimRight(cleanLine(text), "?!. "), "`", "")
}
