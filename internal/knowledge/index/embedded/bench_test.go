package embedded_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/embedded"
	"cairn/internal/knowledge/lexical"
)

// The benchmark's index. CAIRN_RETRIEVAL names a folder of sets in BEIR's form
// (NAME/corpus.jsonl, NAME/queries.jsonl) to take text and questions from; without
// it the text is made up by Zipf's law. CAIRN_PASSAGES changes the size.
const (
	benchPassages  = 100_000
	benchDimension = 512
	benchBatch     = 500
)

// BenchmarkIndex builds an index of 100,000 passages and measures it:
//
//	CAIRN_RETRIEVAL=… go test -run '^$' -bench Index -benchtime 2000x ./internal/knowledge/index/embedded
func BenchmarkIndex(b *testing.B) {
	passages := benchPassages
	if n := os.Getenv("CAIRN_PASSAGES"); n != "" {
		if _, err := fmt.Sscan(n, &passages); err != nil {
			b.Fatalf("CAIRN_PASSAGES: %v", err)
		}
	}
	source := newTextSource(b)
	options := embedded.Options{Dir: b.TempDir(), Embedder: "bench", Dimension: benchDimension}
	x := openBench(b, options)
	report(b, "write", "passages/s", float64(passages)/buildText(b, x, source, passages).Seconds())
	report(b, "vectors", "passages/s", float64(passages)/buildVectors(b, x).Seconds())
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	runtime.GC()

	started := time.Now()
	x = openBench(b, options)
	report(b, "open", "ms", time.Since(started).Seconds()*1000)
	stats, err := x.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", stats)
	for name, search := range map[string]func(*rand.Rand, index.Query) index.Query{
		"words":   func(_ *rand.Rand, q index.Query) index.Query { return q },
		"meaning": func(r *rand.Rand, _ index.Query) index.Query { return index.Query{Vector: clusterVector(r)} },
		"both":    func(r *rand.Rand, q index.Query) index.Query { q.Vector = clusterVector(r); return q },
		"both of one kind": func(r *rand.Rand, q index.Query) index.Query {
			q.Vector = clusterVector(r)
			q.Filter.Kinds = []knowledge.Kind{knowledge.KindCode}
			return q
		},
	} {
		b.Run(name, func(b *testing.B) { benchSearch(b, x, source, search) })
	}
	b.Run("similar", func(b *testing.B) { benchSimilar(b, x) })
	report(b, "memory", "MB", residentMB(b))
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

func report(b *testing.B, name, unit string, value float64) {
	b.Helper()
	b.Logf("%-8s %10.1f %s", name, value, unit)
}

func buildText(b *testing.B, x *embedded.Index, source *textSource, passages int) time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	var spent time.Duration
	var batch index.Batch
	for made, queued := 0, 0; made < passages; {
		e := source.entry(random, made)
		batch.Put = append(batch.Put, e)
		made += len(e.Passages)
		queued += len(e.Passages)
		if queued >= benchBatch || made >= passages {
			started := time.Now()
			if err := x.Write(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			spent += time.Since(started)
			batch, queued = index.Batch{}, 0
		}
	}
	return spent
}

func buildVectors(b *testing.B, x *embedded.Index) time.Duration {
	random := rand.New(rand.NewPCG(3, 4))
	var spent time.Duration
	for {
		started := time.Now()
		found, err := x.Unembedded(b.Context(), benchBatch)
		if err != nil {
			b.Fatal(err)
		}
		if len(found) == 0 {
			return spent
		}
		spent += time.Since(started)
		vectors := make([]index.Vectors, len(found))
		for i, f := range found {
			vectors[i] = index.Vectors{Passage: f.Passage.ID, Hash: f.Passage.Hash, Windows: [][]float32{clusterVector(random)}}
		}
		started = time.Now()
		if err := x.WriteVectors(b.Context(), vectors); err != nil {
			b.Fatal(err)
		}
		spent += time.Since(started)
	}
}

func benchSearch(b *testing.B, x *embedded.Index, source *textSource, ask func(*rand.Rand, index.Query) index.Query) {
	random := rand.New(rand.NewPCG(5, 6))
	var times []time.Duration
	for b.Loop() {
		var query index.Query
		for _, term := range lexical.Analyze(source.questions[random.IntN(len(source.questions))]) {
			if !lexical.IsStop(term) {
				query.Terms = append(query.Terms, index.Term{Text: term, Weight: 1})
			}
		}
		query = ask(random, query)
		started := time.Now()
		if _, err := x.Search(b.Context(), query); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(started))
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-ms")
}

func benchSimilar(b *testing.B, x *embedded.Index) {
	misspelt := []string{"temperatur", "aerodinamic", "presure", "univercity", "goverment", "svc_99x", "bondary", "flwo"}
	for i := 0; b.Loop(); i++ {
		if _, err := x.Similar(b.Context(), misspelt[i%len(misspelt)], 5); err != nil {
			b.Fatal(err)
		}
	}
}

// clusterVector gives a vector near one of 2,000 centres, as the vectors of texts
// about the same thing are.
func clusterVector(random *rand.Rand) []float32 {
	centre := rand.New(rand.NewPCG(random.Uint64N(2000), 8))
	vector := make([]float32, benchDimension)
	var sum float64
	for i := range vector {
		vector[i] = float32(centre.NormFloat64() + 0.7*random.NormFloat64())
		sum += float64(vector[i]) * float64(vector[i])
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(sum))
	}
	return vector
}

