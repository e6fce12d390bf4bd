package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

var dialect = engine.Dialect{
	Prefix:  "cairn.",
	Ints:    "unnest(%s::integer[]) WITH ORDINALITY AS list (value, number)",
	Strings: "unnest(%s::bytea[]) WITH ORDINALITY AS list (value, number)",
}

// server is an engine.Database.
type server struct {
	read   *pgxpool.Pool
	writer *writerSession // nil when read-only
}

// Read implements engine.Database. It is tried again where the connection is lost.
func (s *server) Read(ctx context.Context, use func(tx engine.Tx) error) error {
	err := retryConnection(ctx, func() error {
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, s.read, options, func(tx pgx.Tx) error { return use(transaction{tx}) })
	})
	return causeOf(ctx, explainError(err))
}

// Write implements engine.Database.
func (s *server) Write(ctx context.Context, change func(tx engine.Tx) error) error {
	if s.writer == nil {
		return engine.ErrReadOnly
	}
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return s.writer.retryWrite(ctx, func(tx pgx.Tx) error { return change(transaction{tx}) })
}

// transaction is an engine.Tx. Strings are bytea in the database: they may hold any bytes, which
// text may not, and sort by byte.
type transaction struct{ tx pgx.Tx }

// Exec implements engine.Tx.
func (t transaction) Exec(ctx context.Context, statement string, arguments ...any) (int, error) {
	tag, err := t.tx.Exec(ctx, dialect.Translate(statement), toArguments(arguments)...)
	return int(tag.RowsAffected()), err
}

// Select implements engine.Tx.
func (t transaction) Select(ctx context.Context, asked engine.Query, use func() error, targets ...any) error {
	rows, err := t.tx.Query(ctx, dialect.Translate(asked.SQL), toArguments(asked.Arguments)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	scanned := slices.Clone(targets)
	for i, target := range targets {
		if text, ok := target.(*string); ok {
			scanned[i] = &scannedString{text}
		}
	}
	for rows.Next() {
		if err := rows.Scan(scanned...); err != nil {
			return err
		}
		if err := use(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scannedString scans bytea.
type scannedString struct{ target *string }

// ScanBytes implements pgtype.BytesScanner.
func (s *scannedString) ScanBytes(value []byte) error {
	*s.target = string(value)
	return nil
}

// Insert implements engine.Tx by COPY, many times as fast as INSERT.
func (t transaction) Insert(ctx context.Context, into engine.Columns, n int, row func(i int) []any) error {
	if n == 0 {
		return nil
	}
	from := pgx.CopyFromSlice(n, func(i int) ([]any, error) { return toArguments(row(i)), nil })
	if _, err := t.tx.CopyFrom(ctx, pgx.Identifier{"cairn", into.Table}, into.Names, from); err != nil {
		return fmt.Errorf("copy into %s: %w", into.Table, err)
	}
	return nil
}

// Size implements engine.Tx.
func (t transaction) Size(ctx context.Context) (size int64, err error) {
	err = t.tx.QueryRow(ctx, "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'cairn'::regnamespace AND relkind = 'r'").Scan(&size)
	return size, err
}

// toArguments returns arguments as PostgreSQL takes them.
func toArguments(arguments []any) []any {
	converted := make([]any, len(arguments))
	for i, argument := range arguments {
		switch argument := argument.(type) {
		case string:
			converted[i] = []byte(argument)
		case []string:
			list := make([][]byte, len(argument))
			for at, text := range argument {
				list[at] = []byte(text)
			}
			converted[i] = list
		case []int32:
			converted[i] = append([]int32{}, argument...) // nil would be NULL
		case time.Time:
			converted[i] = &argument
			if argument.IsZero() {
				converted[i] = nil
			}
		default:
			converted[i] = argument
		}
	}
	return converted
}
