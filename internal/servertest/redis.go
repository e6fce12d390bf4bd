package servertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// Server is a Redis of a test's own, with an append-only file.
type Server struct {
	URL string

	t        testing.TB
	dir      string
	port     int
	settings []string
	command  *exec.Cmd      // nil while it is down
	input    io.WriteCloser // its end kills the server
	log      *os.File
}

// OwnRedis starts a Redis that only this test uses. It ends with the test.
func OwnRedis(t testing.TB) *Server {
	t.Helper()
	return ownRedis(t, freePort(t))
}

func ownRedis(t testing.TB, port int, settings ...string) *Server {
	t.Helper()
	// The server runs as another user than root; t.TempDir is closed to others.
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
	s := &Server{URL: fmt.Sprintf("redis://127.0.0.1:%d/0", port), t: t, dir: dir, port: port, settings: settings}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// Start starts the server again after Kill, at the same address and with the data that
// its append-only file held (Redis writes it out every second), and waits until it
// answers. It does nothing while the server runs.
func (s *Server) Start() {
	s.t.Helper()
	if s.command != nil {
		return
	}
	script, err := findScript()
	if err != nil {
		s.t.Fatal(err)
	}
	s.log, err = os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	arguments := append([]string{"redis", strconv.Itoa(s.port), filepath.Join(s.dir, "data")}, s.settings...)
	s.command = exec.Command(script, arguments...) //nolint:noctx // Kill ends it
	s.command.Stdout, s.command.Stderr = s.log, s.log
	if s.input, err = s.command.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		s.t.Fatalf("start Redis: %v", err)
	}
	client := redis.NewClient(&redis.Options{Addr: s.address(), MaxRetries: -1})
	defer closeClient(s.t, client)
	err = until(s.t.Context(), func(ctx context.Context) error { return client.Ping(ctx).Err() })
	if err != nil {
		said, readErr := os.ReadFile(s.log.Name())
		s.t.Fatalf("Redis did not start: %v (log: %v)\n%s", err, readErr, bytes.TrimSpace(said))
	}
}

// Kill ends the server at once, as kill -9 does, and waits until it is gone. It does
// nothing while the server is down.
func (s *Server) Kill() {
	s.t.Helper()
	if s.command == nil {
		return
	}
	if err := s.input.Close(); err != nil {
		s.t.Errorf("kill Redis: %v", err)
	}
	if err := s.command.Wait(); err == nil {
		s.t.Error("kill Redis: it had ended by itself")
	}
	if err := s.log.Close(); err != nil {
		s.t.Errorf("close log of Redis: %v", err)
	}
	s.command = nil
}

func (s *Server) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Cluster starts a Redis Cluster of three nodes without replicas, each with a third of
// the slots, and gives the addresses of the nodes (host:port) once all agree on it. It
// ends with the test.
func Cluster(t testing.TB) []string {
	t.Helper()
	const nodes, slots = 3, 16384
	var addresses []string
	var clients []*redis.Client
	for node := range nodes {
		bus := freePort(t)
		server := ownRedis(t, freePort(t), "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus))
		client := redis.NewClient(&redis.Options{Addr: server.address()})
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
		addresses = append(addresses, server.address())
		clients = append(clients, client)
	}
	for node, client := range clients {
		err := until(t.Context(), func(ctx context.Context) error {
			info, err := client.ClusterInfo(ctx).Result()
			if err == nil && (!strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", nodes))) {
				err = fmt.Errorf("not joined yet:\n%s", info)
			}
			return err
		})
		if err != nil {
			t.Fatalf("node %d of the cluster: %v", node, err)
		}
	}
	return addresses
}

// until repeats an attempt until it succeeds, for as long as servers may take to start.
func until(ctx context.Context, attempt func(context.Context) error) error {
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

// freePort gives a port of the loopback that nothing listens on.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}
