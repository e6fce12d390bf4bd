package conn

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// askSentinels asks the Sentinels, one after the other, for the master, and notes in the
// options whether they want the password too. The first that answers decides.
func (t target) askSentinels(ctx context.Context, options *redis.UniversalOptions) error {
	var unreached []error
	for _, address := range t.addresses {
		err := t.askSentinel(ctx, address, options)
		if redis.HasErrorPrefix(err, "NOAUTH") && t.password != "" {
			options.SentinelUsername, options.SentinelPassword = t.user, t.password
			err = t.askSentinel(ctx, address, options)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, redis.Nil):
			return fmt.Errorf("the Sentinel at %s knows no master named %q: correct the name after the hosts", address, t.master)
		case redis.HasErrorPrefix(err, "unknown command"):
			return fmt.Errorf("the server at %s is no Sentinel: give the Sentinels' port, or write the address as redis://", address)
		}
		unreached = append(unreached, fmt.Errorf("ask the Sentinel at %s: %w", address, err))
	}
	return errors.Join(unreached...)
}

func (t target) askSentinel(ctx context.Context, address string, options *redis.UniversalOptions) error {
	client := redis.NewSentinelClient(&redis.Options{
		Addr: address, Username: options.SentinelUsername, Password: options.SentinelPassword, TLSConfig: options.TLSConfig,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
	err := client.GetMasterAddrByName(ctx, t.master).Err()
	return errors.Join(err, client.Close())
}
