package index

import (
	"fmt"
	"iter"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// DocumentPage is how many documents a backend reads at once, so that no transaction
// stays open while a caller works on them.
const DocumentPage = 500

// EachDocument yields documents page by page: read gives the first DocumentPage, by id,
// that come after one, which is "" at first.
func EachDocument(read func(after knowledge.DocumentID) ([]knowledge.Document, error)) iter.Seq2[knowledge.Document, error] {
	return func(yield func(knowledge.Document, error) bool) {
		var after knowledge.DocumentID
		for {
			page, err := read(after)
			if err != nil {
				yield(knowledge.Document{}, fmt.Errorf("read documents: %w", err))
				return
			}
			for _, document := range page {
				if !yield(document, nil) {
					return
				}
			}
			if len(page) < DocumentPage {
				return
			}
			after = page[len(page)-1].ID
		}
	}
}
