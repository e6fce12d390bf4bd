package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// writerLock is the advisory lock that the writer of a database's index holds.
const writerLock = 0x6361_6972_6e00 // "cairn"

// connectLimit is how long a connection may take to open.
const connectLimit = 10 * time.Second

// closeLimit is how long the lock may take to be given back.
const closeLimit = 5 * time.Second

// prepareConfig sets what all connections have in common: a cancelled call cancels its
// statement, not the connection.
func prepareConfig(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectLimit
	}
	config.BuildContextWatcherHandler = func(connection *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: connection, DeadlineDelay: closeLimit}
	}
	config.RuntimeParams["application_name"] = "cairn"
}

func newPool(ctx context.Context, options Options, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	prepareConfig(config.ConnConfig)
	config.MaxConns = int32(options.Connections)
	// The limit holds for sessions: a transaction's own would not reach the preparation
	// of its statements, which waits for locks.
	limit := fmt.Sprintf("SET statement_timeout = %d", options.Statement.Milliseconds())
	config.AfterConnect = func(ctx context.Context, connection *pgx.Conn) error {
		if _, err := connection.Exec(ctx, limit); err != nil {
			return err
		}
		return pgxvector.RegisterTypes(ctx, connection)
	}
	return pgxpool.NewWithConfig(ctx, config)
}

func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	prepareConfig(config)
	return pgx.ConnectConfig(ctx, config)
}

// writerSession is the connection of the one process that writes to a database's index.
type writerSession struct {
	url        string
	mu         sync.Mutex // held for a whole write
	connection *pgx.Conn  // holds the lock; nil when read-only or lost
}

// acquireLock opens the writer's connection and takes the lock, which PostgreSQL releases when
// the connection ends in any way.
func (w *writerSession) acquireLock(ctx context.Context) error {
	connection, err := connect(ctx, w.url)
	if err != nil {
		return err
	}
	var free bool
	err = connection.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(writerLock)).Scan(&free)
	if err == nil && !free {
		err = fmt.Errorf("%w: wait until the other `cairn` that writes to this database ends, or stop it, or give this one its own database",
			index.ErrLocked)
	}
	if err == nil {
		err = pgxvector.RegisterTypes(ctx, connection)
	}
	if err != nil {
		return errors.Join(err, connection.Close(ctx))
	}
	w.connection = connection
	return nil
}

// releaseLock gives the lock back and ends the writer's connection.
func (w *writerSession) releaseLock() error {
	connection := w.connection
	if connection == nil || connection.IsClosed() {
		return nil
	}
	w.connection = nil
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_, err := connection.Exec(ctx, "SELECT pg_advisory_unlock($1)", int64(writerLock))
	return errors.Join(err, connection.Close(ctx))
}

// maxAttempts is how often something is tried when connections are lost; the waits
// between them outlast the restart of a server.
const maxAttempts = 5

// retryConnection runs an attempt until it does not fail for want of a connection.
func retryConnection(ctx context.Context, attempt func() error) error {
	var last error // Retry gives that of ctx once it ended, which tells less
	waits := &backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, Multiplier: 4, MaxInterval: 5 * time.Second}
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { //nolint:errcheck // last is its cause
		if last = attempt(); last != nil && !isLost(last) {
			return struct{}{}, backoff.Permanent(last)
		}
		return struct{}{}, last
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(maxAttempts))
	return last
}

// retryWrite runs a change in a transaction of the writer's connection, which it opens
// again if it was lost. The lock is taken anew then, so that nobody else wrote in
// between without being noticed. The caller holds w.mu, or is alone.
func (w *writerSession) retryWrite(ctx context.Context, change func(tx pgx.Tx) error) error {
	err := retryConnection(ctx, func() error {
		if w.connection == nil || w.connection.IsClosed() {
			if err := w.acquireLock(ctx); err != nil {
				return err
			}
		}
		return pgx.BeginFunc(ctx, w.connection, change)
	})
	return causeOf(ctx, explainError(err))
}

// causeOf returns the end of the context as the error where that is why a call failed.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}
