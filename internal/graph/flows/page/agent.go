package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/guard"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tools"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of the model's work on one request.
const (
	maxRounds  = 16
	maxCalls   = 64      // of tools
	maxTokens  = 400_000 // of all prompts and replies
	maxWork    = 5 * time.Minute
	maxClosing = 1200 // letters of what the model says of its work
)

// role is what the model is asked for, in traces.
const role = "page"

// findPending gives the first call that was not made yet; nil for none.
func (s State) findPending() *Made {
	for i := range s.Rounds {
		for j := range s.Rounds[i].Calls {
			if call := &s.Rounds[i].Calls[j]; !call.Done {
				return call
			}
		}
	}
	return nil
}

// listApplied gives the calls that changed the draft.
func (s State) listApplied() []tools.Call {
	var applied []tools.Call
	for _, round := range s.Rounds {
		for _, call := range round.Calls {
			if call.Done && call.Code == "" {
				applied = append(applied, call.Call)
			}
		}
	}
	return applied
}

// countCalls tells how many calls the model asked for, and countDone how many were made.
func (s State) countCalls() int {
	count := 0
	for _, round := range s.Rounds {
		count += len(round.Calls)
	}
	return count
}

// loadDraft gives the page with all that was applied to it. The draft is made anew each time:
// a checkpoint holds the calls alone.
func (f *Flow) loadDraft(ctx context.Context, s State) (*tools.Draft, pages.Version, error) {
	p := s.Proposal
	base, err := f.library.LoadVersion(ctx, s.findPlace(), p.Page, p.Base)
	if err != nil {
		return nil, base, err
	}
	given := listAddresses(s)
	draft := &tools.Draft{
		Title: base.Title, Root: base.Root, Base: p.Base, Seed: s.RequestID, Versions: versions{f.library, s.findPlace(), p.Page, s.Names},
		AllowsURL: func(address string) bool { return given[address] },
	}
	return draft, base, draft.Replay(ctx, s.listApplied())
}

// listAddresses gives the addresses that people wrote in the request and the thread.
func listAddresses(s State) map[string]bool {
	given := make(map[string]bool)
	texts := []string{s.Proposal.Text}
	for _, message := range listMessages(s) {
		texts = append(texts, message.Text)
	}
	for _, address := range guard.Addresses(strings.Join(texts, "\n")) {
		given[address] = true
	}
	return given
}

// versions are those of one page, for the tools.
type versions struct {
	library *pages.Library
	place   pages.Place
	page    pages.PageID
	named   []tools.Naming // what the run itself has named, perhaps
}

// maxSnapshots is how many of the last versions are searched for snapshots.
const maxSnapshots = 1000

// List implements tools.Versions: with the names from before the run, so that calls which are
// applied again find what they found.
func (v versions) List(ctx context.Context) ([]pages.Version, error) {
	all, err := v.library.Versions(ctx, v.place, v.page, maxSnapshots)
	for i, version := range all {
		for _, naming := range slices.Backward(v.named) {
			if naming.Version == version.Number {
				all[i].Name = naming.Was
			}
		}
	}
	return all, err
}

// Load implements tools.Versions.
func (v versions) Load(ctx context.Context, number int) (pages.Version, error) {
	return v.library.LoadVersion(ctx, v.place, v.page, number)
}

// runRound asks the model once: for calls of tools, or what it did.
func (f *Flow) runRound(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	draft, base, err := f.loadDraft(ctx, s)
	if err != nil {
		return endForError(err)
	}
	if reason := s.findExceeded(); reason != "" {
		return f.endWork(s, draft, base, reason)
	}
	request, note, err := f.buildRequest(s, draft)
	if err != nil {
		return graph.Result[State]{}, err
	}
	if limits := f.model.Limits(); llm.PromptTokens(f.model, request)+limits.Reply > limits.Context {
		return f.endWork(s, draft, base, "the work on the page no longer fits into what the language model can read at once")
	}
	reply, use := flows.Consult(ctx, role, f.model, request, nil)
	if ctx.Err() != nil {
		return graph.Result[State]{}, ctx.Err()
	}
	s.Models = append(s.Models, use)
	changes := []graph.Change[State]{models.Set([]flows.ModelUse{use}), notes.Set([]string{note})}
	if use.Failure != "" {
		reason := flows.ExplainFailure(phrases.In(language.English), llm.Failure(use.Failure))
		return f.endWork(s, draft, base, reason, changes...)
	}
	if len(reply.Calls) == 0 {
		s.Closing = reply.Text
		return f.endWork(s, draft, base, "", changes...)
	}
	made := Round{Text: reply.Text}
	for i, call := range reply.Calls {
		made.Calls = append(made.Calls, Made{Call: tools.Call{ID: s.uniqueID(made, call.ID, i), Tool: call.Name, Arguments: string(call.Arguments)}})
	}
	return graph.Update(append(changes, rounds.Set(append(slices.Clone(s.Rounds), made)))...), nil
}

