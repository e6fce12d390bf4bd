package graph

import (
	"context"
	"time"
)

// Node does one step. It reads step.State, which it must not write to (branches
// share its slices and maps), and returns Update or Ask. It must return soon after
// ctx ends: the engine waits for it. It may be run again when the process dies before
// its result is in a checkpoint, so what it does outside must bear a repeat.
type Node[S any] func(ctx context.Context, step Step[S]) (Result[S], error)

// Step is what a node is given. A Step made by hand, with a State alone, serves to
// call a node outside of a run: it has no answers and its events go nowhere.
type Step[S any] struct {
	State   S
	Run     string // the run's id
	Node    string // the node's name in its graph
	Visit   int    // 1 the first time the run comes to the node, 2 the next (a loop)
	Attempt int    // 1, or more where the node's Policy retries
	task    *taskCore
}

// Answer returns the answer to the question that this node asked under key during
// this visit. ok is false until then.
func (s Step[S]) Answer(key string) (answer Answer, ok bool) {
	if s.task == nil {
		return Answer{}, false
	}
	return s.task.findAnswer(key)
}

// Emit sends a piece of streamed text to the run's observer. What comes after the node
// has returned is dropped.
func (s Step[S]) Emit(token string) {
	if s.task != nil {
		s.task.emitText(Token, token, s.Attempt)
	}
}

// Detail tells the run's observer what the step is doing, in words for people:
// "Searching 3 collections…". What comes after the node has returned is dropped.
func (s Step[S]) Detail(text string) {
	if s.task != nil {
		s.task.emitText(Detail, text, s.Attempt)
	}
}

// Result is what a node returns: Update or Ask. The zero Result changes nothing.
type Result[S any] struct {
	patch    Patch[S]
	question *Question
	paused   bool // a nested graph waits for answers
}

// Update finishes the node with these changes.
func Update[S any](changes ...Change[S]) Result[S] {
	return Result[S]{patch: changes}
}

// Ask pauses the node until a person has answered q; then the node is run again from
// its beginning with the answer in Step.Answer(q.Key). Costly work therefore belongs
// in a node before the one that asks. A key can be asked once per visit of a node;
// a second question of the same visit needs a key of its own.
func Ask[S any](q Question) Result[S] {
	return Result[S]{question: &q}
}

// Who may answer a question.
type Who string

// Asker is the person whose message started the run; Thread is anyone in its thread.
const (
	Asker  Who = "asker"
	Thread Who = "thread"
)

// MaxChoices is the most choices that a question can offer.
const MaxChoices = 10

// Question is what a node wants to know from a person. A node fills in Key, Text,
// and Choices or FreeText or both; the engine fills in ID and Node.
type Question struct {
	// Key tells the questions of one node apart.
	Key string `json:"key"`
	// ID is the same over every resume and restart of the run.
	ID string `json:"id"`
	// Node is the path of the node that asks: "outer/inner" inside a nested graph.
	Node     string   `json:"node"`
	Text     string   `json:"text"`
	Choices  []Choice `json:"choices,omitempty"` // at most MaxChoices
	FreeText bool     `json:"free_text,omitempty"`
	Who      Who      `json:"who"` // empty means Asker
	// Deadline is how long the question stands; 0 leaves it to the caller. The engine
	// keeps no clock for it.
	Deadline time.Duration `json:"deadline_ns,omitempty"`
}

// Choice is one offered answer.
type Choice struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// Answer is a person's reply to a question: a choice's ID, or text, or both.
type Answer struct {
	QuestionID string    `json:"question_id"`
	Choice     string    `json:"choice,omitempty"`
	Text       string    `json:"text,omitempty"`
	By         string    `json:"by,omitempty"`
	At         time.Time `json:"at"`
}

// Policy says how a node is run. The zero Policy runs it once without a time limit.
type Policy struct {
	// Description is what the node does, for people.
	Description string
	// Asks marks a node that may ask a person; it is drawn as a question.
	Asks bool
	// Timeout limits each attempt through its ctx; 0 means no limit.
	Timeout time.Duration
	// Retries is how often a failed attempt is followed by another.
	Retries int
	// Backoff is the longest pause before the first retry. It doubles for each further
	// one, up to MaxBackoff. The pause itself is drawn from the upper half of it, so
	// that what failed together does not come again together. The engine imports the
	// standard library alone, so it counts the pause itself.
	Backoff time.Duration
	// Transient says which errors are worth a retry; nil means all. A panic and the
	// end of the run's own ctx are never retried.
	Transient func(error) bool
}

// MaxBackoff is the longest pause between two attempts of a node.
const MaxBackoff = time.Minute

// retryDelay returns the time to wait after a failed attempt (1-based); random is from [0, 1).
func (p Policy) retryDelay(attempt int, random float64) time.Duration {
	longest := p.Backoff
	for range attempt - 1 {
		if longest >= MaxBackoff {
			break
		}
		longest *= 2
	}
	longest = min(longest, MaxBackoff)
	return longest - time.Duration(random*float64(longest/2))
}
