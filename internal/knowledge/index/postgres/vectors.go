package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

// errDropped says that nobody keeps the vectors of the embedder any more.
var errDropped = fmt.Errorf("%w: its vectors were dropped; configure the embedder that is in use", index.ErrEmbedder)

// vectors are an engine.Vectors: a table of half floats for each embedder.
type vectors struct {
	embedder embedder
	exact    int // a search scores so many passages exactly; more go through HNSW
}

// transactionOf returns the transaction that the engine was given.
func transactionOf(tx engine.Tx) pgx.Tx {
	own, _ := tx.(transaction) // there is no other
	return own.tx
}

// Change implements engine.Vectors for all embedders.
func (v *vectors) Change(ctx context.Context, given engine.Tx, change engine.VectorChange) error {
	tx := transactionOf(given)
	tables, err := vectorTables(ctx, tx)
	if err != nil {
		return err
	}
	var from, to, classes, documents, documentClasses []int32
	for _, m := range change.Moved {
		from, to, classes = append(from, m.From), append(to, m.To), append(classes, m.Class)
	}
	for _, r := range change.Reclassed {
		documents, documentClasses = append(documents, r.Document), append(documentClasses, r.Class)
	}
	for _, table := range tables {
		statements := &pgx.Batch{}
		statements.Queue("INSERT INTO "+table+` (slot, part, class, document, restricted, halves)
			SELECT new, part, m.class, document, c.audience <> 'public', halves FROM unnest($1::integer[], $2::integer[], $3::integer[]) m (old, new, class)
			JOIN `+table+" ON slot = old JOIN cairn.class c ON c.id = m.class", from, to, classes)
		statements.Queue("DELETE FROM "+table+" WHERE slot = ANY ($1)", change.Gone)
		statements.Queue("UPDATE "+table+` v SET class = m.class, restricted = c.audience <> 'public'
			FROM unnest($1::integer[], $2::integer[]) m (document, class) JOIN cairn.class c ON c.id = m.class
			WHERE v.document = m.document`, documents, documentClasses)
		if err := tx.SendBatch(ctx, statements).Close(); err != nil {
			return err
		}
	}
	return nil
}

// tableRow is a row of a table of vectors.
type tableRow struct {
	engine.VectorRow

	part   int16
	halves *pgvector.HalfVector // nil: no window at all
}

// Write implements engine.Vectors.
func (v *vectors) Write(ctx context.Context, given engine.Tx, written []engine.VectorRow) error {
	tx := transactionOf(given)
	var slots []int32
	var rows []tableRow
	for _, row := range written {
		slots = append(slots, row.Slot)
		if len(row.Windows) == 0 {
			rows = append(rows, tableRow{VectorRow: row})
		}
		for part, window := range row.Windows {
			halves := pgvector.NewHalfVector(window)
			rows = append(rows, tableRow{VectorRow: row, part: int16(part), halves: &halves})
		}
	}
	if _, err := tx.Exec(ctx, "DELETE FROM "+v.embedder.table+" WHERE slot = ANY ($1)", slots); err != nil {
		return err
	}
	into := engine.Columns{Table: strings.TrimPrefix(v.embedder.table, "cairn."), Names: []string{"slot", "part", "class", "document", "restricted", "halves"}}
	return given.Insert(ctx, into, len(rows), func(i int) []any {
		r := rows[i]
		if r.halves == nil {
			return []any{r.Slot, r.part, r.Class, r.Document, !r.Public, nil}
		}
		return []any{r.Slot, r.part, r.Class, r.Document, !r.Public, *r.halves}
	})
}

// Search implements engine.Vectors: exactly while few passages pass the filter, else through an
// HNSW index, which misses one in some hundred.
func (v *vectors) Search(ctx context.Context, given engine.Tx, query *engine.DenseQuery) ([]engine.Scored, error) {
	tx := transactionOf(given)
	var indexed bool
	err := tx.QueryRow(ctx, "SELECT indexed FROM cairn.embedder WHERE id = $1", v.embedder.id).Scan(&indexed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errDropped
	}
	if err != nil {
		return nil, err
	}
	for rows := query.Limit + query.Limit/2; ; rows *= 4 {
		p := &plan{query: query, table: v.embedder.table, exact: v.exact, rows: rows}
		found, short, err := p.search(ctx, tx, indexed)
		if err != nil || !short {
			return found, err
		}
	}
}

// plan is a search by vectors.
type plan struct {
	query *engine.DenseQuery
	table string
	exact int // see vectors
	rows  int // vectors asked of the HNSW index
}

// search asks all parts in one round trip. It reports short if windows of few passages crowd the
// others out.
func (p *plan) search(ctx context.Context, tx pgx.Tx, indexed bool) (found []engine.Scored, short bool, err error) {
	parts := p.parts(indexed)
	batch := &pgx.Batch{}
	p.queue(batch, parts)
	results := tx.SendBatch(ctx, batch)
	defer func() { err = errors.Join(err, results.Close()) }()
	for _, part := range parts {
		if _, err := results.Exec(); err != nil {
			return nil, false, fmt.Errorf("settings: %w", err)
		}
		scores, count, err := receiveScores(results)
		if err != nil {
			return nil, false, err
		}
		short = short || !part.exact && count == part.rows && len(scores) < p.query.Limit
		for slot, score := range scores {
			found = append(found, engine.Scored{Slot: slot, Score: score})
		}
	}
	return engine.Best(found, p.query.Limit), short, nil
}
