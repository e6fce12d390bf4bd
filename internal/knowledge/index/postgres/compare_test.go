package postgres

import (
	"bufio"
	"cmp"
	"context"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/knowledge"
	connector "github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/racetest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// backends opens an empty index of each backend for an embedder.
func backends(t testing.TB, embedder embed.Embedder) map[string]index.Index {
	t.Helper()
	file, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	options := suiteOptions(servertest.Postgres(t))
	options.Embedder, options.Dimension = embedder.Name(), embedder.Dimension()
	server, err := migrateAndOpen(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	both := map[string]index.Index{"embedded": file, "postgres": server}
	t.Cleanup(func() {
		for name, x := range both {
			if err := x.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	return both
}

func loadEmbedder(t testing.TB) embed.Embedder {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	return embedder
}

// TestGoldenQuestionsFindTheSameInBothBackends asks Cairn's own documentation while its
// vectors are made: none, some, all. With none, asking by meaning too changes nothing.
func TestGoldenQuestionsFindTheSameInBothBackends(t *testing.T) {
	embedder := loadEmbedder(t)
	both := backends(t, embedder)
	for name, x := range both {
		in := ingest.Ingester{Index: x}
		docs := files.New(files.Options{Root: filepath.Join("..", "..", "..", "..", "docs"), Source: "docs", Include: []string{"*.md"}})
		report, err := in.Sync(t.Context(), docs)
		if err != nil {
			t.Fatalf("%s: %v (%+v)", name, err, report)
		}
	}
	var questions []string
	for i, question := range goldenQuestions(t) {
		if i%racetest.Stride == 0 {
			questions = append(questions, question)
		}
	}
	made := make(map[knowledge.PassageID]index.Vectors)
	for _, more := range []int{0, 20, math.MaxInt32} {
		for _, x := range both {
			embedSome(t, x, embedder, made, more)
		}
		for _, question := range questions {
			top, byWords := sameTop(t, both, embedder, question), sameTop(t, both, nil, question)
			if more == 0 && !slices.Equal(top, byWords) {
				t.Errorf("%q, without any vectors: %q, by words %q", question, top, byWords)
			}
		}
	}
}

// sameTop gives the first five passages for a question, which both backends must agree on.
func sameTop(t *testing.T, both map[string]index.Index, embedder embed.Embedder, question string) []knowledge.PassageID {
	t.Helper()
	top := make(map[string][]knowledge.PassageID)
	for name, x := range both {
		r := retrieve.Retriever{Index: x, Embedder: embedder, Fusion: retrieve.DefaultFusion}
		ranked, err := r.Rank(t.Context(), retrieve.Query{Text: question})
		if err != nil {
			t.Fatalf("%s: %q: %v", name, question, err)
		}
		for _, found := range ranked[:min(5, len(ranked))] {
			top[name] = append(top[name], found.Passage)
		}
	}
	if len(top["embedded"]) == 0 || !slices.Equal(top["embedded"], top["postgres"]) {
		t.Fatalf("%q (by meaning too: %v):\n embedded %q\n postgres %q", question, embedder != nil, top["embedded"], top["postgres"])
	}
	return top["embedded"]
}

// embedSome gives vectors to so many more passages, the first by id: those that were
// written first are others in each backend. What was made for one backend serves the other.
func embedSome(t *testing.T, x index.Writer, embedder embed.Embedder, made map[knowledge.PassageID]index.Vectors, limit int) {
	t.Helper()
	found, err := x.Unembedded(t.Context(), math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b index.Found) int { return cmp.Compare(a.Passage.ID, b.Passage.ID) })
	var vectors []index.Vectors
	for _, f := range found[:min(limit, len(found))] {
		if made[f.Passage.ID].Hash != f.Passage.Hash {
			made[f.Passage.ID] = embedPassage(t, embedder, f)
		}
		vectors = append(vectors, made[f.Passage.ID])
	}
	if err := x.WriteVectors(t.Context(), vectors); err != nil {
		t.Fatal(err)
	}
}

func embedPassage(t *testing.T, embedder embed.Embedder, f index.Found) index.Vectors {
	t.Helper()
	windows, err := embedder.Embed(t.Context(), embedder.Windows(f.Document.Title, f.Passage.Text))
	if err != nil {
		t.Fatal(err)
	}
	made := index.Vectors{Passage: f.Passage.ID, Hash: f.Passage.Hash}
	for _, window := range windows {
		if window != nil {
			made.Windows = append(made.Windows, window)
		}
	}
	return made
}

// goldenQuestions reads a question a line.
func goldenQuestions(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "questions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	var questions []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		questions = append(questions, lines.Text())
	}
	if lines.Err() != nil || len(questions) < 20 {
		t.Fatalf("%d questions, %v", len(questions), lines.Err())
	}
	return questions
}

// setConnector yields the documents of a retrieval set.
type setConnector struct {
	documents iter.Seq2[eval.Document, error]
}

func (c setConnector) Source() knowledge.SourceID { return "corpus" }

func (c setConnector) Sync(context.Context, connector.Known) iter.Seq2[connector.Change, error] {
	return func(yield func(connector.Change, error) bool) {
		for document, err := range c.documents {
			change := connector.Change{Kind: connector.Upserted, MediaType: "text/plain", Content: []byte(document.Text), Document: knowledge.Document{
				ID: knowledge.DocumentID(document.ID), Source: c.Source(), Kind: knowledge.KindDocumentation,
				Path: document.ID, Title: document.Title, Hash: document.ID,
			}}
			if !yield(change, err) || err != nil {
				return
			}
		}
	}
}

// BenchmarkRetrieval measures both backends on the sets of the folder that
// CAIRN_RETRIEVAL names (see eval.LoadRetrieval), and fails where their nDCG@10 differs
// by more than .005:
//
//	CAIRN_RETRIEVAL=… go test -run '^$' -bench Retrieval -benchtime 1x ./internal/knowledge/index/postgres
func BenchmarkRetrieval(b *testing.B) {
	dir := os.Getenv("CAIRN_RETRIEVAL")
	if dir == "" {
		b.Fatal("CAIRN_RETRIEVAL must name a folder of sets")
	}
	sets, err := filepath.Glob(filepath.Join(dir, "*", "corpus.jsonl"))
	if err != nil || len(sets) == 0 {
		b.Fatalf("CAIRN_RETRIEVAL=%s holds no sets (%v)", dir, err)
	}
	embedder := loadEmbedder(b)
	for _, corpus := range sets {
		name := filepath.Base(filepath.Dir(corpus))
		b.Run(name, func(b *testing.B) { benchSet(b, filepath.Dir(corpus), embedder) })
	}
}

func benchSet(b *testing.B, dir string, embedder embed.Embedder) {
	set, err := eval.LoadRetrieval(dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		scores := make(map[string]eval.RetrievalScores)
		for backend, x := range backends(b, embedder) {
			in := ingest.Ingester{Index: x, Embedder: embedder}
			if _, err := in.Sync(b.Context(), setConnector{set.Documents()}); err != nil {
				b.Fatal(err)
			}
			r := retrieve.Retriever{Index: x, Embedder: embedder, Fusion: retrieve.Fusion{Dense: 0.3}}
			scores[backend], err = set.Measure(b.Context(), func(ctx context.Context, question string) ([]string, error) {
				ranked, err := r.Rank(ctx, retrieve.Query{Text: question})
				var ids []string
				for _, found := range ranked {
					if document, _, ok := found.Passage.Split(); ok {
						ids = append(ids, string(document))
					}
				}
				return ids, err
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(scores[backend].NDCG10, backend+"-nDCG@10")
		}
		if scores["embedded"].NDCG10 == 0 {
			b.Error("nothing relevant was found: the ids of the set are not those of the index")
		}
		if difference := math.Abs(scores["embedded"].NDCG10 - scores["postgres"].NDCG10); difference > .005 {
			b.Errorf("nDCG@10 differs by %.4f: %+v", difference, scores)
		}
	}
}
