package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// The versions of what backends store. One is raised when the meaning of its form
// changes; what has a newer one is refused.
const (
	jobVersion    = 1
	recordVersion = 1
)

// ErrNewer is the error for what a newer program has stored. In the middle of an upgrade it
// is for the workers that run that program already.
var ErrNewer = errors.New("it was stored by a newer program: upgrade this one")

// checkVersion refuses a version that this program does not read.
func checkVersion(version, newest int) error {
	switch {
	case version > newest:
		return fmt.Errorf("it has version %d, this program knows %d: %w", version, newest, ErrNewer)
	case version < 1:
		return fmt.Errorf("invalid version %d", version)
	}
	return nil
}

// storedJob is a job as backends keep it. When it was enqueued and how often it was
// tried stand beside it.
type storedJob struct {
	Version int            `json:"version"`
	Event   EventID        `json:"event"`
	Kind    Kind           `json:"kind"`
	Run     chat.RunID     `json:"run,omitempty"`
	ID      chat.MessageID `json:"id,omitempty"`
	Thread  chat.ThreadID  `json:"thread"`
	Lane    Lane           `json:"lane,omitempty"`
	Author  chat.UserID    `json:"author,omitempty"`
	Text    string         `json:"text,omitempty"`
	Depth   chat.Depth     `json:"depth,omitempty"`
	At      time.Time      `json:"at,omitzero"`
	Press   *storedPress   `json:"press,omitempty"`
	// Collections that it may be answered from.
	Collections []string        `json:"collections,omitempty"`
	Asker       *storedIdentity `json:"asker,omitempty"`
	Files       []storedFile    `json:"files,omitempty"`
	// Shared and Before are what the message brings of others' messages.
	Shared []storedSaid `json:"shared,omitempty"`
	Before []storedSaid `json:"before,omitempty"`
}

type storedIdentity struct {
	Name     string   `json:"name,omitempty"`
	Email    string   `json:"email,omitempty"`
	Groups   []string `json:"groups,omitempty"`
	Channels []string `json:"channels,omitempty"`
	Team     string   `json:"team,omitempty"`
	Guest    bool     `json:"guest,omitempty"`
	External bool     `json:"external,omitempty"`
	Holds    []string `json:"holds,omitempty"`
	Local    bool     `json:"local,omitempty"`
}

type storedSaid struct {
	Author string    `json:"author,omitempty"`
	Text   string    `json:"text"`
	App    bool      `json:"app,omitempty"`
	Self   bool      `json:"self,omitempty"`
	At     time.Time `json:"at,omitzero"`

	Thread  chat.ThreadID  `json:"thread,omitempty"`
	Message chat.MessageID `json:"message,omitempty"`
}

func storeSaid(list []chat.Said) []storedSaid {
	var stored []storedSaid
	for _, said := range list {
		stored = append(stored, storedSaid(said))
	}
	return stored
}

func restoreSaid(list []storedSaid) []chat.Said {
	var restored []chat.Said
	for _, said := range list {
		restored = append(restored, chat.Said(said))
	}
	return restored
}

type storedPress struct {
	Question string `json:"question"`
	Choice   string `json:"choice"`
}

type storedFile struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type,omitempty"`
	Size      int64  `json:"size,omitempty"`
}

// EncodeJob returns a job as backends store it. It refuses one that lacks its event or
// thread, or is larger than MaxJob (ErrTooLarge).
func EncodeJob(job Job) ([]byte, error) {
	if job.Event == "" || job.Thread() == "" {
		return nil, fmt.Errorf("job of thread %q, event %q: it needs both", job.Thread(), job.Event)
	}
	if err := job.Lane.check(); err != nil {
		return nil, fmt.Errorf("job of event %s: %w", job.Event, err)
	}
	m := job.Message
	stored := storedJob{
		Version: jobVersion, Event: job.Event, Kind: job.Kind, Run: job.Run,
		ID: m.ID, Thread: m.Thread, Lane: job.Lane, Author: m.Author, Text: m.Text, Depth: m.Depth, At: m.At,
		Collections: m.Collections, Asker: (*storedIdentity)(m.Asker), Shared: storeSaid(m.Shared), Before: storeSaid(m.Before),
	}
	if stored.Kind == "" {
		stored.Kind = Said
	}
	if m.Answers != nil {
		stored.Press = &storedPress{m.Answers.Question, m.Answers.Choice}
	}
	for _, file := range m.Files {
		stored.Files = append(stored.Files, storedFile(file))
	}
	body, err := json.Marshal(stored)
	if err != nil {
		return nil, fmt.Errorf("job of event %s: %w", job.Event, err)
	}
	if len(body) > MaxJob {
		return nil, fmt.Errorf("job of event %s: %d bytes, at most %d are taken: %w", job.Event, len(body), MaxJob, ErrTooLarge)
	}
	return body, nil
}

