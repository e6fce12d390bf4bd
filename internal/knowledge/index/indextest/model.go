package indextest

import (
	"maps"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// model is the contract in its plainest form: everything in maps, every search a
// scan that scores all that matches.
type model struct {
	entries map[knowledge.DocumentID]index.Entry
	vectors map[knowledge.PassageID][][]float32 // an entry without windows: nothing to embed
	cursors map[knowledge.SourceID]string
}

func newModel() *model {
	return &model{
		entries: make(map[knowledge.DocumentID]index.Entry),
		vectors: make(map[knowledge.PassageID][][]float32),
		cursors: make(map[knowledge.SourceID]string),
	}
}

func (m *model) applyBatch(batch index.Batch) {
	for _, id := range batch.Delete {
		m.removeDocument(id)
	}
	for _, entry := range batch.Put {
		kept := make(map[string][][]float32)
		for _, p := range m.entries[entry.Document.ID].Passages {
			if windows, ok := m.vectors[p.ID]; ok {
				kept[p.Hash] = windows
			}
		}
		m.removeDocument(entry.Document.ID)
		if entry.Document.Audience == "" {
			entry.Document.Audience = knowledge.PublicAudience
		}
		m.entries[entry.Document.ID] = entry
		for _, p := range entry.Passages {
			if windows, ok := kept[p.Hash]; ok {
				m.vectors[p.ID] = windows
			}
		}
	}
	for _, seen := range batch.Seen {
		if entry, ok := m.entries[seen.ID]; ok {
			entry.Document.LastSeen = seen.LastSeen
			m.entries[seen.ID] = entry
		}
	}
	maps.Copy(m.cursors, batch.Cursors)
}

func (m *model) removeDocument(id knowledge.DocumentID) {
	for _, p := range m.entries[id].Passages {
		delete(m.vectors, p.ID)
	}
	delete(m.entries, id)
}

func (m *model) writeVectors(vectors []index.Vectors) {
	passages := m.passages()
	for _, v := range vectors {
		if p, ok := passages[v.Passage]; ok && p.Hash == v.Hash {
			m.vectors[v.Passage] = v.Windows
		}
	}
}

func (m *model) passages() map[knowledge.PassageID]knowledge.Passage {
	passages := make(map[knowledge.PassageID]knowledge.Passage)
	for _, entry := range m.entries {
		for _, p := range entry.Passages {
			passages[p.ID] = p
		}
	}
	return passages
}

func (m *model) isEmbedded(p knowledge.Passage) bool {
	_, ok := m.vectors[p.ID]
	return ok
}

func (m *model) stats() index.Stats {
	return index.Stats{
		Documents: len(m.entries),
		Passages:  len(m.passages()),
		Embedded:  len(m.vectors),
	}
}

// countTerms returns how often each term stands in which field of a passage, and the
// length of the fields.
func countTerms(document knowledge.Document, p knowledge.Passage) (map[string]lexical.Counts, lexical.Counts) {
	terms := make(map[string]lexical.Counts)
	var length lexical.Counts
	tag := language.Parse(document.Language)
	for _, term := range lexical.AnalyzeIn(tag, document.Title) {
		c := terms[term]
		c.Title++
		length.Title++
		terms[term] = c
	}
	for _, heading := range p.Headings {
		for _, term := range lexical.AnalyzeIn(tag, heading) {
			c := terms[term]
			c.Headings++
			length.Headings++
			terms[term] = c
		}
	}
	for _, name := range lexical.Names(document.Title, p.Headings, p.Text) {
		c := terms[name]
		c.Headings++
		terms[name] = c
	}
	for _, term := range lexical.AnalyzeIn(tag, p.Text) {
		c := terms[term]
		c.Body++
		length.Body++
		terms[term] = c
	}
	return terms, length
}

// termCounts returns the number of passages that contain each term.
func (m *model) termCounts() map[string]int {
	containing := make(map[string]int)
	for _, entry := range m.entries {
		for _, p := range entry.Passages {
			terms, _ := countTerms(entry.Document, p)
			for term := range terms {
				containing[term]++
			}
		}
	}
	return containing
}

// lexicalScores scores all passages that pass the filter and contain a term.
func (m *model) lexicalScores(query index.Query) map[knowledge.PassageID]float64 {
	scores := make(map[knowledge.PassageID]float64)
	containing := m.termCounts()
	bm25 := lexical.DefaultBM25
	passages, length := 0, 0.0
	for _, entry := range m.entries {
		for _, p := range entry.Passages {
			_, fields := countTerms(entry.Document, p)
			passages++
			length += bm25.Weigh(fields)
		}
	}
	for _, entry := range m.entries {
		if !passesFilter(entry.Document, query.Filter) {
			continue
		}
		for _, p := range entry.Passages {
			terms, fields := countTerms(entry.Document, p)
			for _, term := range query.Terms {
				count, ok := terms[term.Text]
				if !ok {
					continue
				}
				idf := lexical.IDF(passages, containing[term.Text])
				scores[p.ID] += bm25.Score(term.Weight*idf, bm25.Weigh(count), bm25.Weigh(fields), length/float64(passages))
			}
		}
	}
	return scores
}

// denseScores scores all passages that pass the filter and have windows.
func (m *model) denseScores(query index.Query) map[knowledge.PassageID]float64 {
	scores := make(map[knowledge.PassageID]float64)
	if query.Vector == nil {
		return scores
	}
	for _, entry := range m.entries {
		if !passesFilter(entry.Document, query.Filter) {
			continue
		}
		for _, p := range entry.Passages {
			for i, window := range m.vectors[p.ID] {
				var dot float64
				for j := range window {
					dot += float64(window[j]) * float64(query.Vector[j])
				}
				if i == 0 || dot > scores[p.ID] {
					scores[p.ID] = dot
				}
			}
		}
	}
	return scores
}

func passesFilter(d knowledge.Document, filter index.Filter) bool {
	return oneOf(filter.Sources, d.Source) && oneOf(filter.Kinds, d.Kind) && oneOf(filter.Documents, d.ID) &&
		filter.Viewers.MaySee(d.Audience)
}

// oneOf reports whether a list is empty or holds a value.
func oneOf[T comparable](list []T, value T) bool {
	for _, one := range list {
		if one == value {
			return true
		}
	}
	return len(list) == 0
}
