package bot

import (
	"encoding/json"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// The kinds of events that workers write and listeners read. Others are passed over.
const (
	progressEvent runs.EventKind = "progress" // a step's end is kept, its beginning shown
	tokenEvent    runs.EventKind = "token"    // shown
	dealtEvent    runs.EventKind = "dealt"    // the job is dealt with; kept
)

// happened is the body of every event. A job that was dealt with is told of by
// reference: the session has what was said, the record how it came about.
type happened struct {
	Job      runs.EventID
	Progress *chat.Progress `json:",omitempty"`
	Seq      int64          `json:",omitempty"` // of Progress: the number of the run's event
	Token    *chat.Token    `json:",omitempty"`
	// Message is the person's message whose last turn of the bot is what was said.
	Message chat.MessageID `json:",omitempty"`
	// Reply is what was said where no session has it: to a side command.
	Reply   *chat.Reply `json:",omitempty"`
	Refusal refusal     `json:",omitempty"`
}

// refusal is why nothing was done about a job, "" where something was.
type refusal string

const (
	forbidden refusal = "forbidden"
	unknown   refusal = "unknown run"
	over      refusal = "run over"
	nothing   refusal = "nothing to do"
	broken    refusal = "put aside"
	withdrawn refusal = "its message is gone"
	tooLate   refusal = "edited too late"
	closed    refusal = "question closed"
)

// refusals are what people's wishes are refused with.
var refusals = map[refusal]error{
	forbidden: chat.ErrForbidden,
	unknown:   chat.ErrUnknownRun,
	over:      chat.ErrRunOver,
	nothing:   errNothing,
	broken:    errPutAside,
	withdrawn: errWithdrawn,
	tooLate:   errEditedLate,
	closed:    errClosed,
}

func eventOf(kind runs.EventKind, run chat.RunID, what happened) (runs.Event, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return runs.Event{}, fmt.Errorf("encode event %s of run %s: %w", kind, run, err)
	}
	return runs.Event{Run: run, Kind: kind, Body: body}, nil
}

func readEvent(event runs.Event) (happened, error) {
	var what happened
	if err := json.Unmarshal(event.Body, &what); err != nil {
		return happened{}, fmt.Errorf("read event %s of run %s: %w", event.Kind, event.Run, err)
	}
	return what, nil
}
