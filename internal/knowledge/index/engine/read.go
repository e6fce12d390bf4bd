package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

const documentColumns = `d.key, c.source, c.kind, c.audience, d.path, d.title, d.url, d.owner, d.language,
	d.modified, d.indexed, d.last_seen, d.hash, d.state`

// documentScan receives documentColumns.
type documentScan struct {
	key, source, kind, audience, path, title, url, owner, language, hash, state string
	modified, indexed, lastSeen                                                 Timestamp
}

func (s *documentScan) targets() []any {
	return []any{
		&s.key, &s.source, &s.kind, &s.audience, &s.path, &s.title, &s.url,
		&s.owner, &s.language, &s.modified, &s.indexed, &s.lastSeen, &s.hash, &s.state,
	}
}

func (s *documentScan) toDocument() knowledge.Document {
	return knowledge.Document{
		ID: knowledge.DocumentID(s.key), Source: knowledge.SourceID(s.source), Kind: knowledge.Kind(s.kind),
		Path: s.path, Title: s.title, URL: s.url, Owner: s.owner, Language: s.language,
		Modified: s.modified.Time, Indexed: s.indexed.Time, LastSeen: s.lastSeen.Time,
		Hash: s.hash, Audience: knowledge.Audience(s.audience), State: knowledge.State(s.state),
	}
}

// readFound reads passages with their documents and definitions; clauses may use the tables s
// (slot), p (passage), d (document) and c (class).
func readFound(ctx context.Context, tx Tx, clauses string, arguments ...any) ([]index.Found, error) {
	var found []index.Found
	var slots []int32
	var slot int32
	var headings string
	var p knowledge.Passage
	var scan documentScan
	targets := append([]any{&slot, &p.Position, &headings, &p.Anchor, &p.Text, &p.Tokens, &p.Hash}, scan.targets()...)
	err := tx.Select(ctx, query(`SELECT s.slot, s.position, p.headings, p.anchor, p.text, p.tokens, p.hash, `+documentColumns+`
		FROM @slot s JOIN @passage p ON p.slot = s.slot JOIN @document d ON d.id = s.document JOIN @class c ON c.id = d.class WHERE `+clauses, arguments...), func() error {
		read := p
		if err := json.Unmarshal([]byte(headings), &read.Headings); err != nil {
			return fmt.Errorf("stored headings: %w", err)
		}
		document := scan.toDocument()
		read.Document, read.ID = document.ID, knowledge.MakePassageID(document.ID, p.Position)
		found, slots = append(found, index.Found{Document: document, Passage: read}), append(slots, slot)
		return nil
	}, targets...)
	if err != nil || len(slots) == 0 {
		return found, err
	}
	at := make(map[int32]int, len(slots))
	for i, slot := range slots {
		at[slot] = i
	}
	var d knowledge.Definition
	err = tx.Select(ctx, query("SELECT slot, short, long FROM @definition WHERE slot IN (SELECT value FROM ints($1)) ORDER BY slot, place", slots), func() error {
		passage := &found[at[slot]].Passage
		passage.Definitions = append(passage.Definitions, d)
		return nil
	}, &slot, &d.Short, &d.Long)
	return found, err
}

// Passages returns the stored passages of these ids, in the same order.
func (x *Index) Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	var keys []string
	var positions []int32
	for _, id := range ids {
		if document, position, ok := id.Split(); ok && position <= 1<<31-1 {
			keys, positions = append(keys, string(document)), append(positions, int32(position))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	byID := make(map[knowledge.PassageID]index.Found)
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		// Made up first, one list can be joined to the other by an index.
		found, err := readFound(ctx, tx, `s.slot IN (WITH k AS MATERIALIZED (SELECT value AS key, number FROM strings($1)),
			n AS MATERIALIZED (SELECT value AS position, number FROM ints($2)) SELECT asked.slot FROM k JOIN n ON n.number = k.number
			JOIN @document named ON named.key = k.key JOIN @slot asked ON asked.document = named.id AND asked.position = n.position)`, keys, positions)
		for _, f := range found {
			byID[f.Passage.ID] = f
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	var ordered []index.Found
	for _, id := range ids {
		if f, ok := byID[id]; ok {
			ordered = append(ordered, f)
		}
	}
	return ordered, nil
}

// Documents yields the documents of a source. Each is as it was when its page was
// read: a write in between may show.
func (x *Index) Documents(ctx context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error] {
	return index.EachDocument(func(after knowledge.DocumentID) ([]knowledge.Document, error) {
		if source == "" {
			return x.selectDocuments(ctx, query("WHERE d.key > $1 ORDER BY d.key LIMIT $2", string(after), index.DocumentPage))
		}
		return x.selectDocuments(ctx, query("WHERE d.key > $1 AND c.source = $2 ORDER BY d.key LIMIT $3", string(after), string(source), index.DocumentPage))
	})
}

// selectDocuments returns the documents that clauses, from WHERE on, choose.
func (x *Index) selectDocuments(ctx context.Context, clauses Query) ([]knowledge.Document, error) {
	var documents []knowledge.Document
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		documents = nil
		var scan documentScan
		return tx.Select(ctx, query("SELECT "+documentColumns+" FROM @document d JOIN @class c ON c.id = d.class "+clauses.SQL, clauses.Arguments...), func() error {
			documents = append(documents, scan.toDocument())
			return nil
		}, scan.targets()...)
	})
	return documents, err
}

