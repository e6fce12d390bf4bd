package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

const documentColumns = `document.key, class.source, class.kind, class.audience, document.path, document.title, document.url,
	document.owner, document.language, document.modified, document.indexed, document.last_seen, document.hash, document.state`

// documentScan receives documentColumns.
type documentScan struct {
	key, source, kind, audience, path, title, url, owner, language, hash, state []byte
	modified, indexed, lastSeen                                                 *time.Time
}

func (s *documentScan) scanTargets() []any {
	return []any{
		&s.key, &s.source, &s.kind, &s.audience, &s.path, &s.title, &s.url,
		&s.owner, &s.language, &s.modified, &s.indexed, &s.lastSeen, &s.hash, &s.state,
	}
}

func (s *documentScan) toDocument() knowledge.Document {
	return knowledge.Document{
		ID: knowledge.DocumentID(s.key), Source: knowledge.SourceID(s.source), Kind: knowledge.Kind(s.kind),
		Path: string(s.path), Title: string(s.title), URL: string(s.url), Owner: string(s.owner), Language: string(s.language),
		Modified: fromTimestamp(s.modified), Indexed: fromTimestamp(s.indexed), LastSeen: fromTimestamp(s.lastSeen),
		Hash: string(s.hash), Audience: knowledge.Audience(s.audience), State: knowledge.State(s.state),
	}
}

// readFound reads passages with their documents and definitions; where may use slot,
// document.key and position.
func readFound(ctx context.Context, tx pgx.Tx, where string, arguments ...any) ([]index.Found, error) {
	rows, err := tx.Query(ctx, `SELECT slot, position, headings, anchor, text, tokens, passage.hash,
		ARRAY(SELECT short FROM cairn.definition d WHERE d.slot = s.slot ORDER BY place),
		ARRAY(SELECT long FROM cairn.definition d WHERE d.slot = s.slot ORDER BY place), `+documentColumns+`
		FROM cairn.slot s JOIN cairn.passage USING (slot) JOIN cairn.document ON document.id = s.document
		JOIN cairn.class ON class.id = document.class WHERE `+where, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (index.Found, error) {
		var slot int32
		var headings, anchor, text, hash []byte
		var shorts, longs [][]byte
		var p knowledge.Passage
		var scan documentScan
		targets := append([]any{&slot, &p.Position, &headings, &anchor, &text, &p.Tokens, &hash, &shorts, &longs}, scan.scanTargets()...)
		if err := row.Scan(targets...); err != nil {
			return index.Found{}, err
		}
		if err := json.Unmarshal(headings, &p.Headings); err != nil {
			return index.Found{}, fmt.Errorf("stored headings: %w", err)
		}
		document := scan.toDocument()
		p.Document = document.ID
		p.ID = knowledge.MakePassageID(document.ID, p.Position)
		p.Anchor, p.Text, p.Hash = string(anchor), string(text), string(hash)
		for i := range shorts {
			p.Definitions = append(p.Definitions, knowledge.Definition{Short: string(shorts[i]), Long: string(longs[i])})
		}
		return index.Found{Document: document, Passage: p}, nil
	})
}

// Passages returns the stored passages of these ids, in the same order.
func (x *Index) Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	var keys [][]byte
	var positions []int32
	for _, id := range ids {
		if document, position, ok := id.Split(); ok && position <= 1<<31-1 {
			keys, positions = append(keys, []byte(document)), append(positions, int32(position))
		}
	}
	var found []index.Found
	err := x.inReadTransaction(ctx, x.read, func(tx pgx.Tx) error {
		var err error
		found, err = readFound(ctx, tx, "(document.key, position) IN (SELECT * FROM unnest($1::bytea[], $2::integer[]))", keys, positions)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	byID := make(map[knowledge.PassageID]index.Found, len(found))
	for _, f := range found {
		byID[f.Passage.ID] = f
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
		return x.documentsAfter(ctx, source, after)
	})
}

func (x *Index) documentsAfter(ctx context.Context, source knowledge.SourceID, after knowledge.DocumentID) ([]knowledge.Document, error) {
	if source != "" {
		return x.queryDocuments(ctx, "WHERE key > $1 AND class.source = $2 ORDER BY key LIMIT $3", []byte(after), []byte(source), index.DocumentPage)
	}
	return x.queryDocuments(ctx, "WHERE key > $1 ORDER BY key LIMIT $2", []byte(after), index.DocumentPage)
}

