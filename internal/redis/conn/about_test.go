package conn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestAbout(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		client, err := conn.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		about, err := client.About(t.Context())
		if err != nil || !strings.Contains(about.Version, ".") || about.Ahead.Abs() > time.Minute {
			t.Errorf("got %+v, %v", about, err)
		}
	})
}
