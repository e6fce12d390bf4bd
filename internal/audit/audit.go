// Package audit writes down who did what to Cairn itself: runs that were cancelled or
// replayed, people who were forgotten, settings that were changed, sign-ins and installs.
//
// An entry holds names and ids, never what anybody wrote. It goes to the log stream, as a
// line of JSON at a level above all others, which no setting of the log hides, and to an
// append-only file where one is configured. Entries are few: each is on the disk before
// Record returns.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Log is where entries go. Its method may be called concurrently.
type Log interface {
	// Record writes an entry down. An action whose entry can't be written has to be told of
	// as failed, or not to be begun.
	Record(ctx context.Context, entry Entry) error
}

// Entry is one action. Actor, Action and Outcome are required. Of each text the first 200
// letters are kept, and control characters are not.
type Entry struct {
	Time    time.Time // zero: now
	Actor   string    // who: a user's id or address, or the user of the machine
	Action  Action
	Target  string // what it was done to: a run, a person, a workspace, a setting
	Outcome Outcome
	From    string // where it came from: "terminal", "discord", or the address of a browser
}

// Action is what was done.
type Action string

// The actions that are written down.
const (
	CancelRun     Action = "run.cancel"
	ReplayRun     Action = "run.replay"  // a dead letter, too
	DiscardRun    Action = "run.discard" // a dead letter
	ForgetPerson  Action = "person.forget"
	ChangeSetting Action = "setting.change"
	PinAnswer     Action = "answer.pin"
	UnpinAnswer   Action = "answer.unpin"
	ExportData    Action = "data.export"
	ImportData    Action = "data.import"
	SignIn        Action = "operations.sign_in"
	SignOut       Action = "operations.sign_out"
	WebSignIn     Action = "web.sign_in"
	WebSignOut    Action = "web.sign_out"
	Install       Action = "workspace.install"
	Uninstall     Action = "workspace.uninstall"
)

// Outcome is what came of an action.
type Outcome string

// An action was done, not allowed, or broke.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused"
	Failed  Outcome = "failed"
)

// Of tells the outcome of an action that ended with err: Done or Failed.
func Of(err error) Outcome {
	if err != nil {
		return Failed
	}
	return Done
}

// level is above slog.LevelError, and above every level that log.level can be set to.
const level = slog.Level(100)

// Writer is a Log on the log stream and in a file.
type Writer struct {
	stream *slog.Logger
	file   *slog.Logger // nil: none

	mu     sync.Mutex
	opened *os.File // nil: none
}

var _ Log = (*Writer)(nil)

// Open returns a log that writes to stream and, unless it is "", appends to the file at path,
// which is made for its owner alone. Close it.
func Open(stream io.Writer, path string) (*Writer, error) {
	w := &Writer{stream: newLineLogger(stream)}
	if path == "" {
		return w, nil
	}
	var err error
	if w.opened, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("open the audit log: %w: set audit.file to a path that Cairn's user may write", err)
	}
	w.file = newLineLogger(w.opened)
	return w, nil
}

// newLineLogger returns what writes entries as JSON, one a line.
func newLineLogger(to io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
			if attr.Key == slog.LevelKey {
				return slog.String(slog.LevelKey, "AUDIT")
			}
			return attr
		},
	}))
}

// Record implements Log.
func (w *Writer) Record(ctx context.Context, entry Entry) error {
	if entry.Actor == "" || entry.Action == "" || entry.Outcome == "" {
		return fmt.Errorf("audit %q: an entry needs an actor, an action and an outcome", entry.Action)
	}
	if entry.Time.IsZero() {
		entry.Time = time.Now()
	}
	record := slog.NewRecord(entry.Time.UTC(), level, "audit", 0)
	record.AddAttrs(
		slog.String("actor", truncateText(entry.Actor)), slog.String("action", string(entry.Action)),
		slog.String("target", truncateText(entry.Target)), slog.String("outcome", string(entry.Outcome)),
		slog.String("from", truncateText(entry.From)),
	)
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.stream.Handler().Handle(ctx, record)
	if w.file != nil {
		err = errors.Join(err, w.file.Handler().Handle(ctx, record), w.opened.Sync())
	}
	if err != nil {
		return fmt.Errorf("audit %s: %w", entry.Action, err)
	}
	return nil
}

// Close closes the file; nothing may be recorded after that.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opened == nil {
		return nil
	}
	if err := w.opened.Close(); err != nil {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}

// maxLetters bounds each text of an entry.
const maxLetters = 200

// truncateText cuts what comes from outside.
func truncateText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
	letters := 0
	for at := range text {
		if letters == maxLetters {
			return text[:at]
		}
		letters++
	}
	return text
}
