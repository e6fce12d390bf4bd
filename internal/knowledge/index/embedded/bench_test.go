package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
)

// BenchmarkIndex builds an index of 100,000 passages (see indextest.LoadCorpus and
// indextest.BenchPassages) and measures it:
//
//	CAIRN_RETRIEVAL=… go test -run '^$' -bench Index -benchtime 2000x ./internal/knowledge/index/embedded
func BenchmarkIndex(b *testing.B) {
	passages, corpus := indextest.BenchPassages(b), indextest.LoadCorpus(b)
	options := embedded.Options{Dir: b.TempDir(), Embedder: "bench", Dimension: indextest.BenchDimension}
	x := openBench(b, options)
	indextest.Report(b, "write", "passages/s", float64(passages)/corpus.Build(b, x, passages).Seconds())
	vectors, _ := indextest.BuildVectors(b, x)
	indextest.Report(b, "vectors", "passages/s", float64(passages)/vectors.Seconds())
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	runtime.GC()

	started := time.Now()
	x = openBench(b, options)
	indextest.Report(b, "open", "ms", time.Since(started).Seconds()*1000)
	stats, err := x.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", stats)
	for name, search := range map[string]indextest.Asker{
		"words":   func(_ *rand.Rand, q index.Query) index.Query { return q },
		"meaning": func(r *rand.Rand, _ index.Query) index.Query { return index.Query{Vector: indextest.BenchVector(r)} },
		"both":    func(r *rand.Rand, q index.Query) index.Query { q.Vector = indextest.BenchVector(r); return q },
		"both of one kind": func(r *rand.Rand, q index.Query) index.Query {
			q.Vector = indextest.BenchVector(r)
			q.Filter.Kinds = []knowledge.Kind{knowledge.KindCode}
			return q
		},
	} {
		b.Run(name, func(b *testing.B) { corpus.BenchSearch(b, x, search) })
	}
	b.Run("similar", func(b *testing.B) { benchSimilar(b, x) })
	indextest.Report(b, "memory", "MB", residentMB(b))
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkViewers compares searches by people who hold few and many principals with
// searches without a filter, at 100,000 passages (see indextest.BenchPassages).
func BenchmarkViewers(b *testing.B) {
	passages, corpus := indextest.BenchPassages(b), indextest.LoadCorpus(b)
	corpus.Audience = indextest.DrawAudience
	x := openBench(b, embedded.Options{Dir: b.TempDir(), Embedder: "bench", Dimension: indextest.BenchDimension})
	corpus.Build(b, x, passages)
	indextest.BuildVectors(b, x)
	b.Run("both", func(b *testing.B) { corpus.BenchViewers(b, x, nil) })
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

func openBench(b *testing.B, options embedded.Options) *embedded.Index {
	b.Helper()
	x, err := embedded.Open(b.Context(), options)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func benchSimilar(b *testing.B, x *embedded.Index) {
	misspelt := []string{"temperatur", "aerodinamic", "presure", "univercity", "goverment", "svc_99x", "bondary", "flwo"}
	for i := 0; b.Loop(); i++ {
		if _, err := x.Similar(b.Context(), misspelt[i%len(misspelt)], 5); err != nil {
			b.Fatal(err)
		}
	}
}

// residentMB is the memory of this process, as the kernel counts it.
func residentMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	var kilobytes float64
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
				b.Fatal(err)
			}
		}
	}
	return kilobytes / 1024
}
