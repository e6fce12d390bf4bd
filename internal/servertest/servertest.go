// Package servertest gives tests real servers: a PostgreSQL with pgvector, a Redis, a
// Redis of the test's own that it may kill, a Redis Cluster. Where they come from is
// decided by scripts/test-servers.sh: addresses that are set, a container engine, or
// Debian's packages. A test that can't have its server fails; none is skipped.
//
// The PostgreSQL and the Redis that CAIRN_TEST_POSTGRES_URL and CAIRN_TEST_REDIS_URL
// do not name are started by the first test that asks and shared by all of this user,
// in all processes; each test has a database of its own there. scripts/test.sh starts
// a pair for itself and stops it at its end; what a plain `go test` started stays, for
// the next, until `scripts/test-servers.sh stop`. The other servers end with the test,
// or with its process.
package servertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// startLimit is how long servers may take to come up, their download included.
const startLimit = 5 * time.Minute

// Postgres gives the address of an empty database, removed when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	shared, err := sharedServers()
	if err != nil {
		t.Fatal(err)
	}
	name := "cairn_test_" + strings.ToLower(rand.Text())
	execute(t, shared.postgres, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, shared.postgres, "DROP DATABASE "+name+" WITH (FORCE)") })
	address, err := url.Parse(shared.postgres)
	if err != nil {
		t.Fatalf("CAIRN_TEST_POSTGRES_URL: %v", err)
	}
	address.Path = "/" + name
	return address.String()
}

func execute(t testing.TB, address, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatalf("test server: %v", err)
	}
	if _, err := connection.Exec(ctx, statement); err != nil {
		t.Errorf("test server: %s: %v", statement, err)
	}
	if err := connection.Close(ctx); err != nil {
		t.Errorf("test server: close: %v", err)
	}
}

// claimTime is how long a logical database of Redis stays a test's own if its process
// dies without giving it back.
const claimTime = 30 * time.Minute

// Redis gives the address of an empty logical database, emptied when the test ends.
// Which tests have which stands in database 0, under cairn:test:database:NUMBER.
func Redis(t testing.TB) string {
	t.Helper()
	shared, err := sharedServers()
	if err != nil {
		t.Fatal(err)
	}
	options, err := redis.ParseURL(shared.redis)
	if err != nil {
		t.Fatalf("CAIRN_TEST_REDIS_URL: %v", err)
	}
	options.DB = 0
	register := redis.NewClient(options)
	t.Cleanup(func() { closeClient(t, register) })
	number, err := claimDatabase(t.Context(), register)
	if err != nil {
		t.Fatalf("test server: %v", err)
	}
	options.DB = number
	empty(t, *options)
	t.Cleanup(func() {
		empty(t, *options)
		if err := register.Del(context.WithoutCancel(t.Context()), claimKey(number)).Err(); err != nil {
			t.Errorf("give database %d back: %v", number, err)
		}
	})
	address, err := url.Parse(shared.redis)
	if err != nil {
		t.Fatalf("CAIRN_TEST_REDIS_URL: %v", err)
	}
	address.Path = fmt.Sprintf("/%d", number)
	return address.String()
}

func claimKey(number int) string { return fmt.Sprintf("cairn:test:database:%d", number) }

// claimDatabase finds a logical database that no test has.
func claimDatabase(ctx context.Context, register *redis.Client) (int, error) {
	settings, err := register.ConfigGet(ctx, "databases").Result()
	if err != nil {
		return 0, fmt.Errorf("ask Redis how many databases it has: %w", err)
	}
	var databases int
	if _, err := fmt.Sscan(settings["databases"], &databases); err != nil {
		return 0, fmt.Errorf("number of Redis's databases %q: %w", settings["databases"], err)
	}
	for number := 1; number < databases; number++ {
		_, err := register.SetArgs(ctx, claimKey(number), os.Getpid(), redis.SetArgs{Mode: "NX", TTL: claimTime}).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		return number, err
	}
	return 0, fmt.Errorf("all %d databases of the Redis are taken by tests: run fewer at once, or DEL cairn:test:database:* in database 0", databases-1)
}

func empty(t testing.TB, options redis.Options) {
	t.Helper()
	client := redis.NewClient(&options)
	defer closeClient(t, client)
	if err := client.FlushDB(context.WithoutCancel(t.Context())).Err(); err != nil {
		t.Errorf("empty database %d: %v", options.DB, err)
	}
}

func closeClient(t testing.TB, client *redis.Client) {
	t.Helper()
	if err := client.Close(); err != nil {
		t.Errorf("close client of Redis: %v", err)
	}
}

// servers are the addresses of what all tests share.
type servers struct{ redis, postgres string }

// sharedServers starts the shared servers unless they run.
var sharedServers = sync.OnceValues(func() (servers, error) {
	found := servers{redis: os.Getenv("CAIRN_TEST_REDIS_URL"), postgres: os.Getenv("CAIRN_TEST_POSTGRES_URL")}
	if found.redis != "" && found.postgres != "" {
		return found, nil
	}
	script, err := findScript()
	if err != nil {
		return servers{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	command := exec.CommandContext(ctx, script, "start")
	var output, complaints bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaints
	if err := command.Run(); err != nil {
		return servers{}, fmt.Errorf("start test servers: %w\n%s", err, &complaints)
	}
	for line := range strings.Lines(output.String()) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		switch name {
		case "CAIRN_TEST_REDIS_URL":
			found.redis = strings.Trim(value, "'")
		case "CAIRN_TEST_POSTGRES_URL":
			found.postgres = strings.Trim(value, "'")
		}
	}
	if found.redis == "" || found.postgres == "" {
		return servers{}, fmt.Errorf("start test servers: %s printed no addresses but %q", script, output.String())
	}
	return found, nil
})

// findScript looks for scripts/test-servers.sh from the test's folder upwards.
func findScript() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		script := filepath.Join(folder, "scripts", "test-servers.sh")
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("scripts/test-servers.sh is not above the folder that the test runs in: run it with go test inside the repository")
		}
		folder = parent
	}
}
