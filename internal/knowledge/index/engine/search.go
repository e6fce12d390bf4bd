package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// DenseQuery asks Vectors for the passages that are nearest in meaning.
type DenseQuery struct {
	Vector    []float32
	Limit     int
	Classes   []Class  // all, by number
	Passing   []int32  // numbers of those that may be found
	All       bool     // every passage may be found
	Documents []string // ids of those whose passages alone may be found; none: all

	generation int64
	search     *search
}

// Generation is that of the transaction.
func (q *DenseQuery) Generation() int64 { return q.generation }

// UsedSlots tells of each slot whether a passage is in it.
func (q *DenseQuery) UsedSlots(ctx context.Context) ([]bool, error) {
	return q.slots(ctx, func(_ int32, info passageInfo) bool { return info.class != 0 })
}

// PassingSlots tells of each slot whether a passage is in it that may be found.
func (q *DenseQuery) PassingSlots(ctx context.Context) ([]bool, error) {
	return q.slots(ctx, q.search.isAllowed)
}

func (q *DenseQuery) slots(ctx context.Context, passes func(slot int32, info passageInfo) bool) ([]bool, error) {
	var slots []bool
	for group := range int32(len(q.search.snap.blocks)+groupBlocks-1) / groupBlocks {
		passages, err := q.search.passages.readGroup(ctx, group)
		if err != nil {
			return nil, err
		}
		for slot := group << groupBits; slot < (group+1)<<groupBits; slot++ {
			slots = append(slots, passes(slot, passages.at(slot)))
		}
	}
	return slots, nil
}

// search is a search under way, in a transaction.
type search struct {
	*Index
	tx       Tx
	snap     *snapshot
	query    index.Query
	passages passageReader
	numbers  []int32        // classes that pass
	allowed  []bool         // the same by number; nil lets all pass
	within   map[int32]bool // slots of the documents that the filter names; nil: of all
}

// Search finds the best passages by words and by meaning, by words exactly scored.
func (x *Index) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	if err := query.Validate(x.options.Dimension); err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	if query.Limit == 0 {
		query.Limit = index.DefaultLimit
	}
	var candidates index.Candidates
	err := x.read(ctx, func(tx Tx, snap *snapshot) (err error) {
		s := &search{Index: x, tx: tx, snap: snap, query: query, passages: passageReader{index: x, tx: tx, snap: snap}}
		candidates, err = s.run(ctx)
		return err
	})
	if err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	return candidates, nil
}

func (s *search) run(ctx context.Context) (candidates index.Candidates, err error) {
	if err := s.applyFilter(ctx); err != nil {
		return candidates, fmt.Errorf("filter: %w", err)
	}
	var byWords, byMeaning []Scored
	if len(s.query.Terms) > 0 {
		if byWords, candidates.Used, candidates.Pruned, err = s.searchWords(ctx); err != nil {
			return index.Candidates{}, fmt.Errorf("by words: %w", err)
		}
	}
	if s.query.Vector != nil {
		if byMeaning, err = s.options.Vectors.Search(ctx, s.tx, s.denseQuery()); err != nil {
			return index.Candidates{}, fmt.Errorf("by meaning: %w", err)
		}
	}
	ids, err := s.passageIDs(ctx, byWords, byMeaning)
	if err != nil {
		return index.Candidates{}, fmt.Errorf("read ids of passages: %w", err)
	}
	var slots []int32
	if candidates.Lexical, slots, err = s.orderHits(byWords, ids); err != nil {
		return index.Candidates{}, err
	}
	if candidates.Dense, _, err = s.orderHits(byMeaning, ids); err != nil {
		return index.Candidates{}, err
	}
	return candidates, s.markUnembedded(ctx, candidates.Lexical, slots)
}

func (s *search) applyFilter(ctx context.Context) error {
	numbers, all := s.snap.passingClasses(s.query.Filter)
	s.numbers = numbers
	if !all {
		s.allowed = make([]bool, len(s.snap.classes))
		for _, number := range numbers {
			s.allowed[number] = true
		}
	}
	if len(s.query.Filter.Documents) == 0 {
		return nil
	}
	slots, err := selectInts(ctx, s.tx, query(`SELECT slot FROM @slot WHERE document IN
		(SELECT id FROM @document WHERE key IN (SELECT value FROM strings($1)))`, s.documentKeys()))
	s.within = make(map[int32]bool, len(slots))
	for _, slot := range slots {
		s.within[slot] = true
	}
	return err
}

func (s *search) documentKeys() []string { return plainStrings(s.query.Filter.Documents) }

