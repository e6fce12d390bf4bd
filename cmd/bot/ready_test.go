package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cairn/internal/servertest"
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
