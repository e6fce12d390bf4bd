package graph

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Store keeps one checkpoint per run. Implementations are safe for concurrent use;
// graphtest.StoreSuite is what each of them passes.
type Store interface {
	// Save replaces the run's checkpoint, whole or not at all. It keeps no reference
	// to checkpoint. The engine stops the run when it fails.
	Save(ctx context.Context, run string, checkpoint []byte) error
	// Load gives what Save stored last, or an error that wraps ErrNoCheckpoint.
	Load(ctx context.Context, run string) ([]byte, error)
}

// DefaultMaxSteps is the step limit where Options leave it 0.
const DefaultMaxSteps = 200

// Options say how a run is carried out. The zero Options run in memory only.
type Options struct {
	// Store keeps the checkpoints; nil keeps none, and such a run cannot be resumed.
	Store Store
	// Observe is called for each event, one at a time. It must be quick and must not
	// start or resume runs. nil means nobody looks.
	Observe func(Event)
	// MaxSteps limits the steps of each graph of the run, over all its resumes; 0
	// means DefaultMaxSteps. Nodes that run in parallel are one step.
	MaxSteps int
	// Now gives the time for events; nil means time.Now.
	Now func() time.Time
	// Sleep waits between the attempts of a node and returns ctx's error when ctx ends
	// first; nil waits on the real clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// saveGrace is how long a checkpoint may take to be written after ctx has ended: what
// a node finished is kept even when the run is stopped.
const saveGrace = 5 * time.Second

// session is one Start or Resume: what the graphs nested in one run have in common.
type session struct {
	run      string
	options  Options
	answered map[string]Answer // by question id; every answer the run ever took

	// mu guards the positions of all frames (see frame), generation and answered.
	// Only whoever runs a frame writes to it; an encoder of the whole run reads it.
	mu         sync.Mutex
	encode     func() ([]byte, error)
	generation uint64 // counts changes of any frame

	saving  sync.Mutex
	saved   uint64 // the generation of the last checkpoint
	failure error  // of the first save that failed; nothing is saved after it

	observing sync.Mutex
	seq       int64
}

func newSession(run string, options Options) (*session, error) {
	if run == "" {
		return nil, errors.New("the run has no id")
	}
	if options.MaxSteps < 0 {
		return nil, fmt.Errorf("run %s: MaxSteps is %d: give a positive limit, or 0 for %d", run, options.MaxSteps, DefaultMaxSteps)
	}
	if options.MaxSteps == 0 {
		options.MaxSteps = DefaultMaxSteps
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Sleep == nil {
		options.Sleep = sleep
	}
	return &session{run: run, options: options}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// change applies a change of position that the next checkpoint must hold.
func (x *session) change(apply func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	apply()
	x.generation++
}

// save writes a checkpoint that holds every change made before the call. Calls that
// come while one is being written share the next.
func (x *session) save(ctx context.Context) error {
	if x.options.Store == nil {
		return nil
	}
	x.mu.Lock()
	wanted := x.generation
	x.mu.Unlock()

	x.saving.Lock()
	defer x.saving.Unlock()
	if x.failure != nil {
		return x.failure
	}
	if x.saved >= wanted {
		return nil
	}
	x.mu.Lock()
	generation := x.generation
	checkpoint, err := x.encode()
	x.mu.Unlock()
	if err == nil {
		err = x.write(ctx, checkpoint)
	}
	if err != nil {
		x.failure = &SaveError{Run: x.run, Err: err}
		return x.failure
	}
	x.saved = generation
	return nil
}

// failed is the error of the save that stopped the run, if one did.
func (x *session) failed() error {
	x.saving.Lock()
	defer x.saving.Unlock()
	return x.failure
}

func (x *session) write(ctx context.Context, checkpoint []byte) error {
	if ctx.Err() == nil {
		err := x.options.Store.Save(ctx, x.run, checkpoint)
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveGrace)
	defer cancel()
	return x.options.Store.Save(ctx, x.run, checkpoint)
}

// emit hands the event to the observer, with its number and time.
func (x *session) emit(event Event) {
	if x.options.Observe == nil {
		return
	}
	x.observing.Lock()
	defer x.observing.Unlock()
	x.seq++
	event.Seq, event.Run, event.At = x.seq, x.run, x.options.Now()
	x.options.Observe(event)
}

// lastSeq is the number of the last event.
func (x *session) lastSeq() int64 {
	x.observing.Lock()
	defer x.observing.Unlock()
	return x.seq
}
