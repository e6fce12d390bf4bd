package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Status says how a run stands when Start or Resume returns without an error.
type Status string

// A Done run has come to its end; a Waiting one needs answers before it can go on.
const (
	Done    Status = "done"
	Waiting Status = "waiting"
)

// Outcome is what Start and Resume come to.
type Outcome[S any] struct {
	Status    Status
	State     S          // after the last finished step
	Questions []Question // those that stand, in order; none when Done
	Steps     int        // finished steps of the run, over all resumes
}

// Start runs the graph from its beginning until it is done or nothing can go on
// without an answer. It replaces any checkpoint of the same run: where there may be
// one, call Resume first and Start on ErrNoCheckpoint. Until the first step is
// finished there is no checkpoint. initial must not be written to afterwards.
func (c *Compiled[S]) Start(ctx context.Context, runID string, initial S, options Options) (Outcome[S], error) {
	x, err := newSession(runID, options)
	if err != nil {
		return Outcome[S]{}, fmt.Errorf("start graph %q: %w", c.name, err)
	}
	f := newFrame(c, scope{session: x}, initial)
	x.root = f
	return c.runFrame(ctx, f)
}

// Resume goes on from the run's last checkpoint, after a crash or an error with no
// answers, or with answers to questions that stand: all of them or some. An answer
// that was taken before and comes again is ignored; if one is refused (AnswerError)
// none is taken. A run that is done gives its outcome again.
func (c *Compiled[S]) Resume(ctx context.Context, runID string, answers []Answer, options Options) (Outcome[S], error) {
	x, err := newSession(runID, options)
	if err == nil && options.Store == nil {
		err = errors.New("resuming a run needs a Store")
	}
	if err != nil {
		return Outcome[S]{}, fmt.Errorf("resume graph %q: %w", c.name, err)
	}
	checkpoint, err := options.Store.Load(ctx, runID)
	if err != nil {
		return Outcome[S]{}, fmt.Errorf("load checkpoint of run %s: %w", runID, err)
	}
	f, err := c.restore(x, checkpoint)
	if err != nil {
		return Outcome[S]{}, err
	}
	taken, err := x.acceptAnswers(f.appendAsking(nil), answers)
	if err != nil {
		return Outcome[S]{}, err
	}
	if taken {
		if err := x.saveCheckpoint(ctx); err != nil {
			return Outcome[S]{}, err
		}
	}
	return c.runFrame(ctx, f)
}

// restore reads the position of the run from its checkpoint.
func (c *Compiled[S]) restore(x *session, checkpoint []byte) (*frame[S], error) {
	doc, err := decodeDocument(x.run, checkpoint)
	if err != nil {
		return nil, err
	}
	x.seq = doc.Seq
	for _, answer := range doc.Answered {
		if _, twice := x.findAnswer(answer.QuestionID); twice {
			return nil, &CheckpointError{Run: x.run, Err: fmt.Errorf("duplicate answer to question %q", answer.QuestionID)}
		}
		x.addAnswer(answer)
	}
	f, err := restoreFrame(c, scope{session: x}, doc.Graph)
	if err != nil {
		return nil, err
	}
	x.root = f
	return f, nil
}

func (c *Compiled[S]) runFrame(ctx context.Context, f *frame[S]) (Outcome[S], error) {
	x := f.session
	x.emitEvent(Event{Kind: RunStarted})
	waiting, err := f.run(ctx)
	if err != nil {
		x.emitEvent(Event{Kind: RunFinished, Err: err})
		return Outcome[S]{}, err
	}
	outcome := Outcome[S]{Status: Done, State: f.state, Steps: f.steps}
	if waiting {
		outcome.Status = Waiting
		for _, t := range f.appendAsking(nil) {
			outcome.Questions = append(outcome.Questions, *t.question)
		}
	}
	x.emitEvent(Event{Kind: RunFinished, Status: outcome.Status})
	return outcome, nil
}

// acceptAnswers gives answers to the tasks that wait for them: all, or none and an error.
// taken is false when there was nothing new among them.
func (x *session) acceptAnswers(asking []*taskCore, answers []Answer) (taken bool, err error) {
	var (
		fresh []Answer
		takes []*taskCore // the task of each of them
	)
	for _, answer := range answers {
		known, repeated := x.findAnswer(answer.QuestionID)
		for _, other := range fresh {
			if !repeated && other.QuestionID == answer.QuestionID {
				known, repeated = other, true
			}
		}
		var t *taskCore
		for _, waiting := range asking {
			if waiting.question.ID == answer.QuestionID {
				t = waiting
			}
		}
		if err := checkAnswer(t, answer, known, repeated); err != nil {
			return false, &AnswerError{Run: x.run, Question: answer.QuestionID, Err: err}
		}
		if !repeated {
			fresh, takes = append(fresh, answer), append(takes, t)
		}
	}
	if len(fresh) == 0 {
		return false, nil
	}
	x.applyChange(func() {
		for i, t := range takes {
			t.answers = append(t.answers, keyedAnswer{t.question.Key, fresh[i]})
			t.question = nil
			x.addAnswer(fresh[i])
		}
	})
	return true, nil
}

// checkAnswer checks one answer. t is the task that waits for it, if one does; known is the
// answer that the question had before, if repeated.
func checkAnswer(t *taskCore, answer, known Answer, repeated bool) error {
	if repeated {
		if known.Choice != answer.Choice || known.Text != answer.Text || known.By != answer.By {
			return ErrAnswered
		}
		return nil
	}
	if t == nil {
		return ErrNoQuestion
	}
	if answer.Choice != "" {
		for _, choice := range t.question.Choices {
			if choice.ID == answer.Choice {
				return nil
			}
		}
		return fmt.Errorf("%w: %q", ErrNotOffered, answer.Choice)
	}
	if strings.TrimSpace(answer.Text) == "" {
		return ErrEmptyAnswer
	}
	if !t.question.FreeText {
		return ErrNoFreeText
	}
	return nil
}
