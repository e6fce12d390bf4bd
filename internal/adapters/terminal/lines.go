package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// longestLine is the most bytes of a message that comes through a pipe.
const longestLine = 1 << 20

// lines gives what a person writes, one message at a time.
type lines interface {
	// readMessage waits for a message; io.EOF when there are no more, which includes Ctrl-C
	// and Ctrl-D at the prompt, and cancel.
	readMessage() (string, error)
	// cancel ends a waiting next and all later ones; safe for use at any time.
	cancel()
	close() error
}

func openLines(in *os.File, out io.Writer) (lines, error) {
	reader, err := OpenReader(in)
	if err != nil {
		return nil, fmt.Errorf("read from %s: %w", in.Name(), err)
	}
	if IsTerminal(in) {
		return newEditor(in, reader, out), nil
	}
	scanner := bufio.NewScanner(reader)
	scanner.Buffer(nil, longestLine)
	return &pipeReader{reader: reader, scanner: scanner}, nil
}

// OpenReader makes reads of a file that may keep one waiting end on demand. Regular
// files and null devices never do, and can't be polled either.
func OpenReader(in *os.File) (cancelreader.CancelReader, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if IsTerminal(in) || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return cancelreader.NewReader(in)
	}
	return cancelreader.NewReader(struct{ io.Reader }{in})
}

// pipeReader reads messages from what is no terminal, one a line.
type pipeReader struct {
	reader  cancelreader.CancelReader
	scanner *bufio.Scanner
}

func (p *pipeReader) readMessage() (string, error) {
	if p.scanner.Scan() {
		return p.scanner.Text(), nil
	}
	switch err := p.scanner.Err(); {
	case err == nil || errors.Is(err, cancelreader.ErrCanceled):
		return "", io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return "", fmt.Errorf("read a message: a line is longer than %d bytes; break it up", longestLine)
	default:
		return "", fmt.Errorf("read a message: %w", err)
	}
}

func (p *pipeReader) cancel()      { p.reader.Cancel() }
func (p *pipeReader) close() error { return p.reader.Close() }

// editor reads messages from a terminal, with a prompt, editing, a history, and
// pasted lines kept together. The terminal is raw only while the editor waits, so
// that Ctrl-C is a signal while the bot works.
type editor struct {
	in       *os.File
	reader   cancelreader.CancelReader
	terminal *term.Terminal
}

const (
	prompt     = "› "
	promptMore = "… "
	// continuation at the end of a typed line has the message go on in the next one.
	continuation = `\`
	// longestTyped is the most characters that the editor takes in a line; it drops
	// the rest.
	longestTyped = 4096
)

func newEditor(in *os.File, reader cancelreader.CancelReader, out io.Writer) *editor {
	both := struct {
		io.Reader
		io.Writer
	}{reader, out}
	return &editor{in, reader, term.NewTerminal(both, prompt)}
}

func (e *editor) readMessage() (message string, err error) {
	old, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		return "", fmt.Errorf("set up the terminal: %w", err)
	}
	defer func() {
		if restoreErr := term.Restore(int(e.in.Fd()), old); restoreErr != nil {
			err = errors.Join(err, fmt.Errorf("restore the terminal: %w", restoreErr))
		}
	}()
	if width, height, err := term.GetSize(int(e.in.Fd())); err == nil {
		if err := e.terminal.SetSize(width, height); err != nil {
			return "", fmt.Errorf("set the terminal's size: %w", err)
		}
	}
	e.terminal.SetBracketedPasteMode(true)
	defer e.terminal.SetBracketedPasteMode(false)
	return e.readTyped()
}

func (e *editor) readTyped() (string, error) {
	defer e.terminal.SetPrompt(prompt)
	var message []string
	for {
		typed, err := e.terminal.ReadLine()
		pasted := errors.Is(err, term.ErrPasteIndicator)
		if errors.Is(err, cancelreader.ErrCanceled) {
			return "", io.EOF
		}
		if err != nil && !pasted {
			return "", err
		}
		if utf8.RuneCountInString(typed) >= longestTyped {
			return "", errLineTooLong
		}
		more, continued := strings.CutSuffix(typed, continuation)
		if continued && !pasted {
			typed = more
		}
		message = append(message, typed)
		if !pasted && !continued {
			return strings.TrimRight(strings.Join(message, "\n"), "\n"), nil
		}
		e.terminal.SetPrompt(promptMore)
	}
}

// errLineTooLong is what the person is told, who may then go on.
var errLineTooLong = fmt.Errorf("a line of %d characters or more can't be typed here; break it up, or pipe it in", longestTyped)

func (e *editor) cancel()      { e.reader.Cancel() }
func (e *editor) close() error { return e.reader.Close() }
