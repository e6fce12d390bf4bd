// Package session reads what was recorded of an app: a file <name>.wavepulse.zip, with one
// <key>.json for each thing that was recorded. What the app stored, and its databases, are
// never read.
package session

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// Ending is how the name of a session file ends.
const Ending = ".wavepulse.zip"

// maxFiles is how many files of a zip are looked at.
const maxFiles = 100

// Session is what was recorded. It implements inspect.Layer.
type Session struct {
	Root   *inspect.Element          `json:"tree,omitempty"` // nil where no tree was recorded
	Shown  map[string]inspect.Detail `json:"details,omitempty"`
	Record inspect.Events            `json:"events"`
}

var _ inspect.Layer = (*Session)(nil)

// IsName tells whether a file is a session by its name.
func IsName(name string) bool { return strings.HasSuffix(strings.ToLower(name), Ending) }

// Read reads a session file.
func Read(content []byte) (*Session, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("read session file: %w", err)
	}
	s := &Session{}
	read := 0
	for i, file := range archive.File {
		if i == maxFiles {
			break
		}
		key, ok := strings.CutSuffix(path.Base(file.Name), ".json")
		if !ok || !wanted[key] {
			continue
		}
		content, err := readEntry(file)
		if err != nil {
			return nil, fmt.Errorf("read session file: %s: %w", key, err)
		}
		if err := s.record(key, content); err != nil {
			return nil, fmt.Errorf("read session file: %s: %w", key, err)
		}
		read++
	}
	if read == 0 {
		return nil, errors.New("read session file: it has no tree, timeline, requests or logs: export it again from the debugger")
	}
	return s, nil
}

// wanted are the keys that are read. The others, storage and databases among them, are not.
var wanted = map[string]bool{"componentTree": true, "timelineLogs": true, "requests": true, "logs": true}

func readEntry(file *zip.File) ([]byte, error) {
	opened, err := file.Open()
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(opened, inspect.MaxBytes+1))
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, err
	}
	if len(content) > inspect.MaxBytes {
		return nil, fmt.Errorf("larger than the %d MiB that are read", inspect.MaxBytes>>20)
	}
	return content, nil
}

func (s *Session) record(key string, content []byte) error {
	switch key {
	case "componentTree":
		if bytes.Equal(bytes.TrimSpace(content), []byte("null")) {
			return nil
		}
		tree, details, err := inspect.DecodeTree(content)
		if err != nil {
			return err
		}
		s.Root, s.Shown = &tree, details
	case "timelineLogs":
		s.Record.Pages = inspect.DecodeTimeline(content)
	case "requests":
		s.Record.Requests = inspect.DecodeRequests(content)
	case "logs":
		s.Record.Messages = inspect.DecodeLogs(content)
	}
	return nil
}

// maxEncoded is the length of a session as text, in bytes.
const maxEncoded = 300 << 10

// Encode writes the session as text, to be read by Decode.
func (s *Session) Encode() (string, error) {
	for {
		text, err := json.Marshal(s)
		if err != nil {
			return "", fmt.Errorf("encode session: %w", err)
		}
		switch {
		case len(text) <= maxEncoded:
			return string(text), nil
		case len(s.Shown) > 0: // what can be asked again goes first
			s.Shown = nil
		case len(s.Record.Messages)+len(s.Record.Requests) > 0:
			s.Record.Messages, s.Record.Requests = nil, nil
		default:
			return "", errors.New("encode session: its tree is too large")
		}
	}
}

// Decode reads a session that Encode wrote.
func Decode(text string) (*Session, error) {
	if err := inspect.CheckDepth([]byte(text)); err != nil {
		return nil, fmt.Errorf("decode session: %w", err)
	}
	var s Session
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("decode session: %w", err)
	}
	return &s, nil
}

// Tree implements inspect.Layer.
func (s *Session) Tree(context.Context) (inspect.Element, error) {
	if s.Root == nil {
		return inspect.Element{}, &inspect.UnknownError{What: "the tree of the widgets"}
	}
	return *s.Root, nil
}

// Detail implements inspect.Layer.
func (s *Session) Detail(_ context.Context, id string) (inspect.Detail, error) {
	detail, ok := s.Shown[id]
	if !ok {
		return inspect.Detail{}, &inspect.UnknownError{What: "the state of the widget"}
	}
	return detail, nil
}

// Events implements inspect.Layer.
func (s *Session) Events(context.Context) (inspect.Events, error) { return s.Record, nil }

// File is a session that is read from a file each time: it may be replaced while others ask. It
// implements inspect.Layer.
type File struct{ path string }

var _ inspect.Layer = File{}

// NewFile returns the session in a file, which need not be there yet.
func NewFile(path string) File { return File{path} }

func (f File) read() (*Session, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("read session file: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxZip+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read session file: %w", err)
	}
	if len(content) > maxZip {
		return nil, fmt.Errorf("read session file: larger than the %d MiB that are read", maxZip>>20)
	}
	return Read(content)
}

// maxZip is the size of a session file, in bytes.
const maxZip = 64 << 20

// Tree implements inspect.Layer.
func (f File) Tree(ctx context.Context) (inspect.Element, error) {
	s, err := f.read()
	if err != nil {
		return inspect.Element{}, err
	}
	return s.Tree(ctx)
}

// Detail implements inspect.Layer.
func (f File) Detail(ctx context.Context, id string) (inspect.Detail, error) {
	s, err := f.read()
	if err != nil {
		return inspect.Detail{}, err
	}
	return s.Detail(ctx, id)
}

// Events implements inspect.Layer.
func (f File) Events(ctx context.Context) (inspect.Events, error) {
	s, err := f.read()
	if err != nil {
		return inspect.Events{}, err
	}
	return s.Events(ctx)
}
