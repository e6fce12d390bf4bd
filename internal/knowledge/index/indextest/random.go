package indextest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// testRandom runs seeded histories of writes, each followed by searches.
func testRandom(t *testing.T, s *subject) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 99))
		t.Logf("seed %d", seed)
		for step := range 25 {
			s.writeBatch(t, RandomBatch(random))
			if random.IntN(3) > 0 {
				s.embedSome(t, random.IntN(30))
			}
			for range 3 {
				s.checkSearch(t, randomQuery(random))
			}
			if step%8 == 7 {
				s.checkState(t)
			}
			if t.Failed() {
				t.Fatalf("at seed %d, step %d", seed, step)
			}
		}
	}
}

// RandomBatch returns changes to a small set of documents, so that most steps replace
// or delete something.
func RandomBatch(random *rand.Rand) index.Batch {
	var batch index.Batch
	for i := range 40 {
		id := knowledge.DocumentID(fmt.Sprintf("doc%d", i))
		switch n := random.IntN(20); {
		case n == 0:
			batch.Delete = append(batch.Delete, id)
		case n < 4:
			batch.Put = append(batch.Put, randomEntry(random, id))
		case n == 4:
			batch.Seen = append(batch.Seen, knowledge.Document{ID: id, LastSeen: dayOf(random.IntN(28) + 1)})
		}
	}
	batch.Cursors = map[knowledge.SourceID]string{"docs": fmt.Sprint(random.IntN(1000))}
	return batch
}

func randomEntry(random *rand.Rand, id knowledge.DocumentID) index.Entry {
	e := newEntry(id, fmt.Sprintf("title%d %s", random.IntN(3), randomWords(random, 2)))
	e.Document.Source = knowledge.SourceID(fmt.Sprintf("source%d", random.IntN(3)))
	e.Document.Kind = []knowledge.Kind{knowledge.KindCode, knowledge.KindWeb}[random.IntN(2)]
	e.Document.Language = []string{"", "en", "de-CH"}[random.IntN(3)]
	e.Document.Audience = []knowledge.Audience{"", "user:U1"}[random.IntN(2)]
	for i := range random.IntN(6) {
		p := newPassage(e.Document, i*(1+random.IntN(2)*i), randomWords(random, 1+random.IntN(25)))
		if last := len(e.Passages) - 1; last >= 0 && p.Position <= e.Passages[last].Position {
			continue
		}
		if random.IntN(2) == 0 {
			p.Headings = []string{randomWords(random, 2), randomWords(random, 1)}
			p.Hash += "\x1f" + strings.Join(p.Headings, "\x1f")
		}
		e.Passages = append(e.Passages, p)
	}
	return e
}

// randomWords returns words of a small vocabulary, the first of which are common.
func randomWords(random *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		word := int(random.ExpFloat64() * 6)
		if random.IntN(20) == 0 {
			word = random.IntN(300)
		}
		list[i] = fmt.Sprintf("w%d", word)
		if random.IntN(10) == 0 {
			list[i] = []string{"einstellungen", "einstell", "Häuser", "haus"}[random.IntN(4)]
		}
	}
	return strings.Join(list, " ")
}

func randomQuery(random *rand.Rand) index.Query {
	var query index.Query
	for range random.IntN(6) {
		query.Terms = append(query.Terms, index.Term{Text: randomWords(random, 1), Weight: 0.2 + random.Float64()})
	}
	if random.IntN(3) > 0 {
		query.Vector = unitVector(random.Uint64())
	}
	query.Limit = random.IntN(40)
	if random.IntN(2) == 0 {
		query.Filter.Viewers = knowledge.NewViewers([]knowledge.Principal{"user:U1"})
	}
	if random.IntN(3) == 0 {
		query.Filter.Sources = []knowledge.SourceID{"source0", "source2"}
	}
	if random.IntN(3) == 0 {
		query.Filter.Kinds = []knowledge.Kind{knowledge.KindCode}
	}
	if random.IntN(4) == 0 {
		query.Filter.Documents = []knowledge.DocumentID{"doc1", "doc2", "doc3", "doc4", "doc5"}
	}
	return query
}

// embedSome writes the vectors of some passages, made from the hash alone, so that
// equal passages have equal vectors.
func (s *subject) embedSome(t *testing.T, limit int) {
	t.Helper()
	found, err := s.Unembedded(t.Context(), limit)
	if err != nil {
		t.Fatalf("unembedded: %v", err)
	}
	var vectors []index.Vectors
	for _, f := range found {
		vectors = append(vectors, VectorsOf(f.Passage))
	}
	s.writeVectors(t, vectors...)
}

// VectorsOf makes none to three vectors that only the passage's hash decides.
func VectorsOf(p knowledge.Passage) index.Vectors {
	h := fnv.New64a()
	h.Write([]byte(p.Hash))
	seed := h.Sum64()
	v := index.Vectors{Passage: p.ID, Hash: p.Hash}
	for i := range seed % 4 {
		v.Windows = append(v.Windows, unitVector(seed+i))
	}
	return v
}
