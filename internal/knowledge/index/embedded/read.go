package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

const documentColumns = `document.key, document.source, document.kind, document.path, document.title, document.url,
	document.owner, document.language, document.modified, document.indexed, document.last_seen, document.hash,
	document.audience, document.state`

// documentScan receives documentColumns.
type documentScan struct {
	document                    knowledge.Document
	modified, indexed, lastSeen sql.NullInt64
}

func (s *documentScan) scanTargets() []any {
	d := &s.document
	return []any{&d.ID, &d.Source, &d.Kind, &d.Path, &d.Title, &d.URL, &d.Owner, &d.Language,
		&s.modified, &s.indexed, &s.lastSeen, &d.Hash, &d.Audience, &d.State}
}

func (s *documentScan) toDocument() knowledge.Document {
	s.document.Modified = fromMicros(s.modified)
	s.document.Indexed = fromMicros(s.indexed)
	s.document.LastSeen = fromMicros(s.lastSeen)
	return s.document
}

// foundReader gathers passages with their documents and definitions.
type foundReader struct {
	passage, definitions *sql.Stmt
	found                []index.Found
}

func newFoundReader(ctx context.Context, tx *sql.Tx, where string) (*foundReader, error) {
	passage, err := tx.PrepareContext(ctx, `SELECT passage.slot, passage.position, passage.headings, passage.anchor, passage.text,
		passage.tokens, passage.hash, `+documentColumns+` FROM passage JOIN document ON document.id = passage.document WHERE `+where)
	if err != nil {
		return nil, err
	}
	definitions, err := tx.PrepareContext(ctx, "SELECT short, long FROM definition WHERE slot = ? ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	return &foundReader{passage: passage, definitions: definitions}, nil
}

// readPassage adds the passage that the condition selects, if there is one.
func (r *foundReader) readPassage(ctx context.Context, arguments ...any) error {
	var slot int64
	var headings string
	var p knowledge.Passage
	var scan documentScan
	targets := append([]any{&slot, &p.Position, &headings, &p.Anchor, &p.Text, &p.Tokens, &p.Hash}, scan.scanTargets()...)
	err := r.passage.QueryRowContext(ctx, arguments...).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(headings), &p.Headings); err != nil {
		return fmt.Errorf("stored headings: %w", err)
	}
	document := scan.toDocument()
	p.Document = document.ID
	p.ID = knowledge.MakePassageID(document.ID, p.Position)
	if p.Definitions, err = r.readDefinitions(ctx, slot); err != nil {
		return err
	}
	r.found = append(r.found, index.Found{Document: document, Passage: p})
	return nil
}

func (r *foundReader) readDefinitions(ctx context.Context, slot int64) ([]knowledge.Definition, error) {
	rows, err := r.definitions.QueryContext(ctx, slot)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var definitions []knowledge.Definition
	for rows.Next() {
		var d knowledge.Definition
		if err := rows.Scan(&d.Short, &d.Long); err != nil {
			return nil, err
		}
		definitions = append(definitions, d)
	}
	return definitions, rows.Err()
}

