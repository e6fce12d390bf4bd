package embedded_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	"cairn/internal/runs/embedded"
)

// benchCheckpoint has the size of a run of the answer flow with its passages.
var benchCheckpoint = bytes.Repeat([]byte(`{"field":"value"},`), 1000)

func openBench(b *testing.B) *embedded.Checkpoints {
	b.Helper()
	store, err := embedded.Open(b.Context(), b.TempDir(), 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return store
}

func benchmarkSaves(b *testing.B, checkpoint []byte) {
	store := openBench(b)
	for i := 0; b.Loop(); i++ {
		if err := store.Save(b.Context(), fmt.Sprint("run ", i%100), checkpoint); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "saves/s")
}

func BenchmarkSaveSmall(b *testing.B) { benchmarkSaves(b, benchCheckpoint[:400]) }

func BenchmarkSaveLarge(b *testing.B) { benchmarkSaves(b, benchCheckpoint) }

// BenchmarkSaveAtOnce saves several runs at the same time, as parallel threads do.
func BenchmarkSaveAtOnce(b *testing.B) {
	store := openBench(b)
	var runs atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		run := fmt.Sprint("run ", runs.Add(1))
		for pb.Next() {
			if err := store.Save(b.Context(), run, benchCheckpoint[:400]); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "saves/s")
}

func BenchmarkLoad(b *testing.B) {
	store := openBench(b)
	if err := store.Save(b.Context(), "run", benchCheckpoint); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := store.Load(b.Context(), "run"); err != nil {
			b.Fatal(err)
		}
	}
}
