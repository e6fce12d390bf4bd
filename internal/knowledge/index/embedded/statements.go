package embedded

import (
	"context"
	"database/sql"
	"fmt"
)

// statements prepares each statement of a write transaction once. Some run ten
// thousand times a batch, so they run without a context of their own, for which the
// driver would start a goroutine each time: the end of the context rolls the
// transaction back, and the next statement fails.
type statements struct {
	tx       *sql.Tx
	prepared map[string]*sql.Stmt // closed with the transaction
}

func newStatements(tx *sql.Tx) *statements {
	return &statements{tx: tx, prepared: make(map[string]*sql.Stmt)}
}

func (s *statements) prepareStatement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known, ok := s.prepared[query]; ok {
		return known, nil
	}
	statement, err := s.tx.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.prepared[query] = statement
	return statement, nil
}

func (s *statements) execStatement(ctx context.Context, query string, arguments ...any) error {
	statement, err := s.prepareStatement(ctx, query)
	if err != nil {
		return err
	}
	_, err = statement.Exec(arguments...)
	return err
}

// execUpdate reports whether an UPDATE found anything to change.
func (s *statements) execUpdate(ctx context.Context, query string, arguments ...any) (bool, error) {
	statement, err := s.prepareStatement(ctx, query)
	if err != nil {
		return false, err
	}
	result, err := statement.Exec(arguments...)
	if err != nil {
		return false, err
	}
	changed, err := result.RowsAffected()
	return changed > 0, err
}

// row is the one row that a query gives, or the error of preparing it.
type row struct {
	*sql.Row
	err error
}

// Scan fails with sql.ErrNoRows when there is no row.
func (r row) Scan(targets ...any) error {
	if r.err != nil {
		return fmt.Errorf("prepare: %w", r.err)
	}
	return r.Row.Scan(targets...)
}

func (s *statements) queryRow(ctx context.Context, query string, arguments ...any) row {
	statement, err := s.prepareStatement(ctx, query)
	if err != nil {
		return row{err: err}
	}
	return row{Row: statement.QueryRow(arguments...)}
}

// queryRows returns rows, to be closed before the next statement.
func (s *statements) queryRows(ctx context.Context, query string, arguments ...any) (*sql.Rows, error) {
	statement, err := s.prepareStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.Query(arguments...)
}
