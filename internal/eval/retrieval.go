package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Document is one entry of a retrieval set's corpus.
type Document struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Query is a question of a retrieval set with the ids of the documents that are
// relevant to it, at least one.
type Query struct {
	ID       string
	Text     string
	Relevant map[string]bool
}

// RetrievalSet is a corpus with judged queries.
type RetrievalSet struct {
	// Queries are those with a relevant document, in the order of the file.
	Queries []Query
	dir     string
}

// LoadRetrieval reads the queries and judgements of a retrieval set. The corpus is
// read through once, to see that every judged document is there, and not kept.
func LoadRetrieval(dir string) (*RetrievalSet, error) {
	queries, err := loadFile(filepath.Join(dir, queriesFile), readQueries)
	if err != nil {
		return nil, err
	}
	judged, err := loadFile(filepath.Join(dir, qrelsFile), readJudgements)
	if err != nil {
		return nil, err
	}
	set := &RetrievalSet{dir: dir}
	if err := set.join(queries, judged); err != nil {
		return nil, err
	}
	if err := set.checkCorpus(judged); err != nil {
		return nil, err
	}
	return set, nil
}

// Documents streams the corpus in the order of the file. It stops after the first error.
func (s *RetrievalSet) Documents() iter.Seq2[Document, error] {
	path := filepath.Join(s.dir, corpusFile)
	return func(yield func(Document, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(Document{}, fmt.Errorf("open evaluation corpus: %w", err))
			return
		}
		stopped := false
		for document, err := range readDocuments(path, file) {
			if !yield(document, err) {
				stopped = true
				break
			}
		}
		if err := file.Close(); err != nil && !stopped {
			yield(Document{}, fmt.Errorf("close %s: %w", path, err))
		}
	}
}

// join gives each query its relevant documents and keeps those that have one.
func (s *RetrievalSet) join(queries []Query, judged []judgement) error {
	byID := make(map[string]*Query, len(queries))
	for i := range queries {
		byID[queries[i].ID] = &queries[i]
	}
	for _, j := range judged {
		query, ok := byID[j.query]
		if !ok {
			return fmt.Errorf("%s:%d: query %q is not in %s", filepath.Join(s.dir, qrelsFile), j.line, j.query, queriesFile)
		}
		if !j.relevant {
			continue
		}
		if query.Relevant == nil {
			query.Relevant = make(map[string]bool)
		}
		query.Relevant[j.document] = true
	}
	for _, query := range queries {
		if len(query.Relevant) > 0 {
			s.Queries = append(s.Queries, query)
		}
	}
	if len(s.Queries) == 0 {
		return fmt.Errorf("%s: no query has a relevant document", filepath.Join(s.dir, qrelsFile))
	}
	return nil
}

// checkCorpus sees to it that relevant documents exist: one that can't be found would
// lower every measure in silence.
func (s *RetrievalSet) checkCorpus(judged []judgement) error {
	wanted := make(map[string]int)
	for _, j := range judged {
		if j.relevant {
			wanted[j.document] = j.line
		}
	}
	for document, err := range s.Documents() {
		if err != nil {
			return err
		}
		delete(wanted, document.ID)
	}
	first, id := math.MaxInt, ""
	for document, line := range wanted {
		if line < first {
			first, id = line, document
		}
	}
	if id != "" {
		return fmt.Errorf("%s:%d: document %q is not in %s", filepath.Join(s.dir, qrelsFile), first, id, corpusFile)
	}
	return nil
}

func readDocuments(name string, r io.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		seen := make(map[string]bool)
		for rec, err := range readRecords[Document](name, r) {
			if err == nil {
				err = newID(seen, rec.value.ID, "_id")
				if err != nil {
					err = fmt.Errorf("%s:%d: %w", name, rec.line, err)
				}
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !yield(rec.value, nil) {
				return
			}
		}
	}
}

func readQueries(name string, r io.Reader) ([]Query, error) {
	type wire struct {
		ID   string `json:"_id"`
		Text string `json:"text"`
	}
	var queries []Query
	seen := make(map[string]bool)
	for rec, err := range readRecords[wire](name, r) {
		if err != nil {
			return nil, err
		}
		if err := newID(seen, rec.value.ID, "_id"); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
		if rec.value.Text == "" {
			return nil, fmt.Errorf("%s:%d: query %q has no text", name, rec.line, rec.value.ID)
		}
		queries = append(queries, Query{ID: rec.value.ID, Text: rec.value.Text})
	}
	return queries, nil
}