// Passages returns the stored passages of these ids, in the same order.
func (x *Index) Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	var found []index.Found
	err := x.readTransaction(ctx, func(tx *sql.Tx) error {
		reader, err := newFoundReader(ctx, tx, "document.key = ? AND passage.position = ?")
		if err != nil {
			return err
		}
		for _, id := range ids {
			document, position, ok := id.Split()
			if !ok {
				continue
			}
			if err := reader.readPassage(ctx, document, position); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		found = reader.found
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	return found, nil
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
		return x.queryDocuments(ctx, "WHERE source = ? AND key > ? ORDER BY key LIMIT ?", source, after, index.DocumentPage)
	}
	return x.queryDocuments(ctx, "WHERE key > ? ORDER BY key LIMIT ?", after, index.DocumentPage)
}

// queryDocuments returns the documents that clauses, from WHERE on, choose.
func (x *Index) queryDocuments(ctx context.Context, clauses string, arguments ...any) ([]knowledge.Document, error) {
	rows, err := x.read.QueryContext(ctx, "SELECT "+documentColumns+" FROM document "+clauses, arguments...)
	if err != nil {
		return nil, explainError(err)
	}
	defer rows.Close()
	var page []knowledge.Document
	for rows.Next() {
		var scan documentScan
		if err := rows.Scan(scan.scanTargets()...); err != nil {
			return nil, err
		}
		page = append(page, scan.toDocument())
	}
	return page, explainError(rows.Err())
}

// countTerms gives in how many passages each term stands; those that stand in none are left
// out.
func countTerms(ctx context.Context, tx *sql.Tx, snap *snapshot, terms []string) (map[string]int, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	asked, err := json.Marshal(terms)
	if err != nil {
		return nil, fmt.Errorf("encode terms: %w", err)
	}
	rows, err := tx.QueryContext(ctx, `WITH RECURSIVE block (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM block LIMIT ?),
		asked (text) AS (SELECT term.text FROM (SELECT DISTINCT value FROM json_each(?)) CROSS JOIN term ON term.text = value)
		SELECT posting.term, sum(posting.passages)
		FROM asked CROSS JOIN block CROSS JOIN posting ON posting.block = block.number AND posting.term = asked.text GROUP BY 1`,
		snap.countBlocks(), string(asked))
	if err != nil {
		return nil, fmt.Errorf("count the passages with terms: %w", err)
	}
	defer rows.Close()
	counts := make(map[string]int, len(terms))
	for rows.Next() {
		var term string
		var passages int
		if err := rows.Scan(&term, &passages); err != nil {
			return nil, fmt.Errorf("count the passages with terms: %w", err)
		}
		counts[term] = passages
	}
	return counts, rows.Err()
}

// Terms returns the statistics of these terms, in the same order.
func (x *Index) Terms(ctx context.Context, terms []string) ([]index.TermStats, error) {
	stats := make([]index.TermStats, len(terms))
	err := x.readSnapshot(ctx, func(tx *sql.Tx, snap *snapshot) error {
		counts, err := countTerms(ctx, tx, snap, terms)
		for i, term := range terms {
			stats[i] = index.TermStats{Term: term, Passages: counts[term]}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read term statistics: %w", err)
	}
	return stats, nil
}

// Definitions returns what an abbreviation stands for. Expansions that differ in
// letter case alone are one, in the commonest spelling.
func (x *Index) Definitions(ctx context.Context, short string, viewers knowledge.Viewers) ([]knowledge.Definition, error) {
	var merged ranking.Definitions
	err := x.readTransaction(ctx, func(tx *sql.Tx) error {
		audiences, err := definitionAudiences(ctx, tx, short, viewers)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT definition.short, definition.long, count(*) `+fromDefinitions+`
			AND document.audience IN (SELECT value FROM json_each(?))
			GROUP BY 1, 2 ORDER BY count(*) DESC, 1, 2 LIMIT ?`, strings.ToLower(short), audiences, ranking.MostSpellings)
		if err != nil {
			return err
		}
		defer rows.Close()
		merged = ranking.Definitions{}
		for rows.Next() {
			var d knowledge.Definition
			var count int
			if err := rows.Scan(&d.Short, &d.Long, &count); err != nil {
				return err
			}
			merged.Add(d, count)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read definitions of %s: %w", short, err)
	}
	return merged.Sorted(), nil
}

const fromDefinitions = `FROM definition JOIN passage USING (slot) JOIN document ON document.id = passage.document
	WHERE definition.folded = ?`

// definitionAudiences returns the audiences of documents that define an abbreviation and that
// the viewers may see, as a JSON array.
func definitionAudiences(ctx context.Context, tx *sql.Tx, short string, viewers knowledge.Viewers) (string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT DISTINCT document.audience "+fromDefinitions, strings.ToLower(short))
	if err != nil {
		return "", err
	}
	defer rows.Close()
	seen := []knowledge.Audience{}
	for rows.Next() {
		var audience knowledge.Audience
		if err := rows.Scan(&audience); err != nil {
			return "", err
		}
		if viewers.MaySee(audience) {
			seen = append(seen, audience)
		}
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	encoded, err := json.Marshal(seen)
	return string(encoded), err
}

// Stats describes the whole index.
func (x *Index) Stats(ctx context.Context) (index.Stats, error) {
	var stats index.Stats
	err := x.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM passage),
		(SELECT count(*) FROM vector)`).Scan(&stats.Documents, &stats.Passages, &stats.Embedded)
	if err != nil {
		return index.Stats{}, fmt.Errorf("read index statistics: %w", explainError(err))
	}
	for _, suffix := range []string{"", "-wal"} {
		file, err := os.Stat(x.path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return index.Stats{}, fmt.Errorf("read index size: %w", err)
		}
		stats.Bytes += file.Size()
	}
	return stats, nil
}
