package servertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a server of a test's own: a Redis or a Valkey with an append-only file, or a
// Sentinel.
type Server struct {
	URL string

	t        testing.TB
	program  string // what test-servers.sh calls it
	dir      string
	port     int
	settings []string
	dial     redis.Options  // how it is asked whether it answers
	ended    chan error     // has how the server's process ended; nil while it is down
	input    io.WriteCloser // its end kills the server
	log      *os.File
}

// OwnRedis starts a Redis that only this test uses, with settings as on Redis's command
// line: "--maxmemory", "1mb". It ends with the test.
func OwnRedis(t testing.TB, settings ...string) *Server {
	t.Helper()
	return startServer(t, &Server{program: "redis", settings: settings})
}

// Valkey starts a Valkey as OwnRedis does a Redis.
func Valkey(t testing.TB, settings ...string) *Server {
	t.Helper()
	return startServer(t, &Server{program: "valkey", settings: settings})
}

// startServer starts a server for the time of the test, at a port and in a folder of its
// own where it has none.
func startServer(t testing.TB, s *Server) *Server {
	t.Helper()
	s.t = t
	if s.port == 0 {
		s.port = FreePort(t)
	}
	if s.dir == "" {
		s.dir = openFolder(t)
	}
	if s.URL == "" {
		s.URL = fmt.Sprintf("redis://%s/0", s.serverAddress())
	}
	s.dial.Addr, s.dial.MaxRetries = s.serverAddress(), -1
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// openFolder makes a folder that is removed with the test and that all may look into:
// root's servers run as another user, to whom t.TempDir is closed.
func openFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cairn-test-redis-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // it holds test data alone
		t.Fatal(err)
	}
	return dir
}

// Start starts the server again after Kill, at the same address and with the data that
// its append-only file held (Redis writes it out every second), and waits until it
// answers. It does nothing while the server runs.
func (s *Server) Start() {
	s.t.Helper()
	if s.ended != nil {
		return
	}
	script, err := FindScript("test-servers.sh")
	if err != nil {
		s.t.Fatal(err)
	}
	s.log, err = os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	arguments := append([]string{s.program, strconv.Itoa(s.port), filepath.Join(s.dir, "data")}, s.settings...)
	command := exec.Command(script, arguments...) //nolint:noctx // Kill ends it
	command.Stdout, command.Stderr = s.log, s.log
	if s.input, err = command.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatalf("start %s: %v", s.program, err)
	}
	ended := make(chan error, 1)
	s.ended = ended
	go func() { ended <- command.Wait() }()
	if err := s.awaitAnswer(); err != nil {
		said, readErr := os.ReadFile(s.log.Name())
		s.t.Fatalf("%s did not start: %v (log: %v)\n%s", s.program, err, readErr, bytes.TrimSpace(said))
	}
}

// awaitAnswer waits until the server answers.
func (s *Server) awaitAnswer() error {
	ctx, giveUp := context.WithCancel(s.t.Context())
	defer giveUp()
	dial := s.dial
	client := redis.NewClient(&dial)
	defer closeClient(s.t, client)
	return retryUntil(ctx, func(ctx context.Context) error {
		select {
		case err := <-s.ended:
			s.ended <- err
			giveUp()
			return fmt.Errorf("it has ended: %w", err)
		default:
		}
		err := client.Ping(ctx).Err()
		if redis.HasErrorPrefix(err, "NOAUTH") { // that is an answer
			return nil
		}
		return err
	})
}

// Kill ends the server at once, as kill -9 does, and waits until it is gone. It does
// nothing while the server is down.
func (s *Server) Kill() {
	s.t.Helper()
	if s.ended == nil {
		return
	}
	if err := s.input.Close(); err != nil {
		s.t.Errorf("kill %s: %v", s.program, err)
	}
	if err := <-s.ended; err == nil {
		s.t.Errorf("kill %s: it had ended by itself", s.program)
	}
	if err := s.log.Close(); err != nil {
		s.t.Errorf("close the log of %s: %v", s.program, err)
	}
	s.ended = nil
}

