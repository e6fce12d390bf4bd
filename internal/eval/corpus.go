package eval

import (
	"context"
	"iter"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// CorpusSource is the source of a corpus's documents. The id of a document is the one that the set
// has for it, behind the source and a colon.
const CorpusSource = "corpus"

// Corpus is the connector of a set's documents: each is plain text, and never changes.
type Corpus struct {
	Documents iter.Seq2[Document, error]
}

var _ connect.Connector = (*Corpus)(nil)

// Source implements connect.Connector.
func (c *Corpus) Source() knowledge.SourceID { return CorpusSource }

// Sync implements connect.Connector.
func (c *Corpus) Sync(_ context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for document, err := range c.Documents {
			if err != nil {
				yield(connect.Change{}, err)
				return
			}
			id := knowledge.DocumentID(CorpusSource + ":" + document.ID)
			change := connect.Change{Kind: connect.Upserted, MediaType: "text/plain", Content: []byte(document.Text), Document: knowledge.Document{
				ID: id, Source: CorpusSource, Kind: knowledge.KindDocumentation, Path: document.ID, Title: document.Title, Hash: document.ID,
			}}
			if _, ok := known[id]; ok {
				change.Kind = connect.Unchanged
			}
			if !yield(change, nil) {
				return
			}
		}
	}
}
