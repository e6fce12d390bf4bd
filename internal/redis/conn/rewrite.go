package conn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// rewritePause is the time between two looks at a rewrite.
const rewritePause = 100 * time.Millisecond

// Errors of RewriteFiles.
var (
	ErrNoAppendOnlyFile = errors.New("the Redis server runs without its append-only file: its last snapshot holds what was deleted, until the next one (redis-cli bgsave)")
	ErrMayNotRewrite    = errors.New("the append-only file of Redis holds what was deleted: Cairn's user may not have it rewritten; run redis-cli bgrewriteaof, or give the user +bgrewriteaof")
)

var errRewriteFailed = errors.New("the Redis server could not rewrite its append-only file: its log says why")

// RewriteFiles has each server write its append-only file anew, without what was deleted,
// and waits for it. It fails with ErrNoAppendOnlyFile or ErrMayNotRewrite where a server
// can't, and with the error of ctx where a rewrite is not over by then: it goes on.
func (c *Client) RewriteFiles(ctx context.Context) error {
	return c.EachServer(ctx, func(ctx context.Context, server *redis.Client) error {
		info, err := persistenceInfo(ctx, server)
		if err != nil {
			return err
		}
		if info["aof_enabled"] != "1" {
			return ErrNoAppendOnlyFile
		}
		// A rewrite that began before holds what was deleted since. How it ends does not matter.
		if err := awaitRewrite(ctx, server); err != nil && !errors.Is(err, errRewriteFailed) {
			return err
		}
		err = server.BgRewriteAOF(ctx).Err()
		switch {
		case err == nil:
			return awaitRewrite(ctx, server)
		case strings.HasPrefix(err.Error(), "NOPERM"):
			return ErrMayNotRewrite
		}
		return fmt.Errorf("have Redis rewrite its append-only file: %w", Explain(err))
	})
}

// awaitRewrite waits until a server rewrites no append-only file, and is about to rewrite
// none. It fails where the last rewrite did.
func awaitRewrite(ctx context.Context, server *redis.Client) error {
	ticker := time.NewTicker(rewritePause)
	defer ticker.Stop()
	for {
		info, err := persistenceInfo(ctx, server)
		switch {
		case err != nil:
			return err
		case info["aof_rewrite_in_progress"] == "1" || info["aof_rewrite_scheduled"] == "1":
		case info["aof_last_bgrewrite_status"] == "err":
			return errRewriteFailed
		default:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until Redis has rewritten its append-only file: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

// persistenceInfo returns a server's INFO about its files.
func persistenceInfo(ctx context.Context, server *redis.Client) (map[string]string, error) {
	text, err := server.Info(ctx, "persistence").Result()
	if err != nil {
		return nil, fmt.Errorf("ask Redis for its files: %w", Explain(err))
	}
	return parseInfo(text), nil
}