// Classes implements index.Catalog.
func (x *Index) Classes(ctx context.Context) ([]index.ClassSummary, error) {
	var classes []index.ClassSummary
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		classes = nil
		var source, kind, audience string
		var documents int
		var modified, lastSeen Timestamp
		return tx.Select(ctx, query(`SELECT source, kind, audience, count(*), max(modified), max(last_seen)
			FROM @document d JOIN @class c ON c.id = d.class GROUP BY source, kind, audience ORDER BY source, kind, audience`), func() error {
			classes = append(classes, index.ClassSummary{
				Class:     index.Class{Source: knowledge.SourceID(source), Kind: knowledge.Kind(kind), Audience: knowledge.Audience(audience)},
				Documents: documents, Modified: modified.Time, LastSeen: lastSeen.Time,
			})
			return nil
		}, &source, &kind, &audience, &documents, &modified, &lastSeen)
	})
	if err != nil {
		return nil, fmt.Errorf("list classes of documents: %w", err)
	}
	return classes, nil
}

// LatestDocuments implements index.Catalog.
func (x *Index) LatestDocuments(ctx context.Context, classes []index.Class, limit int) ([]knowledge.Document, error) {
	var numbers []int32
	err := x.read(ctx, func(_ Tx, snap *snapshot) error {
		numbers = nil
		for number, class := range snap.classes {
			if slices.Contains(classes, class.Class) {
				numbers = append(numbers, int32(number))
			}
		}
		return nil
	})
	var documents []knowledge.Document
	if err == nil && len(numbers) > 0 {
		documents, err = x.selectDocuments(ctx, query("WHERE d.class IN (SELECT value FROM ints($1)) ORDER BY d.modified DESC NULLS LAST, d.key LIMIT $2", numbers, limit))
	}
	if err != nil {
		return nil, fmt.Errorf("list the latest documents: %w", err)
	}
	return documents, nil
}

