package render

import (
	"strconv"
	"strings"
)

// Text returns pieces as plain text, as it reads where a platform shows them: lists with
// their marks, what is preformatted between fences, links by their labels.
func Text(pieces []Piece) string {
	var out strings.Builder
	for i, piece := range pieces {
		if i > 0 {
			out.WriteString("\n")
			if piece.Shape != Item || pieces[i-1].Shape != Item {
				out.WriteString("\n")
			}
		}
		said := Plain(piece.Runs)
		switch piece.Shape {
		case Item:
			mark := "- "
			if piece.Ordered {
				mark = strconv.Itoa(piece.Number) + ". "
			}
			out.WriteString(strings.Repeat("  ", piece.Indent) + mark + said)
		case Preformatted:
			out.WriteString("```" + piece.Language + "\n" + said + "\n```")
		case Quote:
			out.WriteString("> " + strings.ReplaceAll(said, "\n", "\n> "))
		default:
			out.WriteString(said)
		}
	}
	return out.String()
}
