// Package digest sums up what the documents of each collection lack: questions that found no good
// answer, answers that people contradicted, and old documents that many answers rest on.
package digest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Records are the runs that are remembered: see store.Records.
type Records interface {
	List(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error)
	Load(ctx context.Context, run chat.RunID) (runs.Record, error)
}

// Documents yields every document of a source ("" for all) that the viewers of the context may see.
type Documents func(ctx context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error]

// Options say what a digest is made of. All fields but Includes are required.
type Options struct {
	Records   Records
	Documents Documents
	From, To  time.Time // of the runs that count
	// Includes tells whether the question of a run, and what was said against its answer, may be
	// shown to those who read the digest; nil: all may.
	Includes func(ctx context.Context, record runs.Record) bool
}

// Digest is what was found, by collection in the order of their names. What can't be told to belong
// to one is in the collection "".
type Digest struct {
	From        time.Time    `json:"from"`
	To          time.Time    `json:"to"`
	Runs        int          `json:"runs"` // that were looked at
	Collections []Collection `json:"collections"`
}

// Collection is what one source lacks.
type Collection struct {
	Name           string          `json:"name"`
	Gaps           []Gap           `json:"gaps"`           // asked most often first
	Contradictions []Contradiction `json:"contradictions"` // the latest first
	Stale          []Stale         `json:"stale"`          // read most often first
}

// Gap is a group of questions without a good answer.
type Gap struct {
	Question string    `json:"question"` // of the latest
	Count    int       `json:"count"`
	Last     time.Time `json:"last"`
}

// Contradiction is what a person held against an answer.
type Contradiction struct {
	Question string     `json:"question"`
	Reason   string     `json:"reason"` // in the person's words
	Run      chat.RunID `json:"run"`
	At       time.Time  `json:"at"`
}

// Stale is a document that answers rest on and that nobody changed for long.
type Stale struct {
	Document knowledge.DocumentID `json:"document"`
	Title    string               `json:"title"`
	Path     string               `json:"path"`
	Modified time.Time            `json:"modified"`
	Answers  int                  `json:"answers"`
}

// Bounds of a digest.
const (
	maxRuns  = 5000
	maxShown = 10 // of each kind, in each collection
	staleAge = 365 * 24 * time.Hour
	minReads = 3 // answers that rest on a document that is read often
)

// Make looks at the runs of a time.
func Make(ctx context.Context, options Options) (Digest, error) {
	listed, err := options.Records.List(ctx, runs.Filter{Status: runs.Done, Match: func(r runs.Record) bool {
		ended := endOf(r)
		return !ended.Before(options.From) && ended.Before(options.To)
	}}, maxRuns)
	if err != nil {
		return Digest{}, fmt.Errorf("list runs for the digest: %w", err)
	}
	gathered := gathering{collections: make(map[string]*Collection), reads: make(map[knowledge.DocumentID]int)}
	gaps := make(map[string][]Question)
	for _, record := range listed {
		kept, err := options.Records.Load(ctx, record.ID) // lists leave ratings out
		if errors.Is(err, chat.ErrUnknownRun) {
			continue // it was erased meanwhile
		}
		if err != nil {
			return Digest{}, fmt.Errorf("load run %s for the digest: %w", record.ID, err)
		}
		gathered.countReads(record)
		if options.Includes != nil && !options.Includes(ctx, record) {
			continue
		}
		name := collectionOf(record)
		if lacksAnswer(record) {
			gaps[name] = append(gaps[name], NewQuestion(record.Request, endOf(record)))
		}
		gathered.addRatings(name, kept)
	}
	for name, questions := range gaps {
		gathered.collection(name).Gaps = groupGaps(questions)
	}
	if err := gathered.addStale(ctx, options); err != nil {
		return Digest{}, err
	}
	made := Digest{From: options.From, To: options.To, Runs: len(listed)}
	for _, collection := range gathered.collections {
		collection.sort()
		made.Collections = append(made.Collections, *collection)
	}
	slices.SortFunc(made.Collections, func(a, b Collection) int { return cmp.Compare(a.Name, b.Name) })
	return made, nil
}

// gathering is a digest that is being made.
type gathering struct {
	collections map[string]*Collection
	reads       map[knowledge.DocumentID]int
}

func (g gathering) collection(name string) *Collection {
	if g.collections[name] == nil {
		g.collections[name] = &Collection{Name: name}
	}
	return g.collections[name]
}

// countReads counts what an answer rests on.
func (g gathering) countReads(record runs.Record) {
	seen := make(map[knowledge.DocumentID]bool)
	for _, evidence := range record.Trace.Evidence {
		document, _, ok := knowledge.PassageID(evidence.Passage).Split()
		if ok && evidence.Kept && !seen[document] {
			seen[document] = true
			g.reads[document]++
		}
	}
}

// addRatings adds what people said against an answer.
func (g gathering) addRatings(name string, record runs.Record) {
	for _, rating := range record.Ratings {
		if rating.Verdict != chat.Down || rating.Reason == "" {
			continue
		}
		in := g.collection(name)
		in.Contradictions = append(in.Contradictions, Contradiction{Question: record.Request, Reason: rating.Reason, Run: record.ID, At: rating.At})
	}
}

