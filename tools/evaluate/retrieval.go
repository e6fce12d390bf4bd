package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// measureRetrieval measures the search alone.
func (e *evaluation) measureRetrieval(ctx context.Context) (report eval.Report, err error) {
	set, err := eval.LoadRetrieval(e.folder)
	if err != nil {
		return eval.Report{}, err
	}
	library, err := e.openLibrary(ctx)
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	if err := syncDocuments(ctx, library, &eval.Corpus{Documents: set.Documents()}); err != nil {
		return eval.Report{}, err
	}
	retriever := library.Retriever()
	switch e.side {
	case "fused":
	case "words":
		retriever.Embedder = nil
	case "meaning":
		retriever.Fusion = retrieve.Fusion{Dense: 1}
	default:
		return eval.Report{}, fmt.Errorf("-side %s: want fused, words or meaning", e.side)
	}
	scores, err := set.Measure(ctx, func(ctx context.Context, query string) ([]string, error) {
		ranked, err := retriever.Rank(ctx, retrieve.Query{Text: query})
		return documentsOf(ranked), err
	})
	if err != nil {
		return eval.Report{}, err
	}
	return scores.Report(), nil
}

// documentsOf gives the documents of a ranking of passages, each at its best place.
func documentsOf(ranked []retrieve.Fused) []string {
	var documents []string
	seen := make(map[knowledge.DocumentID]bool)
	for _, r := range ranked {
		document, _, ok := r.Passage.Split()
		if ok && !seen[document] {
			seen[document] = true
			documents = append(documents, strings.TrimPrefix(string(document), eval.CorpusSource+":"))
		}
	}
	return documents
}
