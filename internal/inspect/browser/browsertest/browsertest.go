// Package browsertest starts a Chromium as it runs beside Cairn, for tests.
package browsertest

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
)

// Isolating are the flags that a Chromium beside Cairn needs.
var Isolating = []string{"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--enable-automation"}

var debuggedAt = regexp.MustCompile(`DevTools listening on ws://(127\.0\.0\.1:\d+)/`)

// Start starts a Chromium with flags and gives its address, "http://127.0.0.1:41234", and what ends it
// before the test does.
func Start(t *testing.T, flags ...string) (address string, end func()) {
	t.Helper()
	program := os.Getenv("CAIRN_TEST_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); program == "" && err == nil {
			program = found
		}
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0", "--user-data-dir=" + t.TempDir(),
	}, flags...)...)
	told, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("%v: install Chromium, or name it in CAIRN_TEST_CHROMIUM", err)
	}
	var reading sync.WaitGroup
	end = sync.OnceFunc(func() {
		command.Process.Kill() //nolint:errcheck // it may have ended
		reading.Wait()
		command.Wait() //nolint:errcheck // it was killed
	})
	t.Cleanup(end)
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		if found := debuggedAt.FindStringSubmatch(lines.Text()); found != nil {
			reading.Go(func() { io.Copy(io.Discard, told) }) //nolint:errcheck // so that it never waits to be read
			return "http://" + found[1], end
		}
	}
	t.Fatal("Chromium tells no address")
	return "", end
}
