package relay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/inspect/relay/relaytest"
)

var (
	socketIO = flag.String("socketio", "", "a node_modules folder with socket.io and socket.io-client, which the tests have as relay and app as well; empty: those in Go alone")
	node     = flag.String("socketio.node", "node", "the Node.js that they run on")
)

// relays are the relays at hand, by their names.
func relays(t *testing.T) map[string]func(*testing.T) string {
	t.Helper()
	all := map[string]func(*testing.T) string{"our relay": func(t *testing.T) string { return startRelay(t) }}
	if *socketIO != "" {
		all["npm relay"] = func(t *testing.T) string {
			lines, _ := startNode(t, "server.cjs")
			return "http://127.0.0.1:" + <-lines
		}
	}
	return all
}

// apps are the apps at hand. What each starts gives the first calls that it was asked.
func apps() map[string]func(t *testing.T, address, channel string) func(most int) []string {
	all := map[string]func(t *testing.T, address, channel string) func(int) []string{
		"our app": func(t *testing.T, address, channel string) func(int) []string {
			app := relaytest.StartApp(t, address, channel, relaytest.Plain)
			return func(int) []string { return app.Calls() }
		},
	}
	if *socketIO == "" {
		return all
	}
	for _, transports := range []string{"polling,websocket", "polling", "websocket"} {
		all["npm app over "+transports] = func(t *testing.T, address, channel string) func(int) []string {
			return startNodeApp(t, address, channel, transports)
		}
	}
	return all
}

func startNodeApp(t *testing.T, address, channel, transports string) func(int) []string {
	t.Helper()
	lines, in := startNode(t, "app.cjs", address, channel, transports)
	answers := make(map[string]any)
	for _, target := range []string{"GET_WIDGET_TREE", "GET_PROPERTIES_N_STYLES"} {
		answers[target] = relaytest.Reply(relaytest.Plain, target)
	}
	if err := json.NewEncoder(in).Encode(answers); err != nil {
		t.Fatal(err)
	}
	upgraded := transports != "polling,websocket"
	joined := false
	for !upgraded || !joined {
		line, ok := <-lines
		if !ok {
			t.Fatal("the app ended")
		}
		upgraded = upgraded || line == "upgraded to websocket"
		joined = joined || line == "joined"
	}
	return func(most int) []string {
		var calls []string
		for len(calls) < most {
			line, ok := <-lines
			if !ok {
				break
			}
			if target, ok := strings.CutPrefix(line, "called "); ok && target != "SAY_HELLO" {
				calls = append(calls, target)
			}
		}
		return calls
	}
}

// startNode runs a program of testdata/socketio until the test ends. It gives its lines.
func startNode(t *testing.T, program string, arguments ...string) (<-chan string, io.Writer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	command := exec.CommandContext(ctx, *node, append([]string{filepath.Join("testdata", "socketio", program)}, arguments...)...)
	command.Env = append(os.Environ(), "NODE_PATH="+*socketIO)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		t.Logf("%s ended: %v", program, command.Wait()) // it was killed
	})
	return lines, in
}