// IsPublic implements index.Catalog.
func (x *Index) IsPublic(ctx context.Context) (bool, error) {
	public := true
	err := x.read(ctx, func(_ Tx, snap *snapshot) error {
		public = !slices.ContainsFunc(snap.classes, func(class Class) bool {
			return class.Documents > 0 && !knowledge.Viewers{}.MaySee(class.Audience)
		})
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("look for documents that are not public: %w", err)
	}
	return public, nil
}

// Terms returns the statistics of these terms, in the same order.
func (x *Index) Terms(ctx context.Context, terms []string) ([]index.TermStats, error) {
	var stats []index.TermStats
	err := x.options.Database.Read(ctx, func(tx Tx) (err error) {
		stats, err = countTerms(ctx, tx, terms)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read term statistics: %w", err)
	}
	return stats, nil
}

// countTerms returns in how many passages each term stands, in the same order.
func countTerms(ctx context.Context, tx Tx, terms []string) ([]index.TermStats, error) {
	asked := make([]index.Term, len(terms))
	for i, term := range terms {
		asked[i] = index.Term{Text: term}
	}
	asked = storableTerms(asked)
	texts := make([]string, len(asked))
	for i, term := range asked {
		texts[i] = term.Text
	}
	passages := make(map[string]int)
	err := eachEntryOf(ctx, tx, texts, func(n int, e entry) error {
		passages[texts[n]] += e.passages
		return nil
	})
	stats := make([]index.TermStats, len(terms))
	for i, term := range terms {
		stats[i] = index.TermStats{Term: term, Passages: passages[term]}
	}
	return stats, err
}

// mostSpellings bounds how many ways to define one abbreviation are looked at.
const mostSpellings = 200

// Definitions returns what an abbreviation stands for. Expansions that differ in
// letter case alone are one, in the commonest spelling.
func (x *Index) Definitions(ctx context.Context, short string, viewers knowledge.Viewers) ([]knowledge.Definition, error) {
	type counted struct {
		knowledge.Definition
		passages int
	}
	var merged []counted
	err := x.read(ctx, func(tx Tx, snap *snapshot) error {
		merged = nil
		classes, _ := snap.passingClasses(index.Filter{Viewers: viewers})
		var spelling counted
		return tx.Select(ctx, query(`SELECT short, long, count(*) FROM @definition f JOIN @slot s ON s.slot = f.slot JOIN @document d ON d.id = s.document
			WHERE folded = $1 AND class IN (SELECT value FROM ints($2)) GROUP BY short, long ORDER BY count(*) DESC, short, long LIMIT $3`,
			strings.ToLower(short), classes, mostSpellings), func() error {
			at := slices.IndexFunc(merged, func(known counted) bool { return strings.EqualFold(known.Long, spelling.Long) })
			if at >= 0 {
				merged[at].passages += spelling.passages
			} else {
				merged = append(merged, spelling)
			}
			return nil
		}, &spelling.Short, &spelling.Long, &spelling.passages)
	})
	if err != nil {
		return nil, fmt.Errorf("read definitions of %s: %w", short, err)
	}
	slices.SortStableFunc(merged, func(a, b counted) int { return b.passages - a.passages })
	definitions := make([]knowledge.Definition, len(merged))
	for i, d := range merged {
		definitions[i] = d.Definition
	}
	return definitions, nil
}

// Stats describes the whole index. What is in memory anyway is not counted again: every
// answer asks for it.
func (x *Index) Stats(ctx context.Context) (index.Stats, error) {
	var stats index.Stats
	err := x.read(ctx, func(tx Tx, snap *snapshot) error {
		var lacking int
		err := selectOne(ctx, tx, query(`SELECT (SELECT count(*) FROM @slot WHERE slot >= embedded_below)
			- (SELECT count(DISTINCT slot) FROM @`+x.options.VectorTable+` WHERE slot >= embedded_below) FROM @embedder WHERE id = $1`, x.options.Embedder), &lacking)
		if err != nil {
			return err
		}
		stats.Documents, stats.Passages, stats.Embedded = snap.documents, snap.passages, snap.passages-lacking
		stats.Bytes, err = tx.Size(ctx)
		return err
	})
	if err != nil {
		return index.Stats{}, fmt.Errorf("read index statistics: %w", err)
	}
	return stats, nil
}

// Cursor returns what the last Write stored for a source.
func (x *Index) Cursor(ctx context.Context, source knowledge.SourceID) (string, error) {
	var cursor string
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		err := selectOne(ctx, tx, query("SELECT cursor FROM @cursor WHERE source = $1", string(source)), &cursor)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read cursor of %s: %w", source, err)
	}
	return cursor, nil
}

// SaveIngest replaces the state of a source's ingest.
func (x *Index) SaveIngest(ctx context.Context, state index.IngestState) error {
	body, err := index.EncodeIngest(state)
	if err != nil {
		return fmt.Errorf("save the state of an ingest: %w", err)
	}
	err = x.options.Database.Write(ctx, func(tx Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO @ingest (source, complete, state) VALUES ($1, $2, $3)
			ON CONFLICT (source) DO UPDATE SET complete = coalesce(excluded.complete, ingest.complete), state = excluded.state`,
			string(state.Source), state.Complete, body)
		return err
	})
	if err != nil {
		return fmt.Errorf("save the state of the ingest of %s: %w", state.Source, err)
	}
	return nil
}

// IngestStates returns the states of all sources' ingests, in the order of their ids.
func (x *Index) IngestStates(ctx context.Context) ([]index.IngestState, error) {
	var states []index.IngestState
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		states = nil
		var source string
		var complete Timestamp
		var body []byte
		return tx.Select(ctx, query("SELECT source, complete, state FROM @ingest ORDER BY source"), func() error {
			state, err := index.DecodeIngest(knowledge.SourceID(source), body)
			state.Complete = complete.Time
			states = append(states, state)
			return err
		}, &source, &complete, &body)
	})
	if err != nil {
		return nil, fmt.Errorf("read the states of ingests: %w", err)
	}
	return states, nil
}