// DecodeJob reads what EncodeJob gave.
func DecodeJob(body []byte) (Job, error) {
	var stored storedJob
	if err := json.Unmarshal(body, &stored); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	if err := checkVersion(stored.Version, jobVersion); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	if stored.Event == "" || stored.Thread == "" {
		return Job{}, fmt.Errorf("read job: it lacks its event or its thread")
	}
	if err := stored.Lane.check(); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	job := Job{Event: stored.Event, Kind: stored.Kind, Run: stored.Run, Lane: stored.Lane, Message: chat.Message{
		ID: stored.ID, Thread: stored.Thread, Author: stored.Author, Text: stored.Text, Depth: stored.Depth, At: stored.At,
		Collections: stored.Collections, Asker: (*chat.Identity)(stored.Asker), Shared: restoreSaid(stored.Shared), Before: restoreSaid(stored.Before),
	}}
	if stored.Press != nil {
		job.Message.Answers = &chat.Press{Question: stored.Press.Question, Choice: stored.Press.Choice}
	}
	for _, file := range stored.Files {
		job.Message.Files = append(job.Message.Files, chat.File(file))
	}
	return job, nil
}

// storedRecord is a record as backends keep it; its id and its ratings stand beside it.
type storedRecord struct {
	Version     int             `json:"version"`
	Thread      chat.ThreadID   `json:"thread"`
	Flow        string          `json:"flow"`
	Author      chat.UserID     `json:"author"`
	Message     chat.MessageID  `json:"message"`
	Request     string          `json:"request"`
	Depth       chat.Depth      `json:"depth,omitempty"`
	Collections []string        `json:"collections,omitempty"`
	Asker       *storedIdentity `json:"asker,omitempty"`
	Transitions []Transition    `json:"transitions"`
	Trace       chat.Trace      `json:"trace"`
}

// EncodeRecord returns a record, all but its id and ratings, as backends store it.
func EncodeRecord(record Record) ([]byte, error) {
	return json.Marshal(storedRecord{
		Version: recordVersion, Thread: record.Thread, Flow: record.Flow, Author: record.Author, Message: record.Message,
		Request: record.Request, Depth: record.Depth, Collections: record.Collections, Asker: (*storedIdentity)(record.Asker), Transitions: record.Transitions, Trace: record.Trace,
	})
}

// DecodeRecord reads what EncodeRecord gave.
func DecodeRecord(run chat.RunID, body []byte) (Record, error) {
	var kept storedRecord
	if err := json.Unmarshal(body, &kept); err != nil {
		return Record{}, err
	}
	if err := checkVersion(kept.Version, recordVersion); err != nil {
		return Record{}, err
	}
	return Record{
		ID: run, Thread: kept.Thread, Flow: kept.Flow, Author: kept.Author, Message: kept.Message,
		Request: kept.Request, Depth: kept.Depth, Collections: kept.Collections, Asker: (*chat.Identity)(kept.Asker), Transitions: kept.Transitions, Trace: kept.Trace,
	}, nil
}

// Check refuses an event that is too large to be kept (ErrTooLarge).
func (e Event) Check() error {
	if len(e.Body) > MaxEvent {
		return fmt.Errorf("event %s of run %s: %d bytes, at most %d are taken: %w", e.Kind, e.Run, len(e.Body), MaxEvent, ErrTooLarge)
	}
	return nil
}

// Check refuses a delivery that has no key, or is too large to be kept (ErrTooLarge).
func (d Delivery) Check() error {
	if d.Key == "" {
		return fmt.Errorf("a delivery of run %s has no key", d.Run)
	}
	if len(d.Body) > MaxEvent {
		return fmt.Errorf("delivery %s: %d bytes, at most %d are taken: %w", d.Key, len(d.Body), MaxEvent, ErrTooLarge)
	}
	return nil
}