// queryDocuments returns the documents that clauses, from WHERE on, choose.
func (x *Index) queryDocuments(ctx context.Context, clauses string, arguments ...any) ([]knowledge.Document, error) {
	var page []knowledge.Document
	err := x.inReadTransaction(ctx, x.primary, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT "+documentColumns+" FROM cairn.document JOIN cairn.class ON class.id = document.class "+clauses, arguments...)
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (knowledge.Document, error) {
			var scan documentScan
			err := row.Scan(scan.scanTargets()...)
			return scan.toDocument(), err
		})
		return err
	})
	return page, err
}

// Terms returns the statistics of these terms, in the same order.
func (x *Index) Terms(ctx context.Context, terms []string) ([]index.TermStats, error) {
	asked := make([]index.Term, len(terms))
	for i, term := range terms {
		asked[i] = index.Term{Text: term}
	}
	asked = storableTerms(ranking.MergeTerms(asked))
	counts := make(map[string]int)
	err := x.inReadTransaction(ctx, x.read, func(tx pgx.Tx) error {
		clear(counts)
		rows, err := tx.Query(ctx, pagesOfTerms, termKeys(asked))
		if err != nil {
			return err
		}
		return eachFound(rows, asked, func(n int, e entry) error {
			counts[asked[n].Text] += e.passages
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read term statistics: %w", err)
	}
	stats := make([]index.TermStats, len(terms))
	for i, term := range terms {
		stats[i] = index.TermStats{Term: term, Passages: counts[term]}
	}
	return stats, nil
}

// Definitions returns what an abbreviation stands for. Expansions that differ in
// letter case alone are one, in the commonest spelling.
func (x *Index) Definitions(ctx context.Context, short string, viewers knowledge.Viewers) ([]knowledge.Definition, error) {
	var definitions []knowledge.Definition
	err := x.inReadTransaction(ctx, x.read, func(tx pgx.Tx) error {
		snap, err := x.snapshots.load(ctx, tx, x.embedder)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT short, long, count(*) FROM cairn.definition JOIN cairn.slot USING (slot)
			JOIN cairn.document ON document.id = slot.document WHERE folded = $1 AND class = ANY($2)
			GROUP BY short, long ORDER BY count(*) DESC, short, long LIMIT $3`,
			[]byte(strings.ToLower(short)), snap.passingClasses(index.Filter{Viewers: viewers}), ranking.MostSpellings)
		if err != nil {
			return err
		}
		definitions, err = mergeDefinitions(rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read definitions of %s: %w", short, err)
	}
	return definitions, nil
}

// mergeDefinitions adds up expansions without regard to letter case. Spellings come
// commonest first.
func mergeDefinitions(rows pgx.Rows) ([]knowledge.Definition, error) {
	defer rows.Close()
	var merged ranking.Definitions
	for rows.Next() {
		var short, long []byte
		var count int
		if err := rows.Scan(&short, &long, &count); err != nil {
			return nil, err
		}
		merged.Add(knowledge.Definition{Short: string(short), Long: string(long)}, count)
	}
	return merged.Sorted(), rows.Err()
}

// Stats describes the whole index. What is in memory anyway is not counted again: every
// answer asks for it.
func (x *Index) Stats(ctx context.Context) (index.Stats, error) {
	var stats index.Stats
	err := x.inReadTransaction(ctx, x.read, func(tx pgx.Tx) error {
		snap, err := x.snapshots.load(ctx, tx, x.embedder)
		if err != nil {
			return err
		}
		var lacking int
		err = tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM cairn.slot s WHERE slot >= (SELECT embedded_below FROM cairn.embedder WHERE id = $1)
				AND NOT EXISTS (SELECT FROM `+x.embedder.table+` v WHERE v.slot = s.slot)),
			(SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'cairn'::regnamespace AND relkind = 'r')`,
			x.embedder.id).Scan(&lacking, &stats.Bytes)
		stats.Documents, stats.Passages, stats.Embedded = snap.present, snap.passages, snap.passages-lacking
		return err
	})
	if err != nil {
		return index.Stats{}, fmt.Errorf("read index statistics: %w", err)
	}
	return stats, nil
}
