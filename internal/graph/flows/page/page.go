// Package page is the flow that writes and edits pages with the people of a thread. A change
// is shown as a diff and made once somebody applies it; what others changed in the same words
// meanwhile is a question with both versions. What is asked in free words is done by a language
// model with the tools of pages/tools, in bounded rounds; without one it says so.
//
// Reading order: state.go, page.go (the graph), command.go (what is asked), read.go (what
// only shows), propose.go (what changes), agent.go (the model's rounds), context.go (what it is
// shown), apply.go, thread.go (a page from a thread), draft.go (a page about a question),
// correct.go (what messages correct in documents that an answer cites), merge.go (a merge request of
// that).
package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/outline"
	"github.com/cairn-bot/cairn/internal/pages/tools"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "page"

// schemaVersion is the version of State in checkpoints.
const schemaVersion = 1

// The nodes, by the names of the flow's contract.
const (
	nodeCommand  = "page_command"
	nodeAgent    = "page_agent"
	nodeTool     = "page_tool"
	nodeReview   = "page_review"
	nodeApply    = "page_apply"
	nodeConflict = "page_conflict"
)

// Options is what the flow works with.
type Options struct {
	Library *pages.Library // nil for the graph alone
	// Model edits what is asked in free words, and writes pages from threads; nil: nothing does.
	Model llm.Model
	// Address is where people reach the web page, which shows a page at /page/ and its id: "" for
	// nowhere.
	Address string
	// Documents are those that answers cite, which messages correct; the zero one: none can be.
	Documents Documents
	// Search finds the passages that drafts are outlined from; nil: none are.
	Search outline.Search
}

// Flow edits pages. Make one with New.
type Flow struct {
	flows.Runner[State]

	library   *pages.Library
	model     llm.Model
	address   string
	documents Documents
	search    outline.Search
	now       func() time.Time
}

var _ flows.Flow = (*Flow)(nil)

// New makes the flow.
func New(options Options) (*Flow, error) {
	f := &Flow{library: options.Library, model: options.Model, address: options.Address, documents: options.Documents, search: options.Search, now: time.Now}
	compiled, err := f.plan().Compile()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	f.Runner = flows.Runner[State]{Graph: compiled, Conclude: f.outcome}
	return f, nil
}

// plan lays out the graph.
func (f *Flow) plan() *graph.Graph[State] {
	g := graph.New(Name, schemaVersion, fields...)
	g.Node(nodeCommand, f.runCommand, graph.Policy{Description: "Looking at the page", Timeout: time.Minute})
	g.Node(nodeAgent, f.runRound, graph.Policy{Description: "Deciding what to change", Timeout: maxWork})
	g.Node(nodeTool, f.applyCall, graph.Policy{Description: "Changing the draft", Timeout: time.Minute})
	g.Node(nodeReview, f.review, graph.Policy{Description: "Showing the change", Asks: true, Timeout: time.Minute})
	g.Node(nodeApply, f.apply, graph.Policy{Description: "Saving the page", Timeout: time.Minute})
	g.Node(nodeConflict, f.askConflict, graph.Policy{Description: "Asking which version holds", Asks: true})
	g.Start(nodeCommand)
	g.Route(nodeCommand, afterCommand, nodeAgent, nodeReview, nodeApply, graph.End)
	g.Route(nodeAgent, afterRound, nodeTool, nodeReview, graph.End)
	g.Route(nodeTool, afterCall, nodeTool, nodeAgent)
	g.Edge(nodeReview, nodeApply)
	g.Route(nodeApply, afterApplying, nodeConflict, graph.End)
	g.Edge(nodeConflict, nodeApply)
	g.Label(nodeCommand, graph.End, "nothing to decide")
	g.Label(nodeCommand, nodeApply, "undo")
	g.Label(nodeApply, nodeConflict, "changed meanwhile")
	g.Label(nodeCommand, nodeAgent, "in free words")
	g.Label(nodeTool, nodeTool, "next call")
	return g
}

func afterCommand(s State) string {
	switch {
	case s.Output != "" || s.Proposal == nil:
		return graph.End
	case s.Proposal.Verb == Undo:
		return nodeApply
	case s.Proposal.Verb == Free:
		return nodeAgent
	}
	return nodeReview
}

func afterRound(s State) string {
	switch {
	case s.Output != "":
		return graph.End
	case s.Ended:
		return nodeReview
	}
	return nodeTool
}

func afterCall(s State) string {
	if s.findPending() != nil {
		return nodeTool
	}
	return nodeAgent
}

func afterApplying(s State) string {
	if s.Output != "" {
		return graph.End
	}
	return nodeConflict
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Start implements flows.Flow.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return f.Begin(ctx, request.Run, f.begin(request), runtime)
}

// begin is the state that a run of a request begins with.
func (f *Flow) begin(request flows.Request) State {
	return State{
		RequestID: request.Run, UserInput: request.Text, Room: request.Room, Made: pickMade(request), Said: request.Before, History: request.History, StartTime: f.now(),
	}
}

func (f *Flow) outcome(steps []flows.Step, run graph.Outcome[State]) flows.Outcome {
	s := run.State
	made := flows.Outcome{Kind: flows.Answered, Text: s.Output, Files: s.Files, Undoable: s.Undoable, Trace: flows.Trace{
		Steps: steps, Notes: s.Notes, Models: s.Models, Took: f.now().Sub(s.StartTime),
	}}
	switch {
	case run.Status == graph.Waiting:
		made.Kind, made.Question = flows.Asked, &run.Questions[0]
		made.Text = made.Question.Text
	case s.Failed:
		made.Kind = flows.Abstained
	}
	return made
}

// linkPage gives a link to a page in the browser, behind a space; "" where there is none.
func (f *Flow) linkPage(id pages.PageID) string {
	if f.address == "" {
		return ""
	}
	return fmt.Sprintf(" [Open](%s/page/%s)", f.address, id)
}

// findPlace gives where the request was made, for the library.
func (s State) findPlace() pages.Place {
	return pages.Place{Thread: s.Room.Thread, Channel: s.Room.Channel, Audience: s.Room.Audience}
}

// describeAuthor gives who made the request.
func (s State) describeAuthor(why string) pages.Author {
	return pages.Author{Name: s.Room.Author, Run: s.RequestID, Why: why, Key: writeKey(s.RequestID)}
}

// endWith ends the run with a text.
func endWith(format string, values ...any) (graph.Result[State], error) {
	return graph.Update(output.Set(fmt.Sprintf(format, values...))), nil
}

// endRefused ends the run with the reason why nothing was done.
func endRefused(format string, values ...any) (graph.Result[State], error) {
	return graph.Update(output.Set(fmt.Sprintf(format, values...)), failed.Set(true)), nil
}

// endForError ends the run for an error that people can do something about, and returns others.
func endForError(err error) (graph.Result[State], error) {
	if errors.Is(err, pages.ErrNotFound) {
		return endRefused("There is no such page or version here. `page: list` shows the pages of this place.")
	}
	if broken, ok := errors.AsType[*tree.Error](err); ok {
		return endRefused("That can't be done: %s.", broken.Error())
	}
	if changed, ok := errors.AsType[*tools.Error](err); ok {
		return endRefused("That can't be done any more: %s.", changed.Error())
	}
	return graph.Result[State]{}, err
}
