// Package conntest connects tests to a Redis.
package conntest

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// Connect gives a client that is closed when the test ends.
func Connect(t testing.TB, address string) *conn.Client {
	t.Helper()
	client, err := conn.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}