// addStale finds the documents that are read often and old.
func (g gathering) addStale(ctx context.Context, options Options) error {
	for document, err := range options.Documents(ctx, "") {
		if err != nil {
			return fmt.Errorf("list documents for the digest: %w", err)
		}
		answers := g.reads[document.ID]
		if answers < minReads || document.Modified.IsZero() || options.To.Sub(document.Modified) < staleAge {
			continue
		}
		in := g.collection(string(document.Source))
		in.Stale = append(in.Stale, Stale{Document: document.ID, Title: document.Title, Path: document.Path, Modified: document.Modified, Answers: answers})
	}
	return nil
}

// endOf is when a run came to its end.
func endOf(record runs.Record) time.Time {
	if n := len(record.Transitions); n > 0 {
		return record.Transitions[n-1].At
	}
	return time.Time{}
}

// lacksAnswer tells a run that abstained.
func lacksAnswer(record runs.Record) bool {
	n := len(record.Transitions)
	return n > 0 && record.Transitions[n-1].Reason == string(chat.Abstained) && len(record.Trace.Queries) > 0
}

// collectionOf is the source of the best evidence of a run, else the one collection that was asked.
func collectionOf(record runs.Record) string {
	for _, evidence := range record.Trace.Evidence {
		document, _, ok := knowledge.PassageID(evidence.Passage).Split()
		if !ok {
			continue
		}
		for at, r := range string(document) {
			if r == ':' {
				return string(document)[:at]
			}
		}
	}
	if len(record.Collections) == 1 {
		return record.Collections[0]
	}
	return ""
}

// Select gives what one collection lacks, and in the same lists what the others of the names do:
// it takes what belongs to no collection with it, for one.
func (d Digest) Select(name string, others ...string) Collection {
	selected := Collection{Name: name}
	for _, c := range d.Collections {
		if c.Name != name && !slices.Contains(others, c.Name) {
			continue
		}
		selected.Gaps = append(selected.Gaps, c.Gaps...)
		selected.Contradictions = append(selected.Contradictions, c.Contradictions...)
		selected.Stale = append(selected.Stale, c.Stale...)
	}
	selected.sort()
	return selected
}

// sort puts first what counts most, and leaves out what is beyond maxShown.
func (c *Collection) sort() {
	slices.SortStableFunc(c.Gaps, func(a, b Gap) int { return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last)) })
	c.Gaps = c.Gaps[:min(len(c.Gaps), maxShown)]
	slices.SortStableFunc(c.Contradictions, func(a, b Contradiction) int { return b.At.Compare(a.At) })
	c.Contradictions = c.Contradictions[:min(len(c.Contradictions), maxShown)]
	slices.SortStableFunc(c.Stale, func(a, b Stale) int { return cmp.Compare(b.Answers, a.Answers) })
	c.Stale = c.Stale[:min(len(c.Stale), maxShown)]
}

// groupGaps puts alike questions together.
func groupGaps(questions []Question) []Gap {
	var gaps []Gap
	for _, group := range Group(questions) {
		gap := Gap{Question: group[0].Text, Count: len(group), Last: group[0].At}
		gaps = append(gaps, gap)
	}
	return gaps
}

// Question is a question as it is compared with others.
type Question struct {
	Text  string
	At    time.Time
	words []string // that tell something, each once, in order
}

// NewQuestion reads the words of a question.
func NewQuestion(text string, at time.Time) Question {
	words := slices.DeleteFunc(lexical.Analyze(text), lexical.IsStop)
	slices.Sort(words)
	return Question{Text: text, At: at, words: slices.Compact(words)}
}

// alike is the share of words that two questions of a group have in common at least: of all the
// words that either has.
const alike = 0.6

// Group puts questions together that are alike. A question goes to the group whose first one it is
// most like: what comes out depends on nothing but what comes in.
func Group(questions []Question) [][]Question {
	var groups [][]Question
	for at, in := range GroupNumbers(questions) {
		if in == len(groups) {
			groups = append(groups, nil)
		}
		groups[in] = append(groups[in], questions[at])
	}
	return groups
}

// GroupNumbers gives the number of each question's group; groups are numbered as they begin.
func GroupNumbers(questions []Question) []int {
	numbers := make([]int, len(questions))
	var firsts []Question
	with := make(map[string][]int) // groups by the words of their first
	for i, q := range questions {
		shared := make(map[int]int)
		for _, word := range q.words {
			for _, at := range with[word] {
				shared[at]++
			}
		}
		best, most := -1, 0.0
		for at, count := range shared {
			share := float64(count) / float64(len(q.words)+len(firsts[at].words)-count)
			if share >= alike && (share > most || share == most && at < best) {
				best, most = at, share
			}
		}
		if best < 0 {
			best = len(firsts)
			firsts = append(firsts, q)
			for _, word := range q.words {
				with[word] = append(with[word], best)
			}
		}
		numbers[i] = best
	}
	return numbers
}