// textSource makes passages of some 180 words out of pieces of real ones.
type textSource struct {
	texts     [][]string // the words of each text
	questions []string
}

func newTextSource(b *testing.B) *textSource {
	b.Helper()
	dir := os.Getenv("CAIRN_RETRIEVAL")
	if dir == "" {
		return zipfSource()
	}
	source := &textSource{}
	corpora, err := filepath.Glob(filepath.Join(dir, "*", "corpus.jsonl"))
	if err != nil || len(corpora) == 0 {
		b.Fatalf("CAIRN_RETRIEVAL=%s holds no sets (%v)", dir, err)
	}
	for _, corpus := range corpora {
		for _, text := range readTexts(b, corpus) {
			if words := strings.Fields(text); len(words) > 0 {
				source.texts = append(source.texts, words)
			}
		}
		source.questions = append(source.questions, readTexts(b, filepath.Join(filepath.Dir(corpus), "queries.jsonl"))...)
	}
	return source
}

func readTexts(b *testing.B, path string) []string {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var texts []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Title, Text string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatalf("%s: %v", path, err)
		}
		texts = append(texts, line.Title+" "+line.Text)
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return texts
}

func zipfSource() *textSource {
	random := rand.New(rand.NewPCG(9, 10))
	zipf := rand.NewZipf(random, 1.1, 2, 200_000)
	words := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("w%d", zipf.Uint64())
		}
		return list
	}
	source := &textSource{}
	for range 2000 {
		source.texts = append(source.texts, words(150))
		source.questions = append(source.questions, strings.Join(words(8), " "))
	}
	return source
}

// entry gives a document of one to twenty passages. Each passage has a word of its
// own, as code and configuration have.
func (s *textSource) entry(random *rand.Rand, first int) index.Entry {
	id := knowledge.DocumentID(fmt.Sprintf("docs/area%d/page%d.md", first%50, first))
	e := index.Entry{Document: knowledge.Document{
		ID: id, Source: "docs", Kind: []knowledge.Kind{knowledge.KindCode, knowledge.KindDocumentation}[random.IntN(2)],
		Path: string(id), Title: s.piece(random, 3), URL: "https://example.org/" + string(id), Hash: fmt.Sprint(first),
	}}
	for i := range 1 + random.IntN(20) {
		text := fmt.Sprintf("svc_%d", first+i)
		for range 4 {
			text += " " + s.piece(random, 45)
		}
		e.Passages = append(e.Passages, knowledge.Passage{
			ID: knowledge.MakePassageID(id, i), Document: id, Position: i, Headings: []string{s.piece(random, 4)},
			Text: text, Tokens: 240, Hash: fmt.Sprint(first + i),
		})
	}
	return e
}

func (s *textSource) piece(random *rand.Rand, words int) string {
	text := s.texts[random.IntN(len(s.texts))]
	from := random.IntN(max(1, len(text)-words))
	return strings.Join(text[from:min(from+words, len(text))], " ")
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
