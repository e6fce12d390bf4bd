// Package routing decides which flow a message goes to, as a small graph of its own: the
// first node that knows decides. A subcommand or a typed prefix says it (command, prefix),
// else the conversation that the thread is in (thread), else what the message wants
// (intent), by rules and, where they are unsure, by a model (judge). What nothing else
// claims goes to the flow that answers questions.
//
// Whether a thread waits for a reply is the bot's to know: such a reply comes here only
// when it turned out to be none.
package routing

import (
	"context"
	"fmt"
	"slices"

	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/routing/words"
	"cairn/internal/llm"
)

// Name is the graph's name in traces.
const Name = "routing"

// The nodes.
const (
	nodeCommand = "command"
	nodePrefix  = "prefix"
	nodeThread  = "thread"
	nodeIntent  = "intent"
	nodeJudge   = "judge"
)

// Rules say who decided, in flows.Choice and in traces.
const (
	ByCommand = nodeCommand
	ByPrefix  = nodePrefix
	ByThread  = nodeThread
	ByIntent  = nodeIntent
	ByJudge   = nodeJudge
)

// State is what the nodes know of a message.
type State struct {
	Text     string // of the message
	Attached bool   // files came with it
	Running  string // the flow that the thread is in, "" for none

	Flow   string // that it goes to, "" while nobody knows
	Rest   string // of the text, without the word that says where it goes
	Rule   string // who decided
	Reason string
	Unsure []string // the flows between which rules can't decide
}

var (
	flow   = graph.Replace("flow", func(s *State) *string { return &s.Flow })
	rest   = graph.Replace("rest", func(s *State) *string { return &s.Rest })
	rule   = graph.Replace("rule", func(s *State) *string { return &s.Rule })
	reason = graph.Replace("reason", func(s *State) *string { return &s.Reason })
	unsure = graph.Replace("unsure", func(s *State) *[]string { return &s.Unsure })
	text   = graph.Replace("text", func(s *State) *string { return &s.Text })
	files  = graph.Replace("attached", func(s *State) *bool { return &s.Attached })
	runs   = graph.Replace("running", func(s *State) *string { return &s.Running })
)

// Options is what a Router is made of.
type Options struct {
	Flows []string  // that there are
	First string    // one of them: what nothing else claims goes there
	Judge llm.Model // decides where the rules are unsure; nil: First then
}

// Router decides. Make one with New.
type Router struct {
	options Options
	graph   *graph.Compiled[State]
}

var _ flows.Router = (*Router)(nil)

// New makes a router.
func New(options Options) (*Router, error) {
	if !slices.Contains(options.Flows, options.First) {
		return nil, fmt.Errorf("route messages: the first flow %q is none of %q", options.First, options.Flows)
	}
	r := &Router{options: options}
	g := graph.New(Name, 1, text, files, runs, flow, rest, rule, reason, unsure)
	g.Node(nodeCommand, r.command, graph.Policy{Description: "Reading the command"})
	g.Node(nodePrefix, r.prefix, graph.Policy{Description: "Reading the prefix"})
	g.Node(nodeThread, r.thread, graph.Policy{Description: "Following the thread"})
	g.Node(nodeIntent, r.intent, graph.Policy{Description: "Finding out what is wanted"})
	g.Node(nodeJudge, r.judge, graph.Policy{Description: "Asking the model what is wanted", Timeout: judgeTime})
	g.Start(nodeCommand)
	for _, step := range []struct{ node, next string }{{nodeCommand, nodePrefix}, {nodePrefix, nodeThread}, {nodeThread, nodeIntent}, {nodeIntent, nodeJudge}} {
		g.Route(step.node, func(s State) string {
			if s.Flow != "" {
				return graph.End
			}
			return step.next
		}, step.next, graph.End)
	}
	g.Edge(nodeJudge, graph.End)
	var err error
	if r.graph, err = g.Compile(); err != nil {
		return nil, fmt.Errorf("route messages: %w", err)
	}
	return r, nil
}

// Shape is the router's graph.
func (r *Router) Shape() graph.Shape { return r.graph.Shape() }

// Route implements flows.Router.
func (r *Router) Route(ctx context.Context, message flows.Message) (flows.Choice, error) {
	outcome, err := r.graph.Start(ctx, Name, State{Text: message.Text, Attached: message.Attached, Running: message.Running}, graph.Options{})
	if err != nil {
		return flows.Choice{}, fmt.Errorf("route a message: %w", err)
	}
	s := outcome.State
	return flows.Choice{Flow: s.Flow, Text: s.Rest, Rule: s.Rule, Reason: s.Reason}, nil
}

type step = graph.Step[State]

type result = graph.Result[State]

// to decides for a flow; where there is none of that name the first one has it.
func (r *Router) to(name, text, by, why string) result {
	if !slices.Contains(r.options.Flows, name) {
		why += fmt.Sprintf("; there is no flow %q here", name)
		name = r.options.First
	}
	return graph.Update(flow.Set(name), rest.Set(text), rule.Set(by), reason.Set(why))
}

func (r *Router) command(_ context.Context, s step) (result, error) {
	found, ok := words.Command(s.State.Text)
	if !ok {
		return result{}, nil
	}
	if found.Flow == "" {
		return r.to(r.options.First, found.Rest, ByCommand, "it is asked by a command"), nil
	}
	return r.to(found.Flow, found.Rest, ByCommand, fmt.Sprintf("the command says %q", found.Word)), nil
}

func (r *Router) prefix(_ context.Context, s step) (result, error) {
	found, ok := words.Prefix(s.State.Text)
	if !ok {
		return result{}, nil
	}
	return r.to(found.Flow, found.Rest, ByPrefix, fmt.Sprintf("it begins with %q", found.Word)), nil
}

// thread keeps a wish to change what a flow made in that flow. Whatever else is written
// after a flow has ended is a message like any other: a question is answered. An echo
// begins no conversation.
func (r *Router) thread(_ context.Context, s step) (result, error) {
	running := s.State.Running
	if running == "" || running == words.Echo {
		return result{}, nil
	}
	if wanted := words.Intent(s.State.Text, s.State.Attached); wanted.Flow != "" && wanted.Flow != running {
		return result{}, nil
	}
	if running != r.options.First && !words.Revises(s.State.Text) {
		return result{}, nil
	}
	return r.to(running, s.State.Text, ByThread, "the thread is about that"), nil
}

func (r *Router) intent(_ context.Context, s step) (result, error) {
	wanted := words.Intent(s.State.Text, s.State.Attached)
	if wanted.Flow != "" {
		return r.to(wanted.Flow, s.State.Text, ByIntent, wanted.Why), nil
	}
	var open []string
	for _, name := range wanted.Perhaps {
		if slices.Contains(r.options.Flows, name) {
			open = append(open, name)
		}
	}
	if len(open) > 0 && r.options.Judge != nil {
		return graph.Update(unsure.Set(append(open, r.options.First))), nil
	}
	return r.to(r.options.First, s.State.Text, ByIntent, "nothing says that it is for another flow"), nil
}
