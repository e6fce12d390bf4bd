package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// output is the standard output of a command whose result is a file: a reader that stops
// reading, as head does, must not end the command before the file is written. What is written
// after an error is dropped.
type output struct {
	out     io.Writer
	signals chan os.Signal

	mu  sync.Mutex
	err error // the first one
}

// newOutput returns the output, until whose Close no closed pipe ends the process.
func newOutput(out io.Writer) *output {
	o := &output{out: out, signals: make(chan os.Signal, 1)}
	signal.Notify(o.signals, syscall.SIGPIPE)
	return o
}

// Write never fails, see Close.
func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		_, o.err = o.out.Write(text)
	}
	return len(text), nil
}

// Close returns the first error of a Write, but for that of a reader that read enough.
func (o *output) Close() error {
	signal.Stop(o.signals)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && !errors.Is(o.err, syscall.EPIPE) {
		return fmt.Errorf("write to the standard output: %w", o.err)
	}
	return nil
}
