package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/servertest"
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
//	CAIRN_RETRIEVAL=… go test -run '^$' -bench Index -benchtime 1000x ./internal/knowledge/index/postgres
func BenchmarkIndex(b *testing.B) {
	passages := benchPassages
	if n := os.Getenv("CAIRN_PASSAGES"); n != "" {
		if _, err := fmt.Sscan(n, &passages); err != nil {
			b.Fatalf("CAIRN_PASSAGES: %v", err)
		}
	}
	source := newTextSource(b)
	options := Options{
		URL: servertest.Postgres(b), Embedder: "bench", Dimension: benchDimension,
		Logger: slog.New(slog.NewTextHandler(b.Output(), nil)),
	}
	x := openBench(b, options)
	report(b, "write", "passages/s", float64(passages)/buildText(b, x, source, passages).Seconds())
	buildVectors(b, x)
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	started := time.Now()
	options.ReadOnly = true
	x = openBench(b, options)
	report(b, "open", "ms", time.Since(started).Seconds()*1000)
	stats, err := x.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", stats)
	both := func(filter index.Filter) func(*rand.Rand, index.Query) index.Query {
		return func(r *rand.Rand, q index.Query) index.Query {
			q.Vector, q.Filter = clusterVector(r), filter
			return q
		}
	}
	b.Run("words", func(b *testing.B) {
		benchSearch(b, x, source, func(_ *rand.Rand, q index.Query) index.Query { return q })
	})
	b.Run("meaning", func(b *testing.B) {
		benchSearch(b, x, source, func(r *rand.Rand, _ index.Query) index.Query { return index.Query{Vector: clusterVector(r)} })
	})
	b.Run("both", func(b *testing.B) { benchSearch(b, x, source, both(index.Filter{})) })
	b.Run("both, 8 at once", func(b *testing.B) { benchConcurrent(b, x, source, both(index.Filter{})) })
	for _, share := range shares {
		filter := index.Filter{Sources: []knowledge.SourceID{share.source}}
		b.Run("both of "+string(share.source), func(b *testing.B) { benchSearch(b, x, source, both(filter)) })
	}
	b.Run("recall", func(b *testing.B) { benchRecall(b, x) })
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

// shares are the sources that hold so many of 1,000 documents; "docs" has the others.
var shares = []struct {
	source knowledge.SourceID
	of1000 int
}{{"tenth", 100}, {"hundredth", 10}, {"thousandth", 1}}

func openBench(b *testing.B, options Options) *Index {
	b.Helper()
	x, err := Open(b.Context(), options)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func report(b *testing.B, name, unit string, value float64) {
	b.Helper()
	b.Logf("%-8s %10.1f %s", name, value, unit)
}

func buildText(b *testing.B, x *Index, source *textSource, passages int) time.Duration {
	b.Helper()
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

func buildVectors(b *testing.B, x *Index) {
	b.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	var spent, last time.Duration
	count := 0
	for {
		started := time.Now()
		found, err := x.Unembedded(b.Context(), benchBatch)
		if err != nil {
			b.Fatal(err)
		}
		if len(found) == 0 {
			break
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
		last = time.Since(started)
		spent += last
		count += len(found)
	}
	report(b, "vectors", "passages/s", float64(count)/(spent-last).Seconds())
	report(b, "hnsw", "s", last.Seconds())
}

type asker func(*rand.Rand, index.Query) index.Query

func (s *textSource) question(random *rand.Rand, ask asker) index.Query {
	var query index.Query
	for _, term := range lexical.Analyze(s.questions[random.IntN(len(s.questions))]) {
		if !lexical.IsStop(term) {
			query.Terms = append(query.Terms, index.Term{Text: term, Weight: 1})
		}
	}
	return ask(random, query)
}

func benchSearch(b *testing.B, x *Index, source *textSource, ask asker) {
	random := rand.New(rand.NewPCG(5, 6))
	var times []time.Duration
	for b.Loop() {
		query := source.question(random, ask)
		started := time.Now()
		if _, err := x.Search(b.Context(), query); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(started))
	}
	reportTimes(b, times)
}

func reportTimes(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-ms")
}

func benchConcurrent(b *testing.B, x *Index, source *textSource, ask asker) {
	const askers = 8
	var mu sync.Mutex
	var times []time.Duration
	var group sync.WaitGroup
	started := time.Now()
	for number := range askers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(number), 6))
			for range b.N / askers {
				query := source.question(random, ask)
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
		reportTimes(b, times)
	}
}

// benchRecall compares dense searches with exact ones: how many of the best 20 are found.
func benchRecall(b *testing.B, x *Index) {
	random := rand.New(rand.NewPCG(7, 8))
	filters := map[string]index.Filter{"recall-all": {}}
	for _, share := range shares {
		filters["recall-"+string(share.source)] = index.Filter{Sources: []knowledge.SourceID{share.source}}
	}
	limits := x.limits
	defer func() { x.limits = limits }()
	for name, filter := range filters {
		found, all := 0, 0
		for range 30 {
			query := index.Query{Vector: clusterVector(random), Filter: filter, Limit: 20}
			x.limits.exact = math.MaxInt
			want, err := x.Search(b.Context(), query)
			if err != nil {
				b.Fatal(err)
			}
			x.limits = limits
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
		for _, text := range readLines(b, corpus) {
			if words := strings.Fields(text.Title + " " + text.Text); len(words) > 0 {
				source.texts = append(source.texts, words)
			}
		}
		for _, question := range readLines(b, filepath.Join(filepath.Dir(corpus), "queries.jsonl")) {
			source.questions = append(source.questions, question.Text)
		}
	}
	return source
}

// beirLine is a text or question of a set in BEIR's form.
type beirLine struct {
	ID    string `json:"_id"`
	Title string
	Text  string
}

func readLines(b *testing.B, path string) []beirLine {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	}()
	var texts []beirLine
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line beirLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatalf("%s: %v", path, err)
		}
		texts = append(texts, line)
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
	from := knowledge.SourceID("docs")
	for n, i := random.IntN(1000), 0; i < len(shares); i++ {
		if n -= shares[i].of1000; n < 0 {
			from = shares[i].source
			break
		}
	}
	e := index.Entry{Document: knowledge.Document{
		ID: id, Source: from, Kind: []knowledge.Kind{knowledge.KindCode, knowledge.KindDocumentation}[random.IntN(2)],
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
