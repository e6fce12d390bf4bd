package mcp

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var everything = flag.String("everything", "", "the program of npm's server-everything, which is read as well; empty: our own server alone")

// TestServers reads servers twice: all that they list, and nothing new.
func TestServers(t *testing.T) {
	all := map[string]func(t *testing.T) *Source{
		"our own": func(t *testing.T) *Source {
			w := newWorld(t)
			w.put(sdk.Resource{URI: "a:b", Name: "b"}, "text", nil)
			return w.source()
		},
	}
	if *everything != "" {
		all["server-everything as a process"] = func(*testing.T) *Source {
			return New(Options{Source: "all", Command: []string{"node", *everything, "stdio"}})
		}
		all["server-everything over HTTP"] = func(t *testing.T) *Source {
			return New(Options{Source: "all", URL: startEverything(t), AllowPrivate: true})
		}
	}
	for name, open := range all {
		t.Run(name, func(t *testing.T) {
			source := open(t)
			changes, err := syncAll(t, source, nil)
			if err != nil || len(changes) == 0 {
				t.Fatalf("%d resources, %v", len(changes), err)
			}
			known := connect.Known{}
			for uri, change := range changes {
				if change.Kind != connect.Upserted || change.Document.Title == "" || len(change.Content) == 0 {
					t.Errorf("%s: kind %d, title %q, %v", uri, change.Kind, change.Document.Title, change.Reason)
				}
				known[change.Document.ID] = change.Document.Hash
			}
			t.Logf("%d resources", len(changes))
			again, err := syncAll(t, source, known)
			for uri, change := range again {
				if change.Kind != connect.Unchanged {
					t.Errorf("%s: kind %d when nothing changed", uri, change.Kind)
				}
			}
			if err != nil || len(again) != len(changes) {
				t.Errorf("%d resources, then %d, %v", len(changes), len(again), err)
			}
		})
	}
}

// startEverything starts server-everything over HTTP and gives its address once it listens.
func startEverything(t *testing.T) string {
	t.Helper()
	port := strconv.Itoa(servertest.FreePort(t))
	command := exec.CommandContext(t.Context(), "node", *everything, "streamableHttp")
	command.Env = append(os.Environ(), "PORT="+port)
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Kill(); err == nil {
			command.Wait() //nolint:errcheck // it was killed
		}
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening on port") {
			go func() { // or the server stands still once its words fill the pipe
				for lines.Scan() {
				}
			}()
			return "http://127.0.0.1:" + port + "/mcp"
		}
	}
	t.Fatal("server-everything ended before it listened")
	return ""
}

// TestServersAreSearched asks the tool echo, which gives back what it is sent, and lets the others be.
func TestServersAreSearched(t *testing.T) {
	all := map[string]func(t *testing.T) Options{
		"our own": func(t *testing.T) Options {
			w := &toolWorld{world: newWorld(t)}
			w.tool("echo", takesQuery, false, says("Echo: badges"))
			return Options{Source: "all", URL: w.url, AllowPrivate: true}
		},
	}
	if *everything != "" {
		all["server-everything as a process"] = func(*testing.T) Options {
			return Options{Source: "all", Command: []string{"node", *everything, "stdio"}}
		}
		all["server-everything over HTTP"] = func(t *testing.T) Options {
			return Options{Source: "all", URL: startEverything(t), AllowPrivate: true}
		}
	}
	for name, options := range all {
		t.Run(name, func(t *testing.T) {
			live := NewLive(options(t), []string{"echo"})
			defer live.Close()
			for range 2 {
				if found, failed := live.Search(t.Context(), "badges"); len(failed) > 0 || len(found) != 1 || !strings.Contains(found[0].Text, "badges") {
					t.Errorf("%+v, %v", found, failed)
				}
			}
			readOnly := NewLive(options(t), []string{AnyReadOnly})
			defer readOnly.Close()
			found, failed := readOnly.Search(t.Context(), "badges")
			t.Logf("marked as read-only: %d findings, %v, asked %+v", len(found), failed, readOnly.tools)
		})
	}
}
