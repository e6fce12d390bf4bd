package document

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// collection reads the documents of a collection that the asker may see.
func (r *Reader) collection(ctx context.Context, set *gathered, wanted Read) error {
	source, err := r.source(ctx, wanted)
	if err != nil {
		return err
	}
	filter := index.Filter{Sources: wanted.Scope.Sources}
	filter.Viewers = knowledge.ViewersFrom(ctx)
	count := 0
	for document, err := range r.options.Index.Documents(ctx, source) {
		if err != nil {
			return fmt.Errorf("read collection %s: %w", source, err)
		}
		if document.State == knowledge.StateGone || !index.ClassOf(document).Passes(filter) {
			continue
		}
		if count++; count > r.options.Limits.Files {
			return refused("The collection @%s has more than %d documents, too many to read at once: name a folder, or attach the files.", source, r.options.Limits.Files)
		}
		if err := r.indexed(ctx, set, document); err != nil {
			return err
		}
	}
	return nil
}

// source gives the collection of a name that the asker may read.
func (r *Reader) source(ctx context.Context, wanted Read) (knowledge.SourceID, error) {
	var known []knowledge.SourceID
	if r.options.Index != nil {
		var err error
		if known, err = r.options.Collections(ctx); err != nil {
			return "", fmt.Errorf("list the collections: %w", err)
		}
	}
	var offered []string
	for _, source := range known {
		if len(wanted.Scope.Sources) > 0 && !slices.Contains(wanted.Scope.Sources, source) {
			continue
		}
		if strings.EqualFold(string(source), wanted.Location.Name) {
			return source, nil
		}
		offered = append(offered, "@"+string(source))
	}
	if len(offered) == 0 {
		return "", refused("There is no collection to read here: attach the files to the message, or name a folder (`./docs`).")
	}
	return "", refused("There is no collection %s. I know %s.", wanted.Location, strings.Join(offered, ", "))
}

// passagesAtOnce is how many passages of a document are looked up together.
const passagesAtOnce = 64

// indexed puts a document together from its passages.
func (r *Reader) indexed(ctx context.Context, set *gathered, from knowledge.Document) error {
	text := &builder{document: Document{
		Name: from.Path, ID: from.ID, Kind: from.Kind, Title: from.Title, URL: webAddress(from.URL), Modified: from.Modified,
		Audience: from.Audience.OrPublic(),
	}}
	for position := 0; ; position += passagesAtOnce {
		ids := make([]knowledge.PassageID, passagesAtOnce)
		for i := range ids {
			ids[i] = knowledge.MakePassageID(from.ID, position+i)
		}
		found, err := r.options.Index.Passages(ctx, ids)
		if err != nil {
			return fmt.Errorf("read document %s: %w", from.ID, err)
		}
		for _, one := range found {
			text.section(one.Passage.Headings, one.Passage.Anchor)
			text.block(one.Passage.Text, false)
			text.passage(Passage{ID: one.Passage.ID, Hash: one.Passage.Hash})
		}
		if len(found) < passagesAtOnce {
			return set.add(text)
		}
	}
}

// webAddress leaves out the addresses of files on the bot's own machine, which people
// can't open.
func webAddress(address string) string {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}

var _ Index = index.Reader(nil)
