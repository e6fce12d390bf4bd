package inspect

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Press is how far the pressing of a control is.
type Press struct {
	// Ticket is good for one press, in the process that the approval came to.
	Ticket string `json:"ticket,omitempty"`
	// Interrupted tells that a process ended between an approval and its result: whether the
	// control was pressed is not known, and nothing is pressed without another approval.
	Interrupted bool `json:"interrupted,omitempty"`
	// Unsure tells that an earlier press was interrupted, and whether it took place is not known.
	Unsure   bool           `json:"unsure,omitempty"`
	Declined bool           `json:"declined,omitempty"`
	Result   *browser.Press `json:"result,omitempty"`
	Failure  string         `json:"failure,omitempty"` // why it could not be pressed
}

// The choices of an approval.
const (
	approveKey    = "press"
	choiceApprove = "approve"
	choiceDecline = "no"
)

// approvals are replies in words that approve; every other one does not.
var approvals = []string{"approve", "approved", "yes", "y", "yes please", "ok", "okay", "go ahead", "do it", "press it", "click it", "sure", "please do", "ja", "oui", "sí", "si"}

// tickets are the approvals that were given in this process and not used yet.
type tickets struct {
	mu    sync.Mutex
	given map[string]time.Time
}

// ticketLimit is how long an approval is good for, which is used at once.
const ticketLimit = 10 * time.Minute

func (t *tickets) issue(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.given, func(_ string, at time.Time) bool { return now.Sub(at) > ticketLimit })
	if t.given == nil {
		t.given = make(map[string]time.Time)
	}
	ticket := rand.Text()
	t.given[ticket] = now
	return ticket
}

// use takes a ticket, which is good for one press.
func (t *tickets) use(ticket string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.given[ticket]
	delete(t.given, ticket)
	return ok
}

// approvePress asks whether the control may be pressed. Nothing else lets it be.
func (f *Flow) approvePress(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	answer, answered := step.Answer(approveKey)
	if !answered {
		return graph.Ask[State](s.askApproval()), nil
	}
	if answer.Choice != choiceApprove && !slices.Contains(approvals, strings.ToLower(strings.Trim(strings.TrimSpace(answer.Text), ".!👍 "))) {
		return graph.Update(press.Set(Press{Declined: true, Unsure: s.Press.Interrupted})), nil
	}
	return graph.Update(press.Set(Press{Ticket: f.tickets.issue(f.options.Now()), Unsure: s.Press.Interrupted})), nil
}

func (s State) askApproval() graph.Question {
	control := s.WebView.Control
	text := fmt.Sprintf("Shall I press the %s %s on %s? It happens for real, once, in a browser of my own.", control.Role, formatCode(s.controlName()), formatCode(s.WebPage.Address))
	if control.Alike > 0 {
		text += fmt.Sprintf(" It is the first of %d of that name.", control.Alike+1)
	}
	if s.Press.Interrupted {
		text = fmt.Sprintf("I was interrupted after your approval, and don't know whether %s was pressed. Shall I press it now? It may be the second time.", formatCode(s.controlName()))
	}
	return graph.Question{Key: approveKey, Text: text, FreeText: true, Choices: []graph.Choice{
		{ID: choiceApprove, Label: "Approve", Detail: "press it once"}, {ID: choiceDecline, Label: "No", Detail: "press nothing"},
	}}
}

// controlName is what the control is called, by its place where it has no name.
func (s State) controlName() string {
	control := s.WebView.Control
	if control.Name == "" && s.WebPage.At != nil {
		return fmt.Sprintf("element at %d,%d", s.WebPage.At.X, s.WebPage.At.Y)
	}
	return control.Name
}

func afterApproval(s State) string {
	if s.Press.Ticket != "" {
		return nodePress
	}
	return nodeFiles
}

func afterPress(s State) string {
	if s.Press.Interrupted {
		return nodeApprove
	}
	return nodeFiles
}

// pressControl presses the control with the approval that this process was given: a process that
// takes the run up has none, and asks again.
func (f *Flow) pressControl(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if !f.tickets.use(s.Press.Ticket) {
		return graph.Update(press.Set(Press{Interrupted: true})), nil
	}
	approved, ended := s.WebView.Control, Press{Unsure: s.Press.Unsure}
	view, err := f.options.Web.Press(ctx, s.WebPage.Address, browser.Target{Name: approved.Name, Role: approved.Role, At: s.WebPage.At, Exact: true})
	switch refused, is := errors.AsType[*browser.RefusedError](err); {
	case is:
		ended.Failure = refused.Text
	case err != nil:
		ended.Failure = shorten.Line(err.Error(), maxError)
	case view.Pressed == nil:
		ended.Failure = "it is not there any more"
	default:
		ended.Result = view.Pressed
	}
	return graph.Update(press.Set(ended)), nil
}
