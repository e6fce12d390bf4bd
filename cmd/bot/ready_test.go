package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestNearby(t *testing.T) {
	for listen, want := range map[string]string{
		":9090": "localhost:9090", "0.0.0.0:9090": "localhost:9090", "[::]:9090": "localhost:9090",
		"127.0.0.1:9090": "127.0.0.1:9090", "10.0.0.3:80": "10.0.0.3:80",
		"": "", "9090": "", "127.0.0.1:0": "",
	} {
		if got, err := nearby(listen); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", listen, got, err)
		}
	}
}

// TestReadyAsksTheProcess asks one that serves, and where none does.
func TestReadyAsksTheProcess(t *testing.T) {
	t.Parallel()
	o := &program{t: t}
	address := "127.0.0.1:" + strconv.Itoa(servertest.FreePort(t))
	o.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_TELEMETRY_LISTEN="+address)
	o.readHandbook()
	p := o.start(regexp.MustCompile(`Ask at`))
	if out, err := o.command("ready").CombinedOutput(); err != nil || !strings.Contains(string(out), `"ready"`) {
		t.Errorf("while it serves: %v\n%s", err, out)
	}
	p.end(syscall.SIGTERM)
	if out, err := o.command("ready").CombinedOutput(); err == nil || !strings.Contains(string(out), "is `cairn serve` running") {
		t.Errorf("after it: %v\n%s", err, out)
	}
}

// TestProcessesThatStartTogetherMakeOneIndex starts some on a database that knows nothing.
func TestProcessesThatStartTogetherMakeOneIndex(t *testing.T) {
	t.Parallel()
	o := &program{t: t}
	o.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(),
		"CAIRN_REDIS_URL="+servertest.Redis(t), "CAIRN_POSTGRES_URL="+servertest.Postgres(t))
	if out, err := o.command("migrate").CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	var together sync.WaitGroup
	for range 4 {
		p := &process{t: t, command: o.command("serve", "--role", "worker")}
		p.command.Stdout, p.command.Stderr = p, p
		together.Go(func() {
			if err := p.command.Start(); err != nil {
				t.Error(err)
				return
			}
			works := o.wait(func() bool { return strings.Contains(p.String(), "Working at what is queued") })
			if err := p.command.Process.Signal(syscall.SIGTERM); err != nil || !works {
				t.Errorf("a process does not work: %v\n%s", err, p)
			}
			if err := p.command.Wait(); err != nil {
				t.Errorf("a process ended with %v\n%s", err, p)
			}
		})
	}
	together.Wait()
}
