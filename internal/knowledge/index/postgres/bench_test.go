package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// BenchmarkIndex builds an index of 100,000 passages (see indextest.LoadCorpus and
// indextest.BenchPassages) and measures it:
//
//	CAIRN_RETRIEVAL=… make bench-postgres
//	CAIRN_RETRIEVAL=… make bench-postgres-million
func BenchmarkIndex(b *testing.B) {
	passages, corpus := indextest.BenchPassages(b), indextest.LoadCorpus(b)
	corpus.Shares = shares
	options := Options{
		URL: servertest.Postgres(b), Embedder: "bench", Dimension: indextest.BenchDimension,
		BuildMemory: max(defaultBuildMemory, int64(passages)*buildMemoryOfOne),
		Statement:   time.Hour, // what is compared with takes its time
		Logger:      slog.New(slog.NewTextHandler(b.Output(), nil)),
	}
	x := openBench(b, options)
	indextest.Report(b, "write", "passages/s", float64(passages)/corpus.Build(b, x, passages).Seconds())
	vectors, last := indextest.BuildVectors(b, x) // the last write builds the HNSW index
	indextest.Report(b, "vectors", "passages/s", float64(passages)/(vectors-last).Seconds())
	indextest.Report(b, "hnsw", "s", last.Seconds())
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	started := time.Now()
	options.ReadOnly = true
	x = openBench(b, options)
	indextest.Report(b, "open", "ms", time.Since(started).Seconds()*1000)
	stats, err := x.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", stats)
	started = time.Now()
	if _, err := x.Similar(b.Context(), "rolback", 5); err != nil {
		b.Fatal(err)
	}
	indextest.Report(b, "terms", "ms", time.Since(started).Seconds()*1000)
	both := func(filter index.Filter) indextest.Asker {
		return func(r *rand.Rand, q index.Query) index.Query {
			q.Vector, q.Filter = indextest.BenchVector(r), filter
			return q
		}
	}
	b.Run("words", func(b *testing.B) {
		corpus.BenchSearch(b, x, func(_ *rand.Rand, q index.Query) index.Query { return q })
	})
	b.Run("meaning", func(b *testing.B) {
		corpus.BenchSearch(b, x, func(r *rand.Rand, _ index.Query) index.Query { return index.Query{Vector: indextest.BenchVector(r)} })
	})
	b.Run("both", func(b *testing.B) { corpus.BenchSearch(b, x, both(index.Filter{})) })
	b.Run("both, 8 at once", func(b *testing.B) { benchConcurrent(b, x, corpus, both(index.Filter{})) })
	for _, share := range shares {
		filter := index.Filter{Sources: []knowledge.SourceID{share.Source}}
		b.Run("both of "+string(share.Source), func(b *testing.B) { corpus.BenchSearch(b, x, both(filter)) })
	}
	b.Run("recall", func(b *testing.B) { benchRecall(b, x, sharesFilters()) })
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkViewers compares searches by people who hold few and many principals with searches
// without a filter, in the same index and in one of the same passages without audiences, at
// 100,000 passages (see indextest.BenchPassages).
func BenchmarkViewers(b *testing.B) {
	passages, corpus := indextest.BenchPassages(b), indextest.LoadCorpus(b)
	build := func() *Index {
		x := openBench(b, Options{
			URL: servertest.Postgres(b), Embedder: "bench", Dimension: indextest.BenchDimension,
			BuildMemory: max(defaultBuildMemory, int64(passages)*buildMemoryOfOne), Logger: slog.New(slog.DiscardHandler),
		})
		corpus.Build(b, x, passages)
		indextest.BuildVectors(b, x)
		return x
	}
	plain := build()
	corpus.Audience = indextest.DrawAudience
	x := build()
	b.Run("both", func(b *testing.B) { corpus.BenchViewers(b, x, plain) })
	b.Run("recall", func(b *testing.B) { benchRecall(b, x, viewersFilters()) })
	for _, opened := range []*Index{x, plain} {
		if err := opened.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// buildMemoryOfOne is what the graph of an HNSW index takes of memory for a vector of
// indextest.BenchDimension half floats, in bytes, with some room.
const buildMemoryOfOne = 3 << 10

var shares = []indextest.Share{{Source: "tenth", Of1000: 100}, {Source: "hundredth", Of1000: 10}, {Source: "thousandth", Of1000: 1}}

func openBench(b *testing.B, options Options) *Index {
	b.Helper()
	x, err := migrateAndOpen(b.Context(), options)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func benchConcurrent(b *testing.B, x *Index, corpus *indextest.Corpus, ask indextest.Asker) {
	const askers = 8
	var mu sync.Mutex
	var times []time.Duration
	var group sync.WaitGroup
	started := time.Now()
	for number := range askers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(number), 6))
			for range b.N / askers {
				query := ask(random, corpus.Question(random))
				asked := time.Now()
				if _, err := x.Search(context.WithoutCancel(b.Context()), query); err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				times = append(times, time.Since(asked))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(times) > 0 {
		b.ReportMetric(float64(len(times))/time.Since(started).Seconds(), "queries/s")
		indextest.ReportTimes(b, times)
	}
}

func sharesFilters() map[string]index.Filter {
	filters := map[string]index.Filter{"recall-all": {Viewers: knowledge.Unrestricted()}}
	for _, share := range shares {
		filters["recall-"+string(share.Source)] = index.Filter{Sources: []knowledge.SourceID{share.Source}}
	}
	return filters
}

func viewersFilters() map[string]index.Filter {
	filters := make(map[string]index.Filter)
	for principals, viewers := range indextest.ViewersByPrincipals() {
		filters[fmt.Sprintf("recall-%d", principals)] = index.Filter{Viewers: viewers}
	}
	return filters
}

// benchRecall compares dense searches with exact ones: how many of the best 20 are found.
func benchRecall(b *testing.B, x *Index, filters map[string]index.Filter) {
	random := rand.New(rand.NewPCG(7, 8))
	exact := x.vectors.exact
	defer func() { x.vectors.exact = exact }()
	for name, filter := range filters {
		found, all := 0, 0
		for range 30 {
			query := index.Query{Vector: indextest.BenchVector(random), Filter: filter, Limit: 20}
			x.vectors.exact = math.MaxInt
			want, err := x.Search(b.Context(), query)
			if err != nil {
				b.Fatal(err)
			}
			x.vectors.exact = exact
			got, err := x.Search(b.Context(), query)
			if err != nil {
				b.Fatal(err)
			}
			all += len(want.Dense)
			for _, hit := range want.Dense {
				if slices.ContainsFunc(got.Dense, func(h index.Hit) bool { return h.Passage == hit.Passage }) {
					found++
				}
			}
		}
		b.ReportMetric(float64(found)/float64(all), name)
	}
}
