package conn

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// About is what one server says of itself.
type About struct {
	Version string
	// Ahead is by how much the server's clock is ahead of this machine's; negative where it
	// is behind. It is told to within the time of one call.
	Ahead time.Duration
}

// About asks a server, one of them where there are several.
func (c *Client) About(ctx context.Context) (About, error) {
	before := time.Now()
	theirs, err := c.Time(ctx).Result()
	if err != nil {
		return About{}, fmt.Errorf("ask Redis for its time: %w", Explain(err))
	}
	took := time.Since(before)
	text, err := c.infoOfOne(ctx)
	if err != nil {
		return About{}, fmt.Errorf("ask Redis for its version: %w", Explain(err))
	}
	return About{Version: parseInfo(text)["redis_version"], Ahead: theirs.Sub(before.Add(took / 2))}, nil
}

// infoOfOne returns the INFO of any server.
func (c *Client) infoOfOne(ctx context.Context) (text string, err error) {
	if cluster, ok := c.UniversalClient.(*redis.ClusterClient); ok {
		server, err := cluster.MasterForKey(ctx, "cairn")
		if err != nil {
			return "", err
		}
		return server.Info(ctx, "server").Result()
	}
	return c.Info(ctx, "server").Result()
}
