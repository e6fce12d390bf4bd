package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// Bounds of the look at cited documents before an answer is posted.
const (
	checkTime   = 1500 * time.Millisecond // for all documents of an answer
	checkKept   = 30 * time.Second        // what was found of a document
	checkMost   = 20                      // documents of an answer
	checkAtOnce = 8
	checkCached = 1000
)

// sourceChecks looks at documents where they come from.
type sourceChecks struct {
	list    func() ([]config.Source, error)
	library *Library
	setup   Setup
	kept    *expiring.Map[knowledge.State]

	mu      sync.Mutex
	changed func(knowledge.SourceID) // told of a source with a document that changed; nil: nobody is
}

func newSourceChecks(l *Library) *sourceChecks {
	return &sourceChecks{list: sources{l}.list, library: l, setup: l.Setup, kept: expiring.New[knowledge.State](checkCached, checkKept, time.Now)}
}

// notify has somebody told of sources with documents that changed.
func (c *sourceChecks) notify(changed func(knowledge.SourceID)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = changed
}

// findStates implements bot.Check.
func (c *sourceChecks) findStates(ctx context.Context, documents []knowledge.Document) map[knowledge.DocumentID]knowledge.State {
	configured, err := c.list()
	if err != nil {
		c.setup.Logger.WarnContext(ctx, "check cited documents", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var mu sync.Mutex
	states := make(map[knowledge.DocumentID]knowledge.State)
	var checking sync.WaitGroup
	slots := make(chan struct{}, checkAtOnce)
	for _, document := range documents[:min(len(documents), checkMost)] {
		at := slices.IndexFunc(configured, func(s config.Source) bool { return s.Name == string(document.Source) })
		if at < 0 || configured[at].IsPaused() {
			continue
		}
		slots <- struct{}{}
		checking.Go(func() {
			defer func() { <-slots }()
			state := c.findState(ctx, configured[at], document)
			mu.Lock()
			defer mu.Unlock()
			states[document.ID] = state
		})
	}
	checking.Wait()
	return states
}

// findState gives the state of one document, "" where it can't be found out.
func (c *sourceChecks) findState(ctx context.Context, source config.Source, document knowledge.Document) knowledge.State {
	if state, ok := c.kept.Get(string(document.ID)); ok {
		return state
	}
	checker, ok := lastingConnector(c.library, source, nil).(connect.Checker)
	if !ok {
		return ""
	}
	state, err := checker.Check(ctx, document)
	if err != nil {
		c.setup.Logger.DebugContext(ctx, "check cited document", "document", document.ID, "error", err)
		state = ""
	}
	c.kept.Put(string(document.ID), state)
	if state == knowledge.StateChanged || state == knowledge.StateGone {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.changed != nil {
			c.changed(document.Source)
		}
	}
	return state
}
