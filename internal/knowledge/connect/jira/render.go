package jira

import (
	"errors"
	"html"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// The levels of the headings that are ours.
const (
	sectionLevel = 2 // the description
	commentLevel = 3
)

// renderIssue writes an issue as Markdown: its title, its fields, its description and each comment as a
// section that links to the comment.
func renderIssue(one issue, comments []comment, limit int64) ([]byte, error) {
	w := &adfWriter{limit: limit}
	w.writeText("h1", withoutBraces(one.title()))
	w.writeFields(one)
	err := w.writeDescription(one)
	if err == nil {
		err = w.writeComments(comments)
	}
	if errors.Is(err, errTooLarge) || err == nil && int64(w.out.Len()) > limit {
		return nil, &connect.TooLargeError{Size: int64(w.out.Len()), Limit: limit}
	}
	if err != nil {
		return nil, err
	}
	text, err := atlassian.ToMarkdown(strings.ToValidUTF8(w.out.String(), "\uFFFD"))
	if err != nil {
		return nil, err
	}
	return []byte(text + "\n"), nil
}

// writeFields writes what is known of an issue as a list.
func (w *adfWriter) writeFields(one issue) {
	fields := one.Fields
	w.out.WriteString("<ul>")
	for _, line := range []struct{ name, value string }{
		{"Status", fields.Status.Name}, {"Type", fields.Type.Name}, {"Assignee", fields.Assignee.Name}, {"Labels", strings.Join(fields.Labels, ", ")},
		{"Resolution", fields.Resolution.Name}, {"Created", fields.Created.date()}, {"Updated", fields.Updated.date()},
		{"Due", fields.Due.date()}, {"Resolved", fields.Resolved.date()},
	} {
		if value := atlassian.OneLine(line.value); value != "" {
			w.writeText("li", line.name+": "+value)
		}
	}
	w.out.WriteString("</ul>\n")
}

func (w *adfWriter) writeDescription(one issue) error {
	if !isSet(one.Fields.Description) {
		return nil
	}
	w.writeText("h2", "Description")
	return w.writeADF(one.Fields.Description, sectionLevel)
}

func (w *adfWriter) writeComments(comments []comment) error {
	if len(comments) > 0 {
		w.writeText("h2", "Comments")
	}
	for _, said := range comments {
		name := withoutBraces(atlassian.OneLine(said.Author.Name))
		if name == "" {
			name = "somebody"
		}
		w.out.WriteString("<h3>" + html.EscapeString("Comment by "+name+" on "+said.Created.date()))
		if anchor, ok := knowledge.CommentAnchor(said.ID); ok {
			w.out.WriteString(" {#" + anchor + "}")
		}
		w.out.WriteString("</h3>\n")
		if err := w.writeADF(said.Body, commentLevel); err != nil {
			return err
		}
	}
	return nil
}

// withoutBraces takes out what could be taken for the anchor of a heading.
func withoutBraces(text string) string {
	return strings.NewReplacer("{", "(", "}", ")").Replace(text)
}
