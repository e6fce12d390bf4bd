package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestInterruptedCommandsFail has commands begin that are interrupted already.
func TestInterruptedCommandsFail(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{"ingest", "../../docs"}, {"doctor"}} {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		code := run(ctx, append(args, "--data", filepath.Join(t.TempDir(), "data")), stdio{In: os.Stdin, Out: file, Err: file})
		said, err := os.ReadFile(file.Name())
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		if code != exitFailed || len(said) == 0 {
			t.Errorf("%v ended with %d: %s", args, code, said)
		}
	}
}

// TestAskedBackOffATerminal asks what means several things where nobody can say which: the
// readings are printed, the exit code tells, and no run is left waiting.
func TestAskedBackOffATerminal(t *testing.T) {
	t.Parallel()
	pages, data := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"ci.md":   "# Continuous integration\n\n## Token for the pipeline\n\nThe pipeline reads its token from the vault. Ask the platform team for a token.\n",
		"chat.md": "# Chat bot\n\n## Token for the chat bot\n\nThe chat bot needs a token from the chat workspace. An admin of the workspace creates the token.\n",
		"api.md":  "# Public interface\n\n## Token for the interface\n\nEach client of the interface sends a token in a header. Create a token in your profile.\n",
	} {
		if err := os.WriteFile(filepath.Join(pages, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nobody, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	say := func(args ...string) (code int, said string) {
		t.Helper()
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		code = run(t.Context(), append(args, "--data", data), stdio{In: nobody, Out: file, Err: file})
		content, err := os.ReadFile(file.Name())
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		return code, string(content)
	}
	if code, said := say("ingest", pages); code != exitOK {
		t.Fatalf("ingest ended with %d: %s", code, said)
	}
	const asked = "where do I get the token of this vendor?"
	for _, args := range [][]string{{"ask", asked}, {"ask", "--json", asked}} {
		code, said := say(args...)
		if code != exitAsked {
			t.Errorf("%v ended with %d: %s", args, code, said)
		}
		for _, reading := range []string{"Continuous integration", "Chat bot", "Public interface"} {
			if !strings.Contains(said, reading) {
				t.Errorf("%v does not offer %q: %s", args, reading, said)
			}
		}
	}
	if code, said := say("runs", "--status", "waiting"); code != exitOK || strings.Contains(said, "run-") {
		t.Errorf("waiting runs (%d): %s", code, said)
	}
	if code, said := say("ask", "how does the chat bot get its token?"); code != exitOK {
		t.Errorf("a clear question ended with %d: %s", code, said)
	}
}

// TestCtrlCEndsAWaitForAReply presses Ctrl-C on a real terminal while a command waits for a
// reply to what it asked back.
func TestCtrlCEndsAWaitForAReply(t *testing.T) {
	t.Parallel()
	o := &program{t: t, env: append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir())}
	ledger := t.TempDir()
	if err := os.WriteFile(filepath.Join(ledger, "ledger.md"), []byte("# Ledger\n\nWarning: the ledger has no fallback.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	command := o.command("analyze", ledger, "what are the risks?")
	command.Dir = t.TempDir()
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
	var mu sync.Mutex
	var said bytes.Buffer
	shows := func(text string) bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(said.String(), text)
	}
	go func() {
		block := make([]byte, 4096)
		for {
			n, err := master.Read(block)
			mu.Lock()
			said.Write(block[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	if !o.wait(func() bool { return shows("Approve it,") }) {
		t.Fatalf("it did not ask back:\n%s", said.String())
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	pressed := time.Time{}
	if !o.wait(func() bool { // pressed again, since the question may stand there a moment before the reply is read
		if !shows("interrupted") && time.Since(pressed) > time.Second {
			pressed = time.Now()
			if _, err := io.WriteString(master, "\x03"); err != nil {
				return true
			}
		}
		select {
		case err = <-ended:
			return true
		default:
			return false
		}
	}) {
		t.Fatalf("it goes on after Ctrl-C: %v", command.Process.Kill())
	}
	exit, _ := errors.AsType[*exec.ExitError](err)
	if exit == nil || exit.ExitCode() != exitFailed || !o.wait(func() bool { return shows("interrupted") }) { // the terminal may be read later
		t.Errorf("it ended with %v:\n%s", err, said.String())
	}
}
