package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// underLoad is the build that load is measured on: the one that people run, since a test
// binary has twice as much in it.
var underLoad = flag.String("program", "", "the build of Cairn under load; without it: this test binary")

// program is the real program in an environment of its own.
type program struct {
	t    *testing.T
	env  []string
	file string // the build; "" for this binary where it serves, and for a plain build else
}

// handbook is what the team's documents say.
var handbook = map[string]string{
	"laptops.md": "# Laptops\n\n## Getting one\n\nYou get a laptop from the help desk in room 12.\n\n## Returning one\n\nReturn your laptop on a Thursday, between 9 and 11.\n",
	"leave.md":   "# Leave\n\nYou have 28 days of leave a year.\n",
	"billing.md": "# Billing\n\nInvoices of the vendor of phones are kept for ten years. Invoices of the vendor of chairs are kept for two years.\n",
}

// readHandbook has the handbook read into the index.
func (o *program) readHandbook() {
	o.t.Helper()
	folder := o.t.TempDir()
	for name, text := range handbook {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	commands := [][]string{{"migrate"}, {"ingest", "-q", folder}}
	if !slices.ContainsFunc(o.env, func(variable string) bool { return strings.HasPrefix(variable, "CAIRN_POSTGRES_URL=") }) {
		commands = commands[1:]
	}
	for _, args := range commands {
		if out, err := o.command(args...).CombinedOutput(); err != nil {
			o.t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// plainFolder is where buildPlain puts the program; removePlain ends it.
var plainFolder string

// buildPlain builds the program as people run it, once, and gives the file. A process of it
// starts in a third of the time that the test binary takes with the race detector in it.
var buildPlain = sync.OnceValues(func() (file string, err error) {
	if plainFolder, err = os.MkdirTemp("", "cairn-plain-"); err != nil {
		return "", err
	}
	file = filepath.Join(plainFolder, "cairn")
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", file, ".") //nolint:noctx // all tests use what it makes
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

func removePlain() error {
	if plainFolder == "" {
		return nil
	}
	return os.RemoveAll(plainFolder)
}

// racedTests serve with the race detector: in them many messages come at once, or processes die.
var racedTests = regexp.MustCompile("Chaos|Busy|EndToEnd|IsDown|Killed|Load|TakesOver|WhileTheProgramDies")

// command is the real program, called as people call it. In some tests what serves is this binary,
// whose races are detected; all else is judged by its output.
func (o *program) command(args ...string) *exec.Cmd {
	file, err := o.file, error(nil)
	switch {
	case file != "":
	case len(args) > 0 && args[0] == "serve" && racedTests.MatchString(o.t.Name()):
		file, err = os.Executable()
	default:
		file, err = buildPlain()
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return &exec.Cmd{Path: file, Args: append([]string{"cairn"}, args...), Env: o.env}
}

// process is a running `cairn serve`.
type process struct {
	t       *testing.T
	command *exec.Cmd
	address string // that the line told by which it said that it is ready
	read    sync.WaitGroup
	mu      sync.Mutex
	said    bytes.Buffer
}

func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

func (p *process) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// start starts `cairn serve` and waits for the line by which it says that it is ready,
// which may tell an address.
func (o *program) start(ready *regexp.Regexp, args ...string) *process {
	o.t.Helper()
	p := &process{t: o.t, command: o.command(append([]string{"serve"}, args...)...)}
	p.command.Stderr = p
	out, err := p.command.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		if p.command.ProcessState == nil {
			p.end(syscall.SIGTERM)
		}
		if o.t.Failed() {
			o.t.Logf("the program said:\n%s", p)
		}
	})
	begun := make(chan []string, 1)
	p.read.Go(func() {
		defer close(begun)
		told := false
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := ready.FindStringSubmatch(lines.Text()); found != nil && !told {
				told = true
				begun <- found
			}
			if _, err := io.WriteString(p, lines.Text()+"\n"); err != nil {
				return
			}
		}
	})
	found, ok := <-begun
	if !ok {
		o.t.Fatalf("the program did not start:\n%s", p)
	}
	p.address = strings.Join(found[1:], "")
	return p
}

// end ends the process by a signal and waits until it is gone. Asked to end, it must do so
// without an error.
func (p *process) end(by syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(by); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
	p.read.Wait()
	if err := p.command.Wait(); err != nil && by == syscall.SIGTERM {
		p.t.Errorf("asked to end: %v\n%s", err, p)
	}
}

// wait waits for something that people see; false where it never comes.
func (o *program) wait(seen func() bool) bool {
	o.t.Helper()
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !seen() {
		select {
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// isUnsaid looks for what must not be logged: secrets, and what people and documents say.
func (o *program) isUnsaid(processes []*process, secrets ...string) {
	o.t.Helper()
	for _, p := range processes {
		for _, secret := range append(secrets, "laptop", "vendor", "Thursday") {
			if strings.Contains(p.String(), secret) {
				o.t.Errorf("%q is in the log:\n%s", secret, p)
			}
		}
	}
}

// examines runs cairn doctor and gives what it says; bad is whether it found fault.
func (o *program) examines(bad bool, args ...string) string {
	o.t.Helper()
	out, err := o.command(append([]string{"doctor"}, args...)...).CombinedOutput()
	if (err != nil) != bad {
		o.t.Errorf("doctor: %v\n%s", err, out)
	}
	return string(out)
}
