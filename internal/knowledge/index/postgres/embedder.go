package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

// embedder is an embedder with a table of vectors in the database.
type embedder struct {
	id    int
	table string
}

func newEmbedder(id int) embedder {
	return embedder{id: id, table: fmt.Sprintf("cairn.vector_%d", id)}
}

// A row is one window of a passage, or says with NULL that it has none. Rows are kept
// in the page up to what one holds: a detour per vector would slow every scan.
const createVectors = `CREATE TABLE TABLE_NAME (
	slot integer NOT NULL,
	part smallint NOT NULL, -- number of the window
	class integer NOT NULL,
	document integer NOT NULL,
	halves halfvec(DIMENSION),
	restricted boolean NOT NULL, -- the document is not for everybody
	PRIMARY KEY (slot, part)
);
ALTER TABLE TABLE_NAME ALTER COLUMN halves SET STORAGE PLAIN;
CREATE INDEX ON TABLE_NAME (class);
CREATE INDEX ON TABLE_NAME (document);`

// addEmbedder finds the configured embedder, or gives it a table beside those of others.
func addEmbedder(ctx context.Context, tx pgx.Tx, options Options) (embedder, error) {
	var id int
	err := tx.QueryRow(ctx, "SELECT id FROM cairn.embedder WHERE name = $1 AND dimension = $2", options.Embedder, options.Dimension).Scan(&id)
	if err == nil {
		return newEmbedder(id), nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return embedder{}, fmt.Errorf("find embedder: %w", err)
	}
	err = tx.QueryRow(ctx, "INSERT INTO cairn.embedder (name, dimension) VALUES ($1, $2) RETURNING id", options.Embedder, options.Dimension).Scan(&id)
	if err != nil {
		return embedder{}, fmt.Errorf("store embedder: %w", err)
	}
	e := newEmbedder(id)
	statements := strings.NewReplacer("TABLE_NAME", e.table, "DIMENSION", fmt.Sprint(options.Dimension)).Replace(createVectors)
	if _, err := tx.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		return embedder{}, fmt.Errorf("create table of vectors: %w", err)
	}
	return e, nil
}

// findEmbedder finds the configured embedder for a reader. It fails with
// index.ErrEmbedder while vectors are another's alone.
func findEmbedder(ctx context.Context, pool *pgxpool.Pool, options Options) (embedder, error) {
	rows, err := pool.Query(ctx, "SELECT id, name, dimension FROM cairn.embedder ORDER BY id")
	if err != nil {
		return embedder{}, fmt.Errorf("read embedders: %w", err)
	}
	defer rows.Close()
	var mine embedder
	var others []embedder
	var names []string
	for rows.Next() {
		var id, dimension int
		var name string
		if err := rows.Scan(&id, &name, &dimension); err != nil {
			return embedder{}, fmt.Errorf("read embedders: %w", err)
		}
		if name == options.Embedder && dimension == options.Dimension {
			mine = newEmbedder(id)
			continue
		}
		others = append(others, newEmbedder(id))
		names = append(names, fmt.Sprintf("%s with %d dimensions", name, dimension))
	}
	if err := rows.Err(); err != nil {
		return embedder{}, fmt.Errorf("read embedders: %w", err)
	}
	if mine.id != 0 {
		has, err := mine.hasVectors(ctx, pool)
		if err != nil || has {
			return mine, err
		}
	}
	for i, other := range others {
		has, err := other.hasVectors(ctx, pool)
		if err != nil {
			return embedder{}, err
		}
		if has || mine.id == 0 {
			return embedder{}, fmt.Errorf("%w: it has %s, configured is %s with %d; configure the former until `cairn ingest` with the new one has made its vectors",
				index.ErrEmbedder, names[i], options.Embedder, options.Dimension)
		}
	}
	if mine.id == 0 {
		return embedder{}, fmt.Errorf("the database holds no index yet, run `cairn ingest` first: %w", fs.ErrNotExist)
	}
	return mine, nil
}

func (e embedder) hasVectors(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	var has bool
	if err := pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+e.table+")").Scan(&has); err != nil {
		return false, fmt.Errorf("look for vectors: %w", err)
	}
	return has, nil
}

