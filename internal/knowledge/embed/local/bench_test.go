package local

import (
	"strings"
	"testing"
)

func BenchmarkEmbed(b *testing.B) {
	e := loadEmbedder(b)
	samples := readSamples(b)
	passage := strings.Repeat("The deployment fails when the database migration has not run. ", 20)
	benches := []struct {
		name string
		text string
	}{{"question", samples[0].Text}, {"passage", passage}}
	for _, bench := range benches {
		b.Run(bench.name, func(b *testing.B) {
			texts := []string{bench.text}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTokenize(b *testing.B) {
	e := loadEmbedder(b)
	text := strings.Repeat("The deployment fails when the database migration has not run. ", 10)
	b.SetBytes(int64(len(text)))
	var ids []uint16
	for b.Loop() {
		ids = e.tokenizer.Append(ids[:0], text)
	}
}

func BenchmarkWindows(b *testing.B) {
	e := loadEmbedder(b)
	text := strings.Repeat("The deployment fails when the database migration has not run. ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if pieces := e.Windows("Deployment", text); len(pieces) != 3 {
			b.Fatalf("%d pieces, want 3", len(pieces))
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readModel(); err != nil {
			b.Fatal(err)
		}
	}
}
