// Package session is a thread's memory: what was said, and the question that waits.
// Backends are below it; sessiontest is the suite that each of them passes.
package session

import (
	"context"
	"time"

	"cairn/internal/chat"
)

// MaxTurns bounds a session's memory; the oldest turns are forgotten.
const MaxTurns = 40

// Session is what is remembered of one thread. The zero Session of a thread is one
// in which nothing was said.
type Session struct {
	Thread  chat.ThreadID
	Flow    string // the flow the thread is in
	Turns   []chat.Turn
	Waiting *Waiting
	Updated time.Time // set by Save
}

// Waiting is a run that waits for a person.
type Waiting struct {
	Run      chat.RunID
	Flow     string
	Question chat.Question
	Request  string // the message that started the run
}

// Add appends a turn and forgets the oldest beyond MaxTurns.
func (s *Session) Add(turn chat.Turn) {
	s.Turns = append(s.Turns, turn)
	if excess := len(s.Turns) - MaxTurns; excess > 0 {
		s.Turns = append([]chat.Turn(nil), s.Turns[excess:]...)
	}
}

// Store keeps sessions. Its methods may be called concurrently; who changes one
// thread from two places at once decides which change stands.
type Store interface {
	// Load gives the zero Session of the thread where nothing is kept.
	Load(ctx context.Context, thread chat.ThreadID) (Session, error)
	Save(ctx context.Context, session Session) error
	Close() error
}