// vectorTables returns the tables of all embedders.
func vectorTables(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, "SELECT id FROM cairn.embedder ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var id int
		err := row.Scan(&id)
		return newEmbedder(id).table, err
	})
}

// DropOtherEmbedders removes the vectors of all embedders but the configured one, once
// no process searches by them any more, and says of how many. It refuses while the
// configured one lacks vectors.
func (x *Index) DropOtherEmbedders(ctx context.Context) (int, error) {
	if x.options.ReadOnly {
		return 0, engine.ErrReadOnly
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	var count int
	err := x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		lacking, err := x.LacksVectors(ctx, transaction{tx})
		if err != nil {
			return err
		}
		if lacking {
			return fmt.Errorf("%s has not all of its vectors yet: run `cairn ingest` to its end first", x.options.Embedder)
		}
		count, err = x.dropOtherEmbedders(ctx, tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("drop vectors of other embedders: %w", err)
	}
	return count, nil
}

func (x *Index) dropOtherEmbedders(ctx context.Context, tx pgx.Tx) (int, error) {
	tables, err := vectorTables(ctx, tx)
	if err != nil {
		return 0, err
	}
	for _, table := range tables {
		if table == x.embedder.table {
			continue
		}
		if _, err := tx.Exec(ctx, "DROP TABLE "+table); err != nil {
			return 0, err
		}
	}
	tag, err := tx.Exec(ctx, "DELETE FROM cairn.embedder WHERE id <> $1", x.embedder.id)
	return int(tag.RowsAffected()), err
}

// hnswOptions is how many neighbours a vector has in an HNSW index, and among how many they are
// chosen. With pgvector's own 16 and 64 searches of 1,000,000 vectors find at most .95 of the
// best 20, however far they look; so they find all.
const hnswOptions = "WITH (m = 24, ef_construction = 128)"

// buildGraphs builds an HNSW index of the passages that everybody may read, and one of the
// others: a walk in the first drops nothing for viewers who may read little else.
const buildGraphs = `DROP INDEX IF EXISTS TABLE_NAME_public_halves_idx, TABLE_NAME_restricted_halves_idx;
CREATE INDEX INDEX_NAME_public_halves_idx ON TABLE_NAME USING hnsw (halves halfvec_ip_ops) DENSITY WHERE NOT restricted;
CREATE INDEX INDEX_NAME_restricted_halves_idx ON TABLE_NAME USING hnsw (halves halfvec_ip_ops) DENSITY WHERE restricted;
ANALYZE TABLE_NAME`

// buildIfDue builds the HNSW indexes of a table that has outgrown exact scans, once no
// passage waits for its vectors: building it from all of them is many times as fast as
// adding one by one. Searches go on meanwhile.
func (x *Index) buildIfDue(ctx context.Context) error {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	return x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		var indexed, waiting bool
		err := tx.QueryRow(ctx, "SELECT indexed, embedded_below < (SELECT next_slot FROM cairn.meta) FROM cairn.embedder WHERE id = $1", x.embedder.id).
			Scan(&indexed, &waiting)
		if err != nil || indexed || waiting {
			return err
		}
		var vectors int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+x.embedder.table).Scan(&vectors); err != nil || vectors <= x.vectors.exact {
			return err
		}
		version, err := extensionVersion(ctx, tx.Conn())
		if err != nil {
			return err
		}
		settings := fmt.Sprintf("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '%dkB'", x.options.BuildMemory>>10)
		if version.olderThan(safeExtension) {
			settings += "; SET LOCAL max_parallel_maintenance_workers = 0"
		}
		x.options.Logger.Info("building the vector index", "vectors", vectors)
		build := strings.NewReplacer("TABLE_NAME", x.embedder.table, "INDEX_NAME", strings.TrimPrefix(x.embedder.table, "cairn."), "DENSITY", hnswOptions)
		_, err = tx.Exec(ctx, settings+"; "+build.Replace(buildGraphs), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return fmt.Errorf("build the vector index: %w", err)
		}
		_, err = tx.Exec(ctx, "UPDATE cairn.embedder SET indexed = true WHERE id = $1", x.embedder.id)
		return err
	})
}
