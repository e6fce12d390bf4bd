package page

import (
	"context"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/pages/outline"
)

// draftPage makes a page about a question that found no good answer, or opens the one of that title:
// several people may wish it of one digest.
func draftPage(ctx context.Context, f *Flow, s State, question string) (graph.Result[State], error) {
	title := outline.MakeTitle(question)
	if title == "" {
		return endRefused("What is the page to answer? `page: draft How do I renew the certificate?`")
	}
	if f.search == nil {
		return endRefused("There are no documents here to draft from. `page: new` and a title makes a page.")
	}
	all, err := f.library.List(ctx, s.findPlace())
	if err != nil {
		return graph.Result[State]{}, err
	}
	for _, one := range all {
		if strings.EqualFold(one.Title, title) {
			return f.open(ctx, s, string(one.ID))
		}
	}
	root, err := outline.Draft(ctx, f.search, question)
	if err != nil {
		return graph.Result[State]{}, err
	}
	return f.createPage(ctx, s, newPage{title, root, "page: draft", "It is an outline: the answer is yours to write."})
}
