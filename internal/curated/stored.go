package curated

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// storedVersion is the version of the form that answers are stored in.
const storedVersion = 1

// stored is an answer as stores and exports hold it.
type stored struct {
	Version  int                    `json:"version"`
	ID       ID                     `json:"id"`
	Question string                 `json:"question"`
	Text     string                 `json:"text"`
	Groups   []flows.SourceGroup    `json:"groups,omitempty"`
	RestsOn  []knowledge.DocumentID `json:"rests_on,omitempty"`
	Audience knowledge.Audience     `json:"audience,omitempty"`
	Author   chat.UserID            `json:"author,omitempty"`
	Name     string                 `json:"name,omitempty"`
	Run      chat.RunID             `json:"run,omitempty"`
	Pinned   int64                  `json:"pinned"`  // Unix milliseconds
	Expires  int64                  `json:"expires"` // Unix milliseconds
}

// Encode writes an answer as stores and exports hold it.
func Encode(a Answer) ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, fmt.Errorf("pin an answer: %w", err)
	}
	body, err := json.Marshal(stored{
		storedVersion, a.ID, a.Question, a.Text, a.Groups, a.RestsOn, a.Audience, a.Author, a.Name, a.Run, a.Pinned.UnixMilli(), a.Expires.UnixMilli(),
	})
	if err == nil && len(body) > maxStored {
		err = fmt.Errorf("with its sources it takes %d bytes, at most %d are kept", len(body), maxStored)
	}
	if err != nil {
		return nil, fmt.Errorf("pin an answer: %w", err)
	}
	return body, nil
}

// Decode reads what Encode wrote.
func Decode(body []byte) (Answer, error) {
	var read stored
	if err := json.Unmarshal(body, &read); err != nil {
		return Answer{}, fmt.Errorf("read a pinned answer: %w", err)
	}
	if read.Version < 1 || read.Version > storedVersion {
		return Answer{}, fmt.Errorf("read pinned answer %s: version %d is not supported (1 to %d are): upgrade cairn", read.ID, read.Version, storedVersion)
	}
	answer := Answer{
		read.ID, read.Question, read.Text, read.Groups, read.RestsOn, read.Audience, read.Author, read.Name, read.Run,
		time.UnixMilli(read.Pinned).UTC(), time.UnixMilli(read.Expires).UTC(),
	}
	if err := answer.Validate(); err != nil {
		return Answer{}, fmt.Errorf("read pinned answer %s: %w", read.ID, err)
	}
	return answer, nil
}
