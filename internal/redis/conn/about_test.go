package conn_test

import (
	"strings"
	"testing"
	"time"

	"cairn/internal/redis/conn"
	"cairn/internal/servertest"
)

func TestAbout(t *testing.T) {
	for name, address := range map[string]string{
		"one server": servertest.Redis(t), "a cluster": "redis+cluster://" + strings.Join(servertest.Cluster(t), ","),
	} {
		t.Run(name, func(t *testing.T) {
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
}
