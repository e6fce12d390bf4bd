// Package postgrestest lets tests of other packages look into a database, and break it.
package postgrestest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Execute runs statements on the database at an address, and gives the first column of
// the last one's rows, as text.
func Execute(ctx context.Context, address string, statements ...string) (column []string, err error) {
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, connection.Close(ctx)) }()
	for _, statement := range statements {
		rows, err := connection.Query(ctx, statement, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
		column, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			return string(row.RawValues()[0]), nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return column, nil
}