// newID checks that an id is there and new, and remembers it in seen.
func newID(seen map[string]bool, id, field string) error {
	if id == "" {
		return fmt.Errorf("no %s", field)
	}
	if seen[id] {
		return fmt.Errorf("%s %q occurs twice", field, id)
	}
	seen[id] = true
	return nil
}

// judgement says whether a document is relevant to a query.
type judgement struct {
	line            int
	query, document string
	relevant        bool
}

const qrelsHeader = "query-id\tcorpus-id\tscore"

func readJudgements(name string, r io.Reader) ([]judgement, error) {
	var judged []judgement
	header := false
	for l, err := range readLines(name, r) {
		if err != nil {
			return nil, err
		}
		text := strings.TrimSuffix(string(l.text), "\r")
		if !header {
			if text != qrelsHeader {
				return nil, fmt.Errorf("%s:%d: the first line must be the header %q, separated by tabs", name, l.number, qrelsHeader)
			}
			header = true
			continue
		}
		fields := strings.Split(text, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: %d fields separated by tabs, want 3", name, l.number, len(fields))
		}
		score, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: score %q is not a whole number", name, l.number, fields[2])
		}
		if fields[0] == "" || fields[1] == "" {
			return nil, fmt.Errorf("%s:%d: an id is empty", name, l.number)
		}
		judged = append(judged, judgement{line: l.number, query: fields[0], document: fields[1], relevant: score > 0})
	}
	if !header {
		return nil, fmt.Errorf("%s is empty: it needs the header %q", name, qrelsHeader)
	}
	return judged, nil
}

// Search gives the ids of the documents found for a query, best first; only the first
// 100 are looked at. An id that comes again takes no second rank.
type Search func(ctx context.Context, query string) ([]string, error)

// RetrievalScores are means over all queries with a relevant document. Relevance is
// binary; nDCG discounts by log2 and takes all relevant documents as its ideal.
type RetrievalScores struct {
	Queries   int
	Recall5   float64
	Recall10  float64
	Recall100 float64
	MRR10     float64
	NDCG10    float64
	TookMS    []float64 // of each query
}

// searchDepth is as deep as the deepest measure looks.
const searchDepth = 100

// Measure runs every query through search, one at a time.
func (s *RetrievalSet) Measure(ctx context.Context, search Search) (RetrievalScores, error) {
	if len(s.Queries) == 0 {
		return RetrievalScores{}, errors.New("measure retrieval: the set has no query with a relevant document")
	}
	scores := RetrievalScores{Queries: len(s.Queries)}
	for _, query := range s.Queries {
		start := time.Now()
		found, err := search(ctx, query.Text)
		if err != nil {
			return RetrievalScores{}, fmt.Errorf("search for query %q: %w", query.ID, err)
		}
		scores.TookMS = append(scores.TookMS, milliseconds(time.Since(start)))
		scores.add(distinct(found), query.Relevant)
	}
	n := float64(len(s.Queries))
	for _, sum := range []*float64{&scores.Recall5, &scores.Recall10, &scores.Recall100, &scores.MRR10, &scores.NDCG10} {
		*sum /= n
	}
	return scores, nil
}

// add sums one query's measures; found has no id twice.
func (s *RetrievalScores) add(found []string, relevant map[string]bool) {
	hits, gain, first := 0, 0.0, 0
	all := float64(len(relevant))
	for i, id := range found {
		if i == searchDepth {
			break
		}
		if !relevant[id] {
			continue
		}
		hits++
		if first == 0 {
			first = i + 1
		}
		if i < 5 {
			s.Recall5 += 1 / all
		}
		if i < 10 {
			s.Recall10 += 1 / all
			gain += discount(i)
		}
	}
	s.Recall100 += float64(hits) / all
	if first > 0 && first <= 10 {
		s.MRR10 += 1 / float64(first)
	}
	ideal := 0.0
	for i := range min(len(relevant), 10) {
		ideal += discount(i)
	}
	s.NDCG10 += gain / ideal
}

// discount is what a relevant document counts at a position, from 0.
func discount(position int) float64 { return 1 / math.Log2(float64(position)+2) }

func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	var out []string
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Report gives the scores as one group of measures.
func (s RetrievalScores) Report() Report {
	row := func(name string, value float64) Row { return Row{Name: name, Value: value, Count: s.Queries} }
	rows := []Row{
		row("nDCG@10", s.NDCG10),
		row("MRR@10", s.MRR10),
		row("recall@5", s.Recall5),
		row("recall@10", s.Recall10),
		row("recall@100", s.Recall100),
	}
	return Report{Form: FormRetrieval, Groups: []Group{{Name: "all", Rows: append(rows, latencyRows(s.TookMS)...)}}}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
