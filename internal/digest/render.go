package digest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// maxLine is how many letters a line of a digest has of a question, a reason or a title.
const maxLine = 160

// The headings of what a collection lacks.
const (
	gapsHeading           = "Questions without an answer"
	contradictionsHeading = "Said against answers"
	staleHeading          = "Read often, and not changed for a year"
)

// Render writes a digest as Markdown for the terminal. Each line ends with the command that drafts a
// page about it.
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
		heading := ""
		for _, one := range c.list() {
			if one.heading != heading {
				heading = one.heading
				fmt.Fprintf(&b, "\n%s:\n\n", heading)
			}
			fmt.Fprintf(&b, "- %s — draft a page: `cairn page draft '%s'`\n", one.text, quoteArgument(one.topic))
		}
	}
	return b.String()
}

// line is one thing that a collection lacks.
type line struct {
	heading string
	text    string // Markdown
	topic   string // of a page about it
}

// list gives all that a collection lacks, in the order in which it is shown.
func (c Collection) list() []line {
	var lines []line
	for _, gap := range c.Gaps {
		text := cleanLine(gap.Question)
		if gap.Count > 1 {
			text = fmt.Sprintf("%d × %s", gap.Count, text)
		}
		lines = append(lines, line{gapsHeading, text, gap.Question})
	}
	for _, said := range c.Contradictions {
		text := cleanLine(said.Question)
		if said.Reason != "" {
			text = fmt.Sprintf("“%s”, to the answer of: %s", cleanLine(said.Reason), text)
		}
		lines = append(lines, line{contradictionsHeading, text, said.Question})
	}
	for _, stale := range c.Stale {
		text := fmt.Sprintf("%s (%s), of %s, %d answers", cleanLine(stale.Title), cleanLine(stale.Path), stale.Modified.Format("2006-01-02"), stale.Answers)
		lines = append(lines, line{staleHeading, text, stale.Title})
	}
	return lines
}

// Post is a digest of a collection as it is posted: Text is Markdown whose lines are numbered from
// 1, and Topics are what the page would be about that is drafted for each of them.
type Post struct {
	Text   string
	Topics []string
}

// How much of each kind a post shows: each line has a button, and it is to be read at a glance.
const (
	postedGaps           = 5
	postedContradictions = 3
	postedStale          = 2
)

// RenderPost writes what a collection lacks to be posted in a channel. Of what people held against
// answers it names the questions alone: their words were written in a form that nobody else sees.
// The zero Post: it lacks nothing.
func RenderPost(d Digest, c Collection) Post {
	shown := Collection{
		Name: c.Name, Gaps: c.Gaps[:min(len(c.Gaps), postedGaps)],
		Contradictions: c.Contradictions[:min(len(c.Contradictions), postedContradictions)], Stale: c.Stale[:min(len(c.Stale), postedStale)],
	}
	shown.Contradictions = slices.Clone(shown.Contradictions)
	for i := range shown.Contradictions {
		shown.Contradictions[i].Reason = ""
	}
	var post Post
	var b strings.Builder
	heading := ""
	for _, one := range shown.list() {
		if one.heading != heading {
			heading = one.heading
			fmt.Fprintf(&b, "\n\n**%s**\n", heading)
		}
		post.Topics = append(post.Topics, shorten.Line(markup.CleanLine(one.topic), maxLine))
		fmt.Fprintf(&b, "\n- **%d** · %s", len(post.Topics), one.text)
	}
	if len(post.Topics) == 0 {
		return Post{}
	}
	post.Text = fmt.Sprintf("What `%s` lacked from %s to %s:", c.Name, d.From.Format("2 January"), d.To.Format("2 January 2006")) + b.String()
	if more := len(c.list()) - len(post.Topics); more > 0 {
		post.Text += fmt.Sprintf("\n\n`cairn digest` shows %d more.", more)
	}
	return post
}

// cleanLine gives a text as Markdown that says it literally, on one line.
func cleanLine(text string) string {
	return tree.MarkdownOf(tree.NewText(shorten.Line(markup.CleanLine(text), maxLine), 0))
}

// quoteArgument gives a text to stand between single quotes in a shell, and in code in Markdown.
func quoteArgument(text string) string {
	return strings.NewReplacer("'", "’", "`", "’").Replace(strings.TrimRight(shorten.Line(markup.CleanLine(text), maxLine), "?!. "))
}
