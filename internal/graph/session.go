package graph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
	"unicode/utf8"
)

// Store keeps one checkpoint per run. Implementations are safe for concurrent use;
// graphtest.StoreSuite is what each of them passes.
type Store interface {
	// Save replaces the run's checkpoint, whole or not at all. It keeps no reference
	// to checkpoint, whose bytes change once it has returned. The engine stops the run
	// when it fails.
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
	// SkipLast leaves out the checkpoint of a run that is done: whoever drives the run keeps its
	// outcome. A run that is resumed before that repeats its last step.
	SkipLast bool
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
	// Random draws from [0, 1) for the length of these waits, in parallel branches at
	// once; nil means math/rand/v2.
	Random func() float64
}

// saveGrace is how long a checkpoint may take to be written after ctx has ended: what
// a node finished is kept even when the run is stopped.
const saveGrace = 5 * time.Second

// usualSize is how many bytes a small checkpoint has.
const usualSize = 512

// session is one Start or Resume: what the graphs nested in one run have in common.
type session struct {
	run     string
	options Options
	head    []byte // of a checkpoint

	// mu guards the positions of all frames (see frame), generation and answered.
	// Only whoever runs a frame writes to it; an encoder of the whole run reads it.
	mu         sync.Mutex
	root       encoder // of the outermost frame
	generation uint64  // counts changes of any frame
	answered   []Answer
	known      map[string]int // question id → index in answered
	replies    []byte         // answered as JSON; nil where it changed since

	saving  sync.Mutex
	saved   uint64 // the generation of the last checkpoint
	failure error  // of the first save that failed; nothing is saved after it
	buffer  []byte // of the last checkpoint, for the next
	last    bool   // nothing goes on from what is in the buffer

	observing sync.Mutex
	seq       int64
}

func newSession(run string, options Options) (*session, error) {
	if run == "" || !utf8.ValidString(run) {
		return nil, fmt.Errorf("the run's id %q is empty or not UTF-8", run)
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
		options.Sleep = sleepContext
	}
	if options.Random == nil {
		options.Random = rand.Float64
	}
	x := &session{run: run, options: options}
	if x.options.Store != nil {
		x.head = runHead(run)
		x.buffer = make([]byte, 0, usualSize)
	}
	return x, nil
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// applyChange applies a change of position that the next checkpoint must hold.
func (x *session) applyChange(apply func()) {
	if x.options.Store == nil {
		apply() // nobody else looks at the position
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	apply()
	x.generation++
}

// findAnswer returns the answer that a question had.
func (x *session) findAnswer(question string) (answer Answer, ok bool) {
	if index, ok := x.known[question]; ok {
		return x.answered[index], true
	}
	return Answer{}, false
}

// addAnswer adds an answer to a question that had none.
func (x *session) addAnswer(answer Answer) {
	if x.known == nil {
		x.known = make(map[string]int)
	}
	x.known[answer.QuestionID] = len(x.answered)
	x.answered = append(x.answered, answer)
	x.replies = nil
}

// saveCheckpoint writes a checkpoint that holds every change made before the call. Calls that
// come while one is being written share the next.
func (x *session) saveCheckpoint(ctx context.Context) error {
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
	generation, err := x.encodeCheckpoint()
	if err == nil {
		err = x.writeCheckpoint(ctx, x.buffer)
	}
	if err != nil {
		x.failure = &SaveError{Run: x.run, Err: err}
		return x.failure
	}
	x.saved = generation
	return nil
}

// encodeCheckpoint puts the checkpoint into the buffer, and tells how new it is.
func (x *session) encodeCheckpoint() (generation uint64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.buffer, err = x.appendTo(x.buffer[:0])
	x.last = x.root.isDone()
	return x.generation, err
}

// saveError returns the error of the save that stopped the run, if one did.
func (x *session) saveError() error {
	x.saving.Lock()
	defer x.saving.Unlock()
	return x.failure
}

func (x *session) writeCheckpoint(ctx context.Context, checkpoint []byte) error {
	if x.last && x.options.SkipLast {
		return nil
	}
	save := x.options.Store.Save
	if ctx.Err() == nil {
		err := save(ctx, x.run, checkpoint)
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveGrace)
	defer cancel()
	return save(ctx, x.run, checkpoint)
}

// emitEvent hands an event of the run itself to the observer.
func (x *session) emitEvent(event Event) {
	if x.options.Observe == nil {
		return
	}
	x.observing.Lock()
	defer x.observing.Unlock()
	x.deliverEvent(event)
}

// deliverEvent hands the event to the observer, with its number and time. observing is held.
func (x *session) deliverEvent(event Event) {
	x.seq++
	event.Seq, event.Run, event.At = x.seq, x.run, x.options.Now()
	x.options.Observe(event)
}
