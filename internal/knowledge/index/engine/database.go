package engine

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// Database runs transactions. Both functions may be called again from the beginning where a
// connection was lost, so that they keep nothing of a call that failed.
type Database interface {
	// Read runs reads that all see one state of the database.
	Read(ctx context.Context, use func(tx Tx) error) error
	// Write runs a change that becomes visible as a whole or not at all, one at a time. It
	// fails with ErrReadOnly where the database is open for reading.
	Write(ctx context.Context, change func(tx Tx) error) error
}

// Tx is a transaction. A statement is written in the SQL that both databases understand, with $1
// for an argument, and with what a Dialect translates: @ before the name of a table, and lists.
//
// Arguments are numbers, strings of any bytes, []byte, time.Time (the zero time is NULL), nil,
// and for lists []int32 and []string. Targets are pointers to numbers, strings, []byte and
// Timestamp, whose bytes are the target's own.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, arguments ...any) (int, error)
	// Select scans each row into the targets, and calls use, which runs no other statement.
	Select(ctx context.Context, query Query, use func() error, targets ...any) error
	// Insert adds so many rows to a table.
	Insert(ctx context.Context, into Columns, n int, row func(i int) []any) error
	// Size is how many bytes the index takes on disk.
	Size(ctx context.Context) (int64, error)
}

// Query is a statement that gives rows, with its arguments.
type Query struct {
	SQL       string
	Arguments []any
}

func query(statement string, arguments ...any) Query {
	return Query{SQL: statement, Arguments: arguments}
}

// Columns are columns of a table, which is named without an @.
type Columns struct {
	Table string
	Names []string
}

// Dialect translates statements for a database.
type Dialect struct {
	Prefix  string // of tables
	Ints    string // "FROM ints($1)" in this database: columns value and number, from 1
	Strings string // "FROM strings($1)"

	translated sync.Map // by statement
}

var shorthand = regexp.MustCompile(`@|(ints|strings)(\(\$\d+\))`)

// Translate returns a statement as the database understands it.
func (d *Dialect) Translate(statement string) string {
	if known, ok := d.translated.Load(statement); ok {
		return known.(string)
	}
	translated := shorthand.ReplaceAllStringFunc(statement, func(found string) string {
		if found == "@" {
			return d.Prefix
		}
		parts := shorthand.FindStringSubmatch(found)
		list := d.Ints
		if parts[1] == "strings" {
			list = d.Strings
		}
		return fmt.Sprintf(list, parts[2])
	})
	d.translated.Store(statement, translated)
	return translated
}

// Timestamp scans a time of either database: microseconds since 1970, a time, or NULL for the
// zero time.
type Timestamp struct{ time.Time }

// Scan implements sql.Scanner.
func (t *Timestamp) Scan(value any) error {
	switch value := value.(type) {
	case nil:
		t.Time = time.Time{}
	case int64:
		t.Time = time.UnixMicro(value).UTC()
	case time.Time:
		t.Time = value.UTC()
	default:
		return fmt.Errorf("%T is no time", value)
	}
	return nil
}

// selectOne scans the one row of a query, if there is one.
func selectOne(ctx context.Context, tx Tx, asked Query, targets ...any) error {
	return tx.Select(ctx, asked, func() error { return nil }, targets...)
}

// selectInts gives the numbers that a query finds.
func selectInts(ctx context.Context, tx Tx, asked Query) (numbers []int32, err error) {
	var number int32
	err = tx.Select(ctx, asked, func() error {
		numbers = append(numbers, number)
		return nil
	}, &number)
	return numbers, err
}
