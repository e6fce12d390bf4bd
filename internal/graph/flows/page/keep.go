package page

import (
	"context"
	"path"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// pickMade gives the document that a request wants kept: that of the run which it names, else the
// last one. None for other requests, so that a checkpoint stays small.
func pickMade(request flows.Request) []flows.Made {
	command := ReadCommand(request.Text)
	if command.Verb != Keep {
		return nil
	}
	for _, one := range request.Made {
		if one.Run == command.Rest || !runID.MatchString(command.Rest) {
			return []flows.Made{one}
		}
	}
	return nil
}

// keepMade makes a page of a document that a run of the thread made: an approved analysis, an
// overview or a report.
func (f *Flow) keepMade(ctx context.Context, s State, title string) (graph.Result[State], error) {
	if len(s.Made) == 0 {
		return endRefused("There is no analysis, overview or report in this thread that is still kept. Ask for it again, then `page: keep`.")
	}
	document := s.Made[0].File
	text := string(document.Content)
	if heading, body, ok := strings.Cut(strings.TrimSpace(text), "\n"); ok && strings.HasPrefix(heading, "# ") {
		text = body
		if title == "" || runID.MatchString(title) {
			title = strings.TrimSpace(strings.TrimPrefix(heading, "# "))
		}
	}
	if title == "" || runID.MatchString(title) {
		title = strings.ReplaceAll(strings.TrimSuffix(document.Name, path.Ext(document.Name)), "_", " ")
	}
	root, err := tree.ParseMarkdown(text)
	if err != nil {
		return endForError(err)
	}
	return f.createPage(ctx, s, newPage{title, root, "page: keep, of run " + s.Made[0].Run, ""})
}
