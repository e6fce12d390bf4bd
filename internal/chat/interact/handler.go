package interact

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Bot is what an adapter with buttons asks of the handler that it runs with.
type Bot interface {
	chat.Handler
	chat.Controls
	chat.Transcripts
	chat.RunThreads
	chat.Ratings
}

// Handler is a Bot with all that it can do beside; nil is what it can't.
type Handler struct {
	Bot
	Changes chat.Changes
	Threads chat.Threads
	Graphs  chat.Graphs
	Private chat.PrivateAnswers
	More    chat.Extender
	Correct chat.Corrector
	Pins    chat.AnswerPinner
}

// NewHandler finds out what a handler can do; the error is for one that is no Bot. platform is the
// adapter's, "Slack".
func NewHandler(platform string, handler chat.Handler) (*Handler, error) {
	bot, ok := handler.(Bot)
	if !ok {
		return nil, fmt.Errorf("run the %s adapter: a %T can't stop, retry, rate and explain runs", platform, handler)
	}
	found := &Handler{Bot: bot}
	found.Changes, _ = handler.(chat.Changes)
	found.Threads, _ = handler.(chat.Threads)
	found.Graphs, _ = handler.(chat.Graphs)
	found.More, _ = handler.(chat.Extender)
	found.Correct, _ = handler.(chat.Corrector)
	if curating, ok := handler.(chat.Curating); ok {
		found.Pins = curating.Curator()
	}
	found.Private, _ = handler.(chat.PrivateAnswers)
	return found, nil
}

// Slot holds the handler while an adapter runs. Make one with NewSlot; its methods may be
// called concurrently.
type Slot struct {
	handler atomic.Pointer[Handler]
	begun   sync.Once
	ready   chan struct{}
}

// NewSlot makes an empty slot.
func NewSlot() *Slot { return &Slot{ready: make(chan struct{})} }

// Fill puts the handler in, until it is taken out by Empty.
func (s *Slot) Fill(handler *Handler) {
	s.handler.Store(handler)
	s.begun.Do(func() { close(s.ready) })
}

// Empty takes the handler out.
func (s *Slot) Empty() { s.handler.Store(nil) }

// Handler is the one in the slot, nil where none is.
func (s *Slot) Handler() *Handler { return s.handler.Load() }

// Ready is closed once the slot was filled.
func (s *Slot) Ready() <-chan struct{} { return s.ready }