// plainStrings returns strings of a named type as such.
func plainStrings[S ~string](named []S) []string {
	plain := make([]string, len(named))
	for i, name := range named {
		plain[i] = string(name)
	}
	return plain
}

func (s *search) isAllowed(slot int32, info passageInfo) bool {
	return info.class != 0 && (s.allowed == nil || int(info.class) < len(s.allowed) && s.allowed[info.class]) && (s.within == nil || s.within[slot])
}

// storableTerms leaves out what lexical.Analyze can't give: a database may refuse it.
func storableTerms(terms []index.Term) []index.Term {
	return slices.DeleteFunc(mergeTerms(terms), func(term index.Term) bool {
		return term.Text == "" || !utf8.ValidString(term.Text) || strings.ContainsRune(term.Text, 0)
	})
}

func (s *search) searchWords(ctx context.Context) (found []Scored, used, pruned []string, err error) {
	asked := storableTerms(s.query.Terms)
	texts := make([]string, len(asked))
	terms := make([]storedTerm, len(asked))
	for i, term := range asked {
		texts[i] = term.Text
		terms[i] = storedTerm{Term: term, groups: make(map[int32][][]byte)}
	}
	err = eachEntryOf(ctx, s.tx, texts, func(n int, e entry) error {
		terms[n].passages += e.passages
		list := slices.Clone(e.list)
		return eachGroup(list, func(number int32, postings []byte) {
			terms[n].groups[number] = append(terms[n].groups[number], postings)
		})
	})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read posting lists: %w", err)
	}
	words := wordSearch{terms: terms, limit: s.query.Limit, passages: s.snap.passages, average: s.snap.averageLength()}
	words.look = func(ctx context.Context, group int32) (func(int32) (float32, bool), error) {
		passages, err := s.passages.readGroup(ctx, group)
		return func(slot int32) (float32, bool) {
			info := passages.at(slot)
			return info.length, s.isAllowed(slot, info)
		}, err
	}
	return words.rank(ctx)
}

func (s *search) denseQuery() *DenseQuery {
	return &DenseQuery{
		Vector: s.query.Vector, Limit: s.query.Limit, Classes: s.snap.classes, Passing: s.numbers, All: s.allowed == nil,
		Documents: s.documentKeys(), generation: s.snap.generation, search: s,
	}
}

// passageIDs returns the ids of the passages that were found, by slot.
func (s *search) passageIDs(ctx context.Context, lists ...[]Scored) (map[int32]knowledge.PassageID, error) {
	ids := make(map[int32]knowledge.PassageID)
	var slots []int32
	for _, list := range lists {
		for _, scored := range list {
			slots = append(slots, scored.Slot)
		}
	}
	if len(slots) == 0 {
		return ids, nil
	}
	var slot int32
	var position int
	var key string
	err := s.tx.Select(ctx, query(`SELECT slot, key, position FROM ints($1) JOIN @slot ON slot = value JOIN @document ON id = document`, slots), func() error {
		ids[slot] = knowledge.MakePassageID(knowledge.DocumentID(key), position)
		return nil
	}, &slot, &key, &position)
	return ids, err
}

// orderHits returns the best of scored passages, best first, ties by id, with their slots.
func (s *search) orderHits(scored []Scored, ids map[int32]knowledge.PassageID) ([]index.Hit, []int32, error) {
	slices.SortFunc(scored, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(ids[a.Slot], ids[b.Slot]))
	})
	scored = scored[:min(s.query.Limit, len(scored))]
	hits, slots := make([]index.Hit, len(scored)), make([]int32, len(scored))
	for i, found := range scored {
		id, ok := ids[found.Slot]
		if !ok {
			return nil, nil, fmt.Errorf("slot %d was found and has no passage: %w", found.Slot, ErrDamaged)
		}
		hits[i], slots[i] = index.Hit{Passage: id, Score: found.Score}, found.Slot
	}
	return hits, slots, nil
}

// markUnembedded marks what words found and has no vectors yet, where meaning was asked for.
func (s *search) markUnembedded(ctx context.Context, hits []index.Hit, slots []int32) error {
	if s.query.Vector == nil || len(slots) == 0 {
		return nil
	}
	lacking, err := selectInts(ctx, s.tx, query("SELECT value FROM ints($1) WHERE "+s.lacksVectors("value"), slots))
	if err != nil {
		return fmt.Errorf("look for vectors: %w", err)
	}
	for i, slot := range slots {
		hits[i].Unembedded = slices.Contains(lacking, slot)
	}
	return nil
}
