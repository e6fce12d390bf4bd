package embedded

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

// dialect passes lists as JSON, the strings of one in hexadecimal: they may hold any bytes.
var dialect = engine.Dialect{
	Ints:    "(SELECT value, key + 1 AS number FROM json_each%s) AS list",
	Strings: "(SELECT CAST(unhex(value) AS TEXT) AS value, key + 1 AS number FROM json_each%s) AS list",
}

// database is an engine.Database of one file.
type database struct {
	path    string
	write   *sql.DB // one connection; nil when read-only
	read    *sql.DB
	writing sync.Mutex
}

// Read implements engine.Database.
func (d *database) Read(ctx context.Context, use func(tx engine.Tx) error) error {
	begun, err := d.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explainError(err)
	}
	defer begun.Rollback() // ends the read; there is nothing to commit
	return explainError(use(&transaction{tx: begun, path: d.path}))
}

// Write implements engine.Database.
func (d *database) Write(ctx context.Context, change func(tx engine.Tx) error) error {
	if d.write == nil {
		return engine.ErrReadOnly
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	begun, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return explainError(err)
	}
	defer begun.Rollback() // no-op after Commit
	err = change(&transaction{tx: begun, path: d.path, prepared: make(map[string]*sql.Stmt)})
	if errors.Is(err, sql.ErrTxDone) {
		return context.Cause(ctx) // which rolled the transaction back
	}
	if err != nil {
		return explainError(err)
	}
	return explainError(begun.Commit())
}

// transaction is an engine.Tx. One that writes prepares each statement once, and runs it without
// a context of its own, for which the driver would start a goroutine each time: the end of the
// context rolls the transaction back, and the next statement fails.
type transaction struct {
	tx       *sql.Tx
	path     string
	prepared map[string]*sql.Stmt // closed with the transaction; nil in a read
}

// Exec implements engine.Tx.
func (t *transaction) Exec(ctx context.Context, statement string, arguments ...any) (int, error) {
	prepared, err := t.prepare(ctx, dialect.Translate(statement))
	if err != nil {
		return 0, err
	}
	result, err := prepared.Exec(toArguments(arguments)...)
	if err != nil {
		return 0, err
	}
	changed, err := result.RowsAffected()
	return int(changed), err
}

func (t *transaction) prepare(ctx context.Context, statement string) (*sql.Stmt, error) {
	if known, ok := t.prepared[statement]; ok {
		return known, nil
	}
	prepared, err := t.tx.PrepareContext(ctx, statement)
	if err == nil && t.prepared != nil {
		t.prepared[statement] = prepared
	}
	return prepared, err
}

// Select implements engine.Tx.
func (t *transaction) Select(ctx context.Context, asked engine.Query, use func() error, targets ...any) error {
	statement, arguments := dialect.Translate(asked.SQL), toArguments(asked.Arguments)
	var rows *sql.Rows
	var err error
	if t.prepared == nil {
		rows, err = t.tx.QueryContext(ctx, statement, arguments...)
	} else {
		var prepared *sql.Stmt
		if prepared, err = t.prepare(ctx, statement); err == nil {
			rows, err = prepared.Query(arguments...)
		}
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := use(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Insert implements engine.Tx.
func (t *transaction) Insert(ctx context.Context, into engine.Columns, n int, row func(i int) []any) error {
	holders := make([]string, len(into.Names))
	for i := range holders {
		holders[i] = "?"
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", into.Table, strings.Join(into.Names, ", "), strings.Join(holders, ", "))
	for i := range n {
		if _, err := t.Exec(ctx, statement, row(i)...); err != nil {
			return fmt.Errorf("insert into %s: %w", into.Table, err)
		}
	}
	return nil
}

// Size implements engine.Tx.
func (t *transaction) Size(context.Context) (int64, error) {
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		file, err := os.Stat(t.path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("read index size: %w", err)
		}
		size += file.Size()
	}
	return size, nil
}

// toArguments returns arguments as SQLite takes them: times in microseconds since 1970, lists as
// JSON.
func toArguments(arguments []any) []any {
	converted := make([]any, len(arguments))
	for i, argument := range arguments {
		switch argument := argument.(type) {
		case time.Time:
			converted[i] = sql.NullInt64{Int64: argument.UnixMicro(), Valid: !argument.IsZero()}
		case []int32:
			converted[i] = toJSON(argument)
		case []string:
			encoded := make([]string, len(argument))
			for at, text := range argument {
				encoded[at] = hex.EncodeToString([]byte(text))
			}
			converted[i] = toJSON(encoded)
		default:
			converted[i] = argument
		}
	}
	return converted
}

func toJSON[T int32 | string](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	encoded, _ := json.Marshal(list) //nolint:errcheck // numbers and hexadecimal digits
	return string(encoded)
}
