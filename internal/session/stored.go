package session

import (
	"encoding/json"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// version is the version of the stored JSON. It is raised when the meaning of what is
// stored changes; what has a newer one is refused.
const version = 1

// stored is a session as backends keep it; its thread, its fence, and when it was saved
// stand beside it.
type stored struct {
	Version int           `json:"version"`
	Flow    string        `json:"flow,omitempty"`
	Title   string        `json:"title,omitempty"`
	People  []chat.UserID `json:"people,omitempty"`
	Turns   []chat.Turn   `json:"turns,omitempty"`
	Waiting *Waiting      `json:"waiting,omitempty"`
	Work    *Work         `json:"work,omitempty"`
	Halt    *runs.Stop    `json:"halt,omitempty"`
}

// Encode gives a session, all but its thread, time and fence, as backends store it.
func Encode(s Session) ([]byte, error) {
	return json.Marshal(stored{
		Version: version, Flow: s.Flow, Title: s.Title, People: s.People, Turns: s.Turns, Waiting: s.Waiting,
		Work: s.Work, Halt: s.Halt,
	})
}

// Decode reads what Encode gave. After an error the session is the thread's zero one.
func Decode(thread chat.ThreadID, body []byte) (Session, error) {
	var kept stored
	if err := json.Unmarshal(body, &kept); err != nil {
		return Session{Thread: thread}, err
	}
	if kept.Version != version {
		return Session{Thread: thread}, fmt.Errorf("it has version %d, this program knows %d; upgrade the program", kept.Version, version)
	}
	return Session{
		Thread: thread, Flow: kept.Flow, Title: kept.Title, People: kept.People, Turns: kept.Turns, Waiting: kept.Waiting,
		Work: kept.Work, Halt: kept.Halt,
	}, nil
}
