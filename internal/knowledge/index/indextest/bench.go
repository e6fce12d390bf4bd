package indextest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// BenchDimension is the dimension of the vectors that benchmarks write.
const BenchDimension = 512

const (
	benchPassages = 100_000
	benchBatch    = 500
)

// BenchVector returns one of many vectors of which groups are near to each other, as
// those of texts about the same thing are.
func BenchVector(random *rand.Rand) []float32 {
	return ClusteredVector(random, 2000, 0.7, BenchDimension)
}

// BenchPassages returns the size of a benchmark's index: 100,000 passages, or what
// CAIRN_PASSAGES says.
func BenchPassages(b *testing.B) int {
	b.Helper()
	passages := benchPassages
	if n := os.Getenv("CAIRN_PASSAGES"); n != "" {
		if _, err := fmt.Sscan(n, &passages); err != nil {
			b.Fatalf("CAIRN_PASSAGES: %v", err)
		}
	}
	return passages
}

// Report logs a number that is not one of a benchmark's loop.
func Report(b *testing.B, name, unit string, value float64) {
	b.Helper()
	b.Logf("%-8s %10.1f %s", name, value, unit)
}

// ReportTimes reports the median and the 99th percentile of times.
func ReportTimes(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-ms")
}

// Asker makes the query of a benchmark out of a question.
type Asker func(random *rand.Rand, question index.Query) index.Query

// BenchSearch measures searches for questions of the corpus.
func (c *Corpus) BenchSearch(b *testing.B, x index.Reader, ask Asker) {
	random := rand.New(rand.NewPCG(5, 6))
	var times []time.Duration
	for b.Loop() {
		query := ask(random, c.Question(random))
		started := time.Now()
		if _, err := x.Search(b.Context(), query); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(started))
	}
	ReportTimes(b, times)
}

// Question asks by the words of one of the questions.
func (c *Corpus) Question(random *rand.Rand) index.Query {
	var query index.Query
	for _, term := range lexical.Analyze(c.questions[random.IntN(len(c.questions))]) {
		if !lexical.IsStop(term) {
			query.Terms = append(query.Terms, index.Term{Text: term, Weight: 1})
		}
	}
	return query
}

// Build writes so many passages, and a few more, without vectors, and says how long
// the writes took.
func (c *Corpus) Build(b *testing.B, x index.Writer, passages int) time.Duration {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var spent time.Duration
	var batch index.Batch
	for made, queued := 0, 0; made < passages; {
		e := c.newEntry(random, made)
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

// BuildVectors writes a vector for each passage that has none, and says how long that
// took, and the last write of it.
func BuildVectors(b *testing.B, x index.Writer) (all, last time.Duration) {
	b.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	for {
		started := time.Now()
		found, err := x.Unembedded(b.Context(), benchBatch)
		if err != nil {
			b.Fatal(err)
		}
		if len(found) == 0 {
			return all, last
		}
		all += time.Since(started)
		vectors := make([]index.Vectors, len(found))
		for i, f := range found {
			vectors[i] = index.Vectors{Passage: f.Passage.ID, Hash: f.Passage.Hash, Windows: [][]float32{BenchVector(random)}}
		}
		started = time.Now()
		if err := x.WriteVectors(b.Context(), vectors); err != nil {
			b.Fatal(err)
		}
		last = time.Since(started)
		all += last
	}
}

// Corpus makes passages of some 180 words out of pieces of real ones.
type Corpus struct {
	// Shares are the sources that some documents are of; the others are of "docs".
	Shares []Share
	// Audience draws whom a document is for; nil: all are public.
	Audience func(random *rand.Rand) knowledge.Audience

	texts     [][]string // the words of each text
	questions []string
}

// Share is a source that holds so many of 1,000 documents.
type Share struct {
	Source knowledge.SourceID
	Of1000 int
}

// LoadCorpus takes text and questions from the folder of sets in BEIR's form
// (NAME/corpus.jsonl, NAME/queries.jsonl) that CAIRN_RETRIEVAL names; without it the
// text is made up by Zipf's law.
func LoadCorpus(b *testing.B) *Corpus {
	b.Helper()
	dir := os.Getenv("CAIRN_RETRIEVAL")
	if dir == "" {
		return zipfCorpus()
	}
	corpus := &Corpus{}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "corpus.jsonl"))
	if err != nil || len(paths) == 0 {
		b.Fatalf("CAIRN_RETRIEVAL=%s holds no sets (%v)", dir, err)
	}
	for _, path := range paths {
		for _, text := range readTexts(b, path) {
			if words := strings.Fields(text); len(words) > 0 {
				corpus.texts = append(corpus.texts, words)
			}
		}
		corpus.questions = append(corpus.questions, readTexts(b, filepath.Join(filepath.Dir(path), "queries.jsonl"))...)
	}
	return corpus
}

func readTexts(b *testing.B, path string) []string {
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

func zipfCorpus() *Corpus {
	random := rand.New(rand.NewPCG(9, 10))
	zipf := rand.NewZipf(random, 1.1, 2, 200_000)
	words := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("w%d", zipf.Uint64())
		}
		return list
	}
	corpus := &Corpus{}
	for range 2000 {
		corpus.texts = append(corpus.texts, words(150))
		corpus.questions = append(corpus.questions, strings.Join(words(8), " "))
	}
	return corpus
}

// newEntry returns a document of one to twenty passages. Each passage has a word of its
// own, as code and configuration have.
func (c *Corpus) newEntry(random *rand.Rand, first int) index.Entry {
	id := knowledge.DocumentID(fmt.Sprintf("docs/area%d/page%d.md", first%50, first))
	e := index.Entry{Document: knowledge.Document{
		ID: id, Source: c.drawSource(random), Kind: []knowledge.Kind{knowledge.KindCode, knowledge.KindDocumentation}[random.IntN(2)],
		Path: string(id), Title: c.newText(random, 3), URL: "https://example.org/" + string(id), Hash: fmt.Sprint(first),
	}}
	if c.Audience != nil {
		e.Document.Audience = c.Audience(random)
	}
	for i := range 1 + random.IntN(20) {
		text := fmt.Sprintf("svc_%d", first+i)
		for range 4 {
			text += " " + c.newText(random, 45)
		}
		e.Passages = append(e.Passages, knowledge.Passage{
			ID: knowledge.MakePassageID(id, i), Document: id, Position: i, Headings: []string{c.newText(random, 4)},
			Text: text, Tokens: 240, Hash: fmt.Sprint(first + i),
		})
	}
	return e
}

func (c *Corpus) drawSource(random *rand.Rand) knowledge.SourceID {
	if len(c.Shares) == 0 {
		return "docs"
	}
	n := random.IntN(1000)
	for _, share := range c.Shares {
		if n -= share.Of1000; n < 0 {
			return share.Source
		}
	}
	return "docs"
}

func (c *Corpus) newText(random *rand.Rand, words int) string {
	text := c.texts[random.IntN(len(c.texts))]
	from := random.IntN(max(1, len(text)-words))
	return strings.Join(text[from:min(from+words, len(text))], " ")
}
