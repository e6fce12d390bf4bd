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

// TestCtrlCEndsAWaitForAReply presses Ctrl-C on a real terminal while a command waits for a
// reply to what it asked back.
func TestCtrlCEndsAWaitForAReply(t *testing.T) {
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
	if !o.wait(func() bool { // pressed again, since the question may stand there a moment before the reply is read
		if _, err := io.WriteString(master, "\x03"); err != nil {
			return true
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
	if exit == nil || exit.ExitCode() != exitFailed || !shows("interrupted") {
		t.Errorf("it ended with %v:\n%s", err, said.String())
	}
}
