// Package servertest gives tests real servers: a PostgreSQL with pgvector, a Redis, and
// servers of the test's own that it may kill: Redis, with TLS if it likes, Valkey, a Redis
// Cluster, a Redis that Sentinels watch over. Where they come from is decided by
// scripts/test-servers.sh: addresses that are set, a container engine, or Debian's
// packages. A test that can't have its server fails; none is skipped.
//
// The PostgreSQL and the Redis that CAIRN_TEST_POSTGRES_URL and CAIRN_TEST_REDIS_URL do
// not name are started by the first test that asks and shared by all of this user, in all
// processes; each test has a database of its own there. They go half a minute after the
// last process that uses them, however it ends, unless `scripts/test-servers.sh start`
// was told to keep them. scripts/test.sh has a pair for itself. The other servers end
// with the test, or with its process.
package servertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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

// Postgres returns the address of an empty database, removed when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	shared, err := sharedServers()
	if err != nil {
		t.Fatal(err)
	}
	name := "cairn_test_" + strings.ToLower(rand.Text())
	mustExecute(t, shared.postgres, "CREATE DATABASE "+name)
	t.Cleanup(func() { mustExecute(t, shared.postgres, "DROP DATABASE "+name+" WITH (FORCE)") })
	address, err := url.Parse(shared.postgres)
	if err != nil {
		t.Fatalf("CAIRN_TEST_POSTGRES_URL: %v", err)
	}
	address.Path = "/" + name
	return address.String()
}

func mustExecute(t testing.TB, address, statement string) {
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

// Redis returns the address of an empty logical database, emptied when the test ends.
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
	mustEmpty(t, *options)
	t.Cleanup(func() {
		mustEmpty(t, *options)
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

// EachRedis runs a test, as subtests, on a database of a single Redis and on a Cluster. It is
// given their addresses.
func EachRedis(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("one server", func(t *testing.T) { test(t, Redis(t)) })
	t.Run("a cluster", func(t *testing.T) { test(t, "redis+cluster://"+strings.Join(Cluster(t), ",")) })
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

func mustEmpty(t testing.TB, options redis.Options) {
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
type servers struct {
	redis, postgres string
	// use tells test-servers.sh that this process lives: it ends with it, and is never
	// closed before.
	use io.WriteCloser
}

// sharedServers starts the shared servers unless they run, and has them run for as long
// as this process does.
var sharedServers = sync.OnceValues(func() (servers, error) {
	found := servers{redis: os.Getenv("CAIRN_TEST_REDIS_URL"), postgres: os.Getenv("CAIRN_TEST_POSTGRES_URL")}
	if found.redis != "" && found.postgres != "" {
		return found, nil
	}
	script, err := FindScript("test-servers.sh")
	if err != nil {
		return servers{}, err
	}
	said, complaints, err := found.startScript(script)
	if err != nil {
		return servers{}, fmt.Errorf("start test servers: %w\n%s", err, complaints)
	}
	for line := range strings.Lines(said) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		switch name {
		case "CAIRN_TEST_REDIS_URL":
			found.redis = strings.Trim(value, "'")
		case "CAIRN_TEST_POSTGRES_URL":
			found.postgres = strings.Trim(value, "'")
		}
	}
	if found.redis == "" || found.postgres == "" {
		return servers{}, fmt.Errorf("start test servers: %s printed no addresses but %q\n%s", script, said, complaints)
	}
	return found, nil
})

// startScript has the script run the servers for as long as this process lives. It gives what
// the script prints until they run, and its complaints.
func (s *servers) startScript(script string) (said, complaints string, err error) {
	command := exec.Command(script, "use") //nolint:noctx // it ends with this process
	if s.use, err = command.StdinPipe(); err != nil {
		return "", "", err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	errs, err := command.StderrPipe()
	if err != nil {
		return "", "", err
	}
	if err := command.Start(); err != nil {
		return "", "", err
	}
	late := time.AfterFunc(startLimit, func() { command.Process.Kill() }) //nolint:errcheck // then it has ended
	defer late.Stop()
	// The script closes both once the servers run, or ends.
	printed, err := io.ReadAll(output)
	if err != nil {
		return "", "", err
	}
	complained, err := io.ReadAll(errs)
	return string(printed), string(complained), err
}

// FindScript looks for a script of the folder scripts from the test's folder upwards.
func FindScript(name string) (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		script := filepath.Join(folder, "scripts", name)
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("scripts/%s is not above the folder that the test runs in: run it with go test inside the repository", name)
		}
		folder = parent
	}
}
