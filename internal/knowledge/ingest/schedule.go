package ingest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

const (
	// lookPause is how long a schedule waits at most until it looks at the sources again.
	lookPause = 30 * time.Second
	// settlePause is how long after a change of a watched source it is read: changes come in
	// groups.
	settlePause = 2 * time.Second
)

// Scheduled is a source that a Schedule reads.
type Scheduled struct {
	Source knowledge.SourceID
	Every  time.Duration   // 0: only when Watch tells of a change
	Watch  connect.Watcher // nil: nothing tells of changes
}

// Schedule reads sources when they are due, one at a time. Several processes may run one over
// the same index: its writer's lock is the lease, and who does not get it tries again.
type Schedule struct {
	// List gives the sources to read. It is called again and again: sources may come and go.
	List func(ctx context.Context) ([]Scheduled, error)
	// States tells how sources were read last.
	States func(ctx context.Context) ([]index.IngestState, error)
	// Sync reads a source, see Ingester.Sync. It fails with index.ErrLocked where another
	// process writes to the index.
	Sync   func(ctx context.Context, source knowledge.SourceID) error
	Logger *slog.Logger

	mu       sync.Mutex
	changed  map[knowledge.SourceID]time.Time // when the change was told
	wake     chan struct{}
	watching map[knowledge.SourceID]context.CancelFunc
	watchers sync.WaitGroup
}

// Run reads sources until ctx ends. It is called once.
func (s *Schedule) Run(ctx context.Context) {
	s.mu.Lock()
	s.prepare()
	s.mu.Unlock()
	s.watching = make(map[knowledge.SourceID]context.CancelFunc)
	ctx, cancel := context.WithCancel(ctx)
	defer s.watchers.Wait()
	defer cancel()
	for ctx.Err() == nil {
		pause, err := s.syncDue(ctx)
		if err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "read sources by their schedules", "error", err)
		}
		timer := time.NewTimer(min(pause, lookPause))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.wake:
		}
		timer.Stop()
	}
}

// syncDue reads the sources that are due, and gives how long it is until the next one is.
func (s *Schedule) syncDue(ctx context.Context) (pause time.Duration, err error) {
	sources, err := s.List(ctx)
	if err != nil {
		return lookPause, err
	}
	s.watchSources(ctx, sources)
	states, err := s.States(ctx)
	if err != nil {
		return lookPause, err
	}
	last := make(map[knowledge.SourceID]index.IngestState)
	for _, state := range states {
		last[state.Source] = state
	}
	pause = lookPause
	for _, source := range sources {
		due, ok := s.dueTime(source, last[source.Source])
		if wait := time.Until(due); !ok || wait > 0 {
			if ok {
				pause = min(pause, wait)
			}
			continue
		}
		if ctx.Err() != nil {
			return pause, ctx.Err()
		}
		s.syncSource(ctx, source.Source)
	}
	return pause, nil
}

// dueTime gives when a source is to be read; ok is false where nothing calls for it.
func (s *Schedule) dueTime(source Scheduled, last index.IngestState) (due time.Time, ok bool) {
	if source.Every > 0 {
		due, ok = last.NextAt(source.Every), true
	}
	s.mu.Lock()
	at, changed := s.changed[source.Source]
	s.mu.Unlock()
	if changed && at.After(last.Began) {
		if settled := at.Add(settlePause); !ok || settled.Before(due) {
			due, ok = settled, true
		}
	}
	if source.Watch != nil && last.Began.IsZero() {
		return time.Time{}, true
	}
	return due, ok
}

// syncSource reads one source. What failed is in the state that the ingester keeps.
func (s *Schedule) syncSource(ctx context.Context, source knowledge.SourceID) {
	err := s.Sync(ctx, source)
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, index.ErrLocked):
		s.Logger.DebugContext(ctx, "read source later: the index is being written to", "source", source)
	default:
		s.Logger.WarnContext(ctx, "read source", "source", source, "error", err)
	}
}

// watchSources watches what is to be watched, and no longer what is not.
func (s *Schedule) watchSources(ctx context.Context, sources []Scheduled) {
	wanted := make(map[knowledge.SourceID]connect.Watcher)
	for _, source := range sources {
		if source.Watch != nil {
			wanted[source.Source] = source.Watch
		}
	}
	for id, stop := range s.watching {
		if wanted[id] == nil {
			stop()
			delete(s.watching, id)
		}
	}
	for id, watcher := range wanted {
		if s.watching[id] != nil {
			continue
		}
		watched, stop := context.WithCancel(ctx)
		s.watching[id] = stop
		s.watchers.Go(func() {
			if err := watcher.Watch(watched, func() { s.NoteChange(id) }); err != nil && watched.Err() == nil {
				s.Logger.WarnContext(ctx, "watch source: it is read by its schedule alone", "source", id, "error", err)
			}
		})
	}
}

// prepare makes what changes are noted in. The caller holds mu.
func (s *Schedule) prepare() {
	if s.changed == nil {
		s.changed = make(map[knowledge.SourceID]time.Time)
		s.wake = make(chan struct{}, 1)
	}
}

// NoteChange has a source that is read by a schedule read soon, for something in it changed. It may
// be called at any time.
func (s *Schedule) NoteChange(source knowledge.SourceID) {
	s.mu.Lock()
	s.prepare()
	s.changed[source] = time.Now()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