// ShutDown ends the server as its operators do, once all that it confirmed is on disk.
func (s *Server) ShutDown() {
	s.t.Helper()
	dial := s.dial
	client := redis.NewClient(&dial)
	defer closeClient(s.t, client)
	if err := client.Shutdown(context.WithoutCancel(s.t.Context())).Err(); err != nil {
		s.t.Errorf("shut Redis down: %v", err)
	}
	if err := errors.Join(<-s.ended, s.log.Close()); err != nil { // s.input went with the server
		s.t.Errorf("shut Redis down: %v", err)
	}
	s.ended = nil
}

// Worked returns the processor time that the server has used, its children's included.
func (s *Server) Worked() time.Duration {
	s.t.Helper()
	dial := s.dial
	client := redis.NewClient(&dial)
	defer closeClient(s.t, client)
	info, err := client.Info(s.t.Context(), "cpu").Result()
	if err != nil {
		s.t.Fatalf("ask %s what it used: %v", s.program, err)
	}
	var used time.Duration
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_cpu_sys", "used_cpu_user", "used_cpu_sys_children", "used_cpu_user_children":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				s.t.Fatalf("ask %s what it used: %v", s.program, err)
			}
			used += time.Duration(seconds * float64(time.Second))
		}
	}
	return used
}

func (s *Server) serverAddress() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Cluster starts a Redis Cluster of three nodes without replicas, each with a third of
// the slots, and gives the addresses of the nodes (host:port) once all agree on it. It
// ends with the test.
func Cluster(t testing.TB) []string {
	t.Helper()
	const nodes, slots = 3, 16384
	var addresses []string
	var clients []*redis.Client
	for node := range nodes {
		bus := FreePort(t)
		server := OwnRedis(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus))
		client := redis.NewClient(&redis.Options{Addr: server.serverAddress()})
		t.Cleanup(func() { closeClient(t, client) })
		if err := client.ClusterAddSlotsRange(t.Context(), node*slots/nodes, (node+1)*slots/nodes-1).Err(); err != nil {
			t.Fatalf("give node %d its slots: %v", node, err)
		}
		for _, other := range clients {
			meet := other.Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", server.port, bus)
			if err := meet.Err(); err != nil {
				t.Fatalf("introduce node %d: %v", node, err)
			}
		}
		addresses = append(addresses, server.serverAddress())
		clients = append(clients, client)
	}
	for node, client := range clients {
		err := retryUntil(t.Context(), func(ctx context.Context) error {
			info, err := client.ClusterInfo(ctx).Result()
			if err == nil && (!strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", nodes))) {
				err = fmt.Errorf("not joined yet:\n%s", info)
			}
			return errors.Join(err, checkSettled(ctx, client))
		})
		if err != nil {
			t.Fatalf("node %d of the cluster: %v", node, err)
		}
	}
	return addresses
}

// checkSettled is nil once a server has run for so long that clients can tell what it was told
// from what it may have forgotten when it started: they know that to the second.
func checkSettled(ctx context.Context, client *redis.Client) error {
	up, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return err
	}
	if seconds := up["Server"]["uptime_in_seconds"]; seconds == "0" || seconds == "1" {
		return errors.New("only just started")
	}
	return nil
}

// retryUntil repeats an attempt until it succeeds, for as long as servers may take to start.
func retryUntil(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

// FreePort returns a port of the loopback that nothing listens on. It is below the ports that
// Linux gives to outgoing connections and to listeners on port 0, so that none of those takes
// it before the caller does.
func FreePort(t testing.TB) int {
	t.Helper()
	const lowest, count, attempts = 10_000, 20_000, 100
	var refused error
	for range attempts {
		port := lowest + rand.IntN(count) //nolint:gosec // no secret
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			refused = err
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatalf("find a free port: %v", refused)
	return 0
}