// uniqueID gives a call an id that no other call of the run has.
func (s State) uniqueID(made Round, id string, place int) string {
	for _, round := range append(slices.Clone(s.Rounds), made) {
		for _, call := range round.Calls {
			if call.ID == id {
				return fmt.Sprintf("call_%d_%d", len(s.Rounds)+1, place+1)
			}
		}
	}
	return id
}

// findExceeded says which bound the work has reached; "" for none.
func (s State) findExceeded() string {
	tokens, took := 0, time.Duration(0)
	for _, use := range s.Models {
		tokens += use.Prompt + use.Completion
		took += use.Took
	}
	switch {
	case len(s.Rounds) >= maxRounds:
		return fmt.Sprintf("it was not done after %d rounds with the language model", maxRounds)
	case s.countCalls() >= maxCalls:
		return fmt.Sprintf("it was not done after %d changes", maxCalls)
	case tokens >= maxTokens:
		return fmt.Sprintf("it was not done after %d tokens of the language model", tokens)
	case took >= maxWork:
		return fmt.Sprintf("it was not done after %s with the language model", took.Round(time.Second))
	}
	return ""
}

// endWork ends the rounds: with a change to be shown, or what there is to say without one.
// reason says why the work ended early; "" where the model was done.
func (f *Flow) endWork(s State, draft *tools.Draft, base pages.Version, reason string, changes ...graph.Change[State]) (graph.Result[State], error) {
	said := cleanClosing(s, draft.Root)
	if draft.Title == base.Title && len(draft.Names) == 0 && isSamePage(base.Root, draft.Root) {
		text := strings.TrimSpace(fmt.Sprintf("Nothing was changed on **%s**.\n\n%s", escape(base.Title), said))
		if reason != "" {
			text = fmt.Sprintf("Nothing was changed: %s.", reason)
		}
		return graph.Update(append(changes, output.Set(text), failed.Set(true))...), nil
	}
	if reason != "" {
		said = fmt.Sprintf("This is only a part: %s.", reason)
	}
	return graph.Update(append(changes, ended.Set(true), closing.Set(said), names.Set(draft.Names))...), nil
}

// isSamePage tells whether nothing at all differs between two versions.
func isSamePage(a, b *tree.Node) bool { return bytes.Equal(tree.Encode(a), tree.Encode(b)) }

// cleanClosing gives what the model said of its work, without links but those of the page and
// the request.
func cleanClosing(s State, root *tree.Node) string {
	given := listAddresses(s)
	root.Walk(func(n, _ *tree.Node) bool {
		if n.URL != "" {
			given[n.URL] = true
		}
		return true
	})
	text := shorten.Text(strings.TrimSpace(s.Closing), maxClosing)
	return guard.Guard{Quoted: func(address string) bool { return given[address] }}.Clean(text)
}

// applyCall makes the first call that was not made yet. Where the process dies before its result
// is saved, it is made again on the same draft, with the same result.
func (f *Flow) applyCall(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	draft, _, err := f.loadDraft(ctx, s)
	if err != nil {
		return graph.Result[State]{}, err
	}
	work := make([]Round, len(s.Rounds))
	for i, round := range s.Rounds {
		work[i] = Round{Text: round.Text, Calls: slices.Clone(round.Calls)}
	}
	call := State{Rounds: work}.findPending()
	step.Detail(call.Tool)
	call.Done = true
	if s.countDone() >= maxCalls {
		call.Code, call.Result = tools.NotRun, describeRefusal(&tools.Error{Code: tools.NotRun, Reason: "the limit of calls is reached"})
		return graph.Update(rounds.Set(work)), nil
	}
	result, err := draft.Apply(ctx, call.Call)
	if refused, ok := errors.AsType[*tools.Error](err); ok {
		call.Code, call.Result = refused.Code, describeRefusal(refused)
	} else if err != nil {
		return graph.Result[State]{}, err
	} else {
		call.Result = result
	}
	return graph.Update(rounds.Set(work), notes.Set([]string{fmt.Sprintf("call %s of %s: %s", call.ID, call.Tool, describeCode(call.Code))})), nil
}

func (s State) countDone() int {
	count := 0
	for _, round := range s.Rounds {
		for _, call := range round.Calls {
			if call.Done {
				count++
			}
		}
	}
	return count
}

func describeCode(code tools.Code) string {
	if code == "" {
		return "applied"
	}
	return string(code)
}

// describeRefusal writes an error for the model.
func describeRefusal(refused *tools.Error) string {
	told := struct {
		Error  tools.Code `json:"error"`
		Node   string     `json:"node,omitempty"`
		Reason string     `json:"reason"`
	}{refused.Code, refused.Node, refused.Reason}
	data, err := json.Marshal(told)
	if err != nil {
		return string(refused.Code)
	}
	return string(data)
}
