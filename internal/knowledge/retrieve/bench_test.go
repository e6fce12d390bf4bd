package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// BenchmarkWhileEmbedding measures nDCG@10 on the sets of the folder that CAIRN_RETRIEVAL
// names while only a share of the passages has vectors, drawn at random:
//
//	CAIRN_RETRIEVAL=… go test -run '^$' -bench WhileEmbedding -benchtime 1x ./internal/knowledge/retrieve
func BenchmarkWhileEmbedding(b *testing.B) {
	sets, err := filepath.Glob(filepath.Join(os.Getenv("CAIRN_RETRIEVAL"), "*", "corpus.jsonl"))
	if err != nil || len(sets) == 0 {
		b.Fatalf("CAIRN_RETRIEVAL must name a folder of sets (%v)", err)
	}
	embedder, err := local.Load()
	if err != nil {
		b.Fatal(err)
	}
	for _, corpus := range sets {
		dir := filepath.Dir(corpus)
		b.Run(filepath.Base(dir), func(b *testing.B) {
			for b.Loop() {
				measureShares(b, dir, embedder)
			}
		})
	}
}

func measureShares(b *testing.B, dir string, embedder embed.Embedder) {
	set, err := eval.LoadRetrieval(dir)
	if err != nil {
		b.Fatal(err)
	}
	x, err := embedded.Open(b.Context(), embedded.Options{Dir: b.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		b.Fatal(err)
	}
	var batch index.Batch
	for document, err := range set.Documents() {
		if err != nil {
			b.Fatal(err)
		}
		id := knowledge.DocumentID(document.ID)
		batch.Put = append(batch.Put, index.Entry{
			Document: knowledge.Document{ID: id, Source: "corpus", Title: document.Title, Hash: document.ID},
			Passages: []knowledge.Passage{{ID: knowledge.MakePassageID(id, 0), Document: id, Text: document.Text, Hash: document.ID}},
		})
	}
	if err := x.Write(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
	r := retrieve.Retriever{Index: x, Embedder: embedder, Fusion: retrieve.DefaultFusion}
	for _, share := range []float64{0, .25, .5, .75, 1} {
		if err := embedShare(b.Context(), x, embedder, share); err != nil {
			b.Fatal(err)
		}
		scores, err := set.Measure(b.Context(), func(ctx context.Context, question string) ([]string, error) {
			ranked, err := r.Rank(ctx, retrieve.Query{Text: question})
			ids := make([]string, len(ranked))
			for i, found := range ranked {
				document, _, _ := found.Passage.Split()
				ids[i] = string(document)
			}
			return ids, err
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(scores.NDCG10, fmt.Sprintf("nDCG@10-of-%.2f", share))
	}
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

// embedShare gives vectors to those of a share that have none yet.
func embedShare(ctx context.Context, x index.Writer, embedder embed.Embedder, share float64) error {
	found, err := x.Unembedded(ctx, math.MaxInt32)
	if err != nil {
		return err
	}
	var vectors []index.Vectors
	for _, f := range found {
		hash := fnv.New64a()
		if _, err := hash.Write([]byte(f.Passage.ID + " drawn")); err != nil {
			return err
		}
		if float64(hash.Sum64()*0x9e3779b97f4a7c15>>11)/(1<<53) >= share {
			continue
		}
		windows, err := embedder.Embed(ctx, embedder.Windows(f.Document.Title, f.Passage.Text))
		if err != nil {
			return err
		}
		made := index.Vectors{Passage: f.Passage.ID, Hash: f.Passage.Hash}
		for _, window := range windows {
			if window != nil {
				made.Windows = append(made.Windows, window)
			}
		}
		vectors = append(vectors, made)
	}
	if share == 1 && len(vectors) != len(found) {
		return errors.New("some of all passages were left out")
	}
	return x.WriteVectors(ctx, vectors)
}
