package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

// planned is a schedule over sources whose syncs are counted, and take a second each.
type planned struct {
	mu      sync.Mutex
	sources []ingest.Scheduled
	states  map[knowledge.SourceID]index.IngestState
	synced  []knowledge.SourceID
	fails   map[knowledge.SourceID]error
	began   time.Time
	at      []time.Duration // of each sync since the beginning
	working int
}

func (p *planned) schedule() *ingest.Schedule {
	p.states, p.fails, p.began = make(map[knowledge.SourceID]index.IngestState), make(map[knowledge.SourceID]error), time.Now()
	return &ingest.Schedule{
		List: func(context.Context) ([]ingest.Scheduled, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return slices.Clone(p.sources), nil
		},
		States: func(context.Context) ([]index.IngestState, error) {
			var all []index.IngestState
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, state := range p.states {
				all = append(all, state)
			}
			return all, nil
		},
		Sync: p.sync, Logger: slog.New(slog.DiscardHandler),
	}
}

func (p *planned) sync(_ context.Context, source knowledge.SourceID) error {
	p.mu.Lock()
	p.working++
	if p.working > 1 {
		panic("two syncs at once")
	}
	err := p.fails[source]
	p.synced = append(p.synced, source)
	p.at = append(p.at, time.Since(p.began))
	state := p.states[source]
	if !errors.Is(err, index.ErrLocked) {
		state.Source, state.Began, state.Attempts = source, time.Now(), state.Attempts+1
		if err == nil {
			state.Attempts = 0
		}
	}
	p.mu.Unlock()
	passTime(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.states[source] = state
	p.working--
	return err
}

func (p *planned) count(source knowledge.SourceID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, synced := range p.synced {
		if synced == source {
			n++
		}
	}
	return n
}

// tellingWatcher tells of a change each time that something is sent to it.
type tellingWatcher chan struct{}

func (w tellingWatcher) Watch(ctx context.Context, changed func()) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w:
			changed()
		}
	}
}

// passTime lets time pass.
func passTime(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // on the bubble's clock
}

func runFor(t *testing.T, s *ingest.Schedule, then func()) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	then()
	stop()
	<-ended
}

func TestSourcesAreReadByTheirSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &planned{sources: []ingest.Scheduled{{Source: "often", Every: 10 * time.Minute}, {Source: "daily", Every: 24 * time.Hour}, {Source: "hand"}}}
		s := p.schedule()
		runFor(t, s, func() {
			passTime(53 * time.Minute)
			p.mu.Lock()
			p.sources = append(p.sources, ingest.Scheduled{Source: "new", Every: time.Hour})
			p.mu.Unlock()
			passTime(2 * time.Minute)
		})
		if p.count("often") != 6 || p.count("daily") != 1 || p.count("hand") != 0 || p.count("new") != 1 {
			t.Errorf("in 55 minutes: %v", p.synced)
		}
	})
}

func TestAFailedSyncIsTriedAgainSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &planned{sources: []ingest.Scheduled{{Source: "docs", Every: time.Hour}}}
		s := p.schedule()
		p.fails["docs"] = errors.New("503")
		runFor(t, s, func() { passTime(16*time.Minute + 30*time.Second) })
		// At once, then after 1, 2, 4 and 8 minutes.
		if len(p.at) != 5 || p.at[1].Round(time.Minute) != time.Minute || p.at[4].Round(time.Minute) != 15*time.Minute {
			t.Errorf("tried at %v", p.at)
		}
	})
}

func TestALockedIndexIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &planned{sources: []ingest.Scheduled{{Source: "docs", Every: time.Hour}}}
		s := p.schedule()
		p.fails["docs"] = index.ErrLocked
		runFor(t, s, func() {
			passTime(2 * time.Minute)
			p.mu.Lock()
			p.fails["docs"] = nil
			p.mu.Unlock()
			passTime(time.Minute)
		})
		if state := p.states["docs"]; state.Began.IsZero() || len(p.at) > 6 {
			t.Errorf("tried at %v, left as %+v", p.at, state)
		}
	})
}

func TestAWatchedSourceIsReadWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watcher := make(tellingWatcher)
		p := &planned{sources: []ingest.Scheduled{{Source: "docs", Watch: watcher}}}
		s := p.schedule()
		runFor(t, s, func() {
			passTime(time.Minute) // read once, for it never was
			for range 5 {         // five changes in a second, one sync
				watcher <- struct{}{}
				passTime(200 * time.Millisecond)
			}
			passTime(5 * time.Second)
			if got := p.count("docs"); got != 2 {
				t.Errorf("%d syncs 5 seconds after five changes, want 2", got)
			}
			passTime(time.Hour)
			p.mu.Lock()
			p.sources = nil
			p.mu.Unlock()
			passTime(time.Minute)
		})
		if len(p.at) != 2 {
			t.Errorf("read at %v", p.at)
		}
	})
}
