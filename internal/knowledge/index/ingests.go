package index

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of what is kept of an ingest.
const (
	MaxIngestFailures = 200
	MaxIngestText     = 500 // bytes of a document's id, and of a reason
)

// IngestState is how the last ingest of a source went, or goes.
type IngestState struct {
	Source knowledge.SourceID
	Began  time.Time
	Ended  time.Time // zero: it is under way, or its process died
	// Complete is when an ingest last read the source to its end; zero: none did. It is set
	// by the one that did, and kept by those after it that set none.
	Complete time.Time

	Seen, Changed, Deleted int // documents: looked at, added or updated, taken away
	Passages               int // written
	Failed                 int // documents that could not be read
	Failures               []IngestFailure
	Reason                 string // why it ended before it had read all; "" where it did not

	// Held is how many documents are gone at the source and stay in the index until a person
	// confirms it, because they are too many at once.
	Held int
	// Attempts is how many ingests in a row began and did not end well; 0 after one that did.
	Attempts int
	// NotBefore is when the source may be read again, where it asked to be left alone; else zero.
	NotBefore time.Time
}

// retryPause is how long a source is left alone after a failure, doubled after each further one.
const retryPause = time.Minute

// NextAt gives when a source that is read at an interval is due; one that was never read is due
// at once. After failures it is tried sooner than the interval says, but never before the source
// may be asked again.
func (s IngestState) NextAt(every time.Duration) time.Time {
	due := s.Began.Add(every)
	if s.Began.IsZero() {
		return time.Time{}
	}
	if s.Attempts > 0 {
		const doublings = 10
		due = s.Began.Add(min(retryPause<<min(s.Attempts-1, doublings), every))
	}
	if s.NotBefore.After(due) {
		due = s.NotBefore
	}
	return due
}

// IngestFailure is a document that could not be read.
type IngestFailure struct {
	Document string // its path in the source
	Reason   string
}

// IngestStates is an optional interface of an Index: how the ingest of each source went.
// A reader has the states, too.
type IngestStates interface {
	// SaveIngest replaces the state of a source. Of its failures the first
	// MaxIngestFailures are kept, of each text the first MaxIngestText bytes, and times to
	// the microsecond. It is an error on an index that is open for reading only.
	SaveIngest(ctx context.Context, state IngestState) error
	// IngestStates gives the states of all sources, in the order of their ids.
	IngestStates(ctx context.Context) ([]IngestState, error)
}

// ingestVersion is raised when the meaning of storedIngest changes.
const ingestVersion = 1

// storedIngest is a state as backends keep it. Its source and Complete stand beside it.
type storedIngest struct {
	Version  int             `json:"version"`
	Began    time.Time       `json:"began"`
	Ended    time.Time       `json:"ended,omitzero"`
	Seen     int             `json:"seen"`
	Changed  int             `json:"changed"`
	Deleted  int             `json:"deleted"`
	Passages int             `json:"passages"`
	Failed   int             `json:"failed"`
	Failures []storedFailure `json:"failures,omitempty"`
	Reason   string          `json:"reason,omitempty"`

	Held      int       `json:"held,omitempty"`
	Attempts  int       `json:"attempts,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
}

type storedFailure struct {
	Document string `json:"document"`
	Reason   string `json:"reason"`
}

// EncodeIngest returns a state, all but its source and Complete, as backends store it.
func EncodeIngest(state IngestState) ([]byte, error) {
	if state.Source == "" || state.Began.IsZero() {
		return nil, fmt.Errorf("state of an ingest of source %q that began %s: it needs both", state.Source, state.Began)
	}
	stored := storedIngest{
		Version: ingestVersion, Began: state.Began.UTC().Truncate(time.Microsecond), Ended: state.Ended.UTC().Truncate(time.Microsecond),
		Seen: state.Seen, Changed: state.Changed, Deleted: state.Deleted, Passages: state.Passages,
		Failed: state.Failed, Reason: truncateText(state.Reason),
		Held: state.Held, Attempts: state.Attempts, NotBefore: state.NotBefore.UTC().Truncate(time.Microsecond),
	}
	for _, failure := range state.Failures[:min(len(state.Failures), MaxIngestFailures)] {
		stored.Failures = append(stored.Failures, storedFailure{truncateText(failure.Document), truncateText(failure.Reason)})
	}
	return json.Marshal(stored)
}

// DecodeIngest reads what EncodeIngest gave.
func DecodeIngest(source knowledge.SourceID, body []byte) (IngestState, error) {
	var stored storedIngest
	if err := json.Unmarshal(body, &stored); err != nil {
		return IngestState{}, fmt.Errorf("state of the ingest of %s: %w", source, err)
	}
	if stored.Version < 1 || stored.Version > ingestVersion {
		return IngestState{}, fmt.Errorf("%w: the state of the ingest of %s has version %d, this program knows %d: use the newer `cairn`",
			ErrSchema, source, stored.Version, ingestVersion)
	}
	state := IngestState{
		Source: source, Began: stored.Began, Ended: stored.Ended, Seen: stored.Seen, Changed: stored.Changed,
		Deleted: stored.Deleted, Passages: stored.Passages, Failed: stored.Failed, Reason: stored.Reason,
		Held: stored.Held, Attempts: stored.Attempts, NotBefore: stored.NotBefore,
	}
	for _, failure := range stored.Failures {
		state.Failures = append(state.Failures, IngestFailure(failure))
	}
	return state, nil
}

// truncateText returns the beginning of a text, which is valid UTF-8 whatever the text is.
func truncateText(text string) string {
	return shorten.Bytes(strings.ToValidUTF8(text, "�"), MaxIngestText)
}
