package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
)

// maxIdle is how many compiled statements a connection keeps. More than the program has come of
// lists of parameters that differ in length; at this many it begins anew.
const maxIdle = 256

// compilingConnector opens connections that keep the statements that they compiled. To compile one
// takes longer than most take to run.
type compilingConnector struct{ driver.Connector }

func (c compilingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver of SQLite lacks an interface that is needed"), opened.Close())
	}
	return &compilingConn{sqliteConn: conn, idle: make(map[string]sqliteStatement)}, nil
}

// sqliteConn is what is used of the driver's connection. Without its ways to run a text at once
// every statement comes through PrepareContext.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.SessionResetter
	driver.Validator
	driver.Pinger
}

// sqliteStatement is what is used of the driver's statement.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// compilingConn is a connection that keeps statements that nobody uses at the moment. database/sql
// lets one goroutine use it at a time.
type compilingConn struct {
	sqliteConn
	idle map[string]sqliteStatement // by its text
}

// PrepareContext gives a statement that was compiled before, or compiles it.
func (c *compilingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if statement, ok := c.idle[query]; ok {
		delete(c.idle, query)
		return &compiled{sqliteStatement: statement, conn: c, query: query}, nil
	}
	prepared, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	statement, ok := prepared.(sqliteStatement)
	if !ok {
		return nil, errors.Join(errors.New("the driver of SQLite lacks statements with a context"), prepared.Close())
	}
	return &compiled{sqliteStatement: statement, conn: c, query: query}, nil
}

// Close closes the statements that it keeps, and the connection.
func (c *compilingConn) Close() error {
	return errors.Join(c.closeIdle(), c.sqliteConn.Close())
}

func (c *compilingConn) closeIdle() error {
	var problems []error
	for _, statement := range c.idle {
		problems = append(problems, statement.Close())
	}
	clear(c.idle)
	return errors.Join(problems...)
}

// compiled is a statement in use.
type compiled struct {
	sqliteStatement
	conn  *compilingConn
	query string
}

// Close gives the statement back to its connection.
func (c *compiled) Close() error {
	if _, ok := c.conn.idle[c.query]; ok { // it was in use twice
		return c.sqliteStatement.Close()
	}
	var err error
	if len(c.conn.idle) >= maxIdle {
		err = c.conn.closeIdle()
	}
	c.conn.idle[c.query] = c.sqliteStatement
	return err
}
