// Package routing decides which flow a message goes to. The first rule that knows decides:
// a subcommand or a typed prefix, else the conversation that the thread is in, else what the
// message wants, by rules and, where they are unsure, by a model. What nothing else claims
// goes to the flow that answers questions.
//
// Whether a thread waits for a reply is the bot's to know: such a reply comes here only
// when it turned out to be none.
package routing

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
)

// Rules name what decided, in flows.Choice and in traces.
const (
	ByCommand = "command"
	ByPrefix  = "prefix"
	ByThread  = "thread"
	ByIntent  = "intent"
	ByModel   = "judge"
)

// Options is what a Router is made of.
type Options struct {
	Flows []string  // that there are
	First string    // one of them: what nothing else claims goes there
	Model llm.Model // decides where the rules are unsure; nil: First then
	// AsksManifests tells whether a question is plainly for what the manifests of all
	// repositories say; nil: none may be read.
	AsksManifests func(question string) bool
	// App tells that there is an app that questions are about which name none.
	App bool
	// IsPage tells whether an address is that of a web page that may be looked at; nil: none is.
	IsPage func(address string) bool
}

// Router decides. Make one with New.
type Router struct{ options Options }

var _ flows.Router = (*Router)(nil)

// New makes a router.
func New(options Options) (*Router, error) {
	if !slices.Contains(options.Flows, options.First) {
		return nil, fmt.Errorf("route messages: the first flow %q is none of %q", options.First, options.Flows)
	}
	return &Router{options: options}, nil
}

// Route implements flows.Router. The end of ctx is its only error.
func (r *Router) Route(ctx context.Context, m flows.Message) (flows.Choice, error) {
	if choice, ok := r.byCommand(m); ok {
		return choice, nil
	}
	if choice, ok := r.byPrefix(m); ok {
		return choice, nil
	}
	wanted := Intent(m.Text, m.Attached)
	if wanted.Flow == "" && r.options.AsksManifests != nil && r.options.AsksManifests(m.Text) {
		wanted = Wish{Flow: Repo, Why: "it asks which repositories depend on something"}
	}
	if wanted.Flow == "" && m.Recorded {
		wanted = Wish{Flow: Inspect, Why: "it comes with what was recorded of an app"}
	}
	if wanted.Flow == "" && r.options.App && AsksWhatControlDoes(m.Text) {
		wanted = Wish{Flow: Inspect, Why: "it asks what a control of the app does"}
	}
	if (wanted.Flow == "" || wanted.Flow == Inspect) && r.options.IsPage != nil && AsksAboutPage(m.Text, r.options.IsPage) {
		wanted = Wish{Flow: Inspect, Why: "it asks about a web page that may be looked at"}
	}
	if choice, ok := r.byThread(m, wanted); ok {
		return choice, nil
	}
	if wanted.Flow != "" {
		return r.choiceOf(wanted.Flow, m.Text, ByIntent, wanted.Why), nil
	}
	if offered := r.offeredFlows(wanted); len(offered) > 0 {
		return r.byModel(ctx, m, offered)
	}
	return r.choiceOf(r.options.First, m.Text, ByIntent, "nothing says that it is for another flow"), nil
}

// choiceOf gives the choice of a flow; where there is none of that name the first one has it.
func (r *Router) choiceOf(flow, text, rule, reason string) flows.Choice {
	if !slices.Contains(r.options.Flows, flow) {
		reason += fmt.Sprintf("; there is no flow %q here", flow)
		flow = r.options.First
	}
	return flows.Choice{Flow: flow, Text: text, Rule: rule, Reason: reason}
}

func (r *Router) byCommand(m flows.Message) (flows.Choice, bool) {
	found, ok := Command(m.Text)
	if !ok {
		return flows.Choice{}, false
	}
	if found.Flow == "" {
		return r.choiceOf(r.options.First, found.Rest, ByCommand, "it is asked by a command"), true
	}
	return r.choiceOf(found.Flow, found.Rest, ByCommand, fmt.Sprintf("the command says %q", found.Word)), true
}

func (r *Router) byPrefix(m flows.Message) (flows.Choice, bool) {
	found, ok := Prefix(m.Text)
	if !ok {
		return flows.Choice{}, false
	}
	return r.choiceOf(found.Flow, found.Rest, ByPrefix, fmt.Sprintf("it begins with %q", found.Word)), true
}

// byThread keeps a wish to change what a flow made in that flow. Whatever else is written
// after a flow has ended is a message like any other: a question is answered. An echo
// begins no conversation, and after an answer about a screen what points at it goes on about it.
func (r *Router) byThread(m flows.Message, wanted Wish) (flows.Choice, bool) {
	switch {
	case m.Running == Inspect && wanted.Flow == "" && AsksOnAboutWidget(m.Text):
	case m.Running == "" || m.Running == Echo,
		wanted.Flow != "" && wanted.Flow != m.Running,
		m.Running != r.options.First && !Revises(m.Text):
		return flows.Choice{}, false
	}
	return r.choiceOf(m.Running, m.Text, ByThread, "the thread is about that"), true
}

// offeredFlows are the flows between which the model decides: those that the message may be for
// and the first one. There are none where no model decides or the rules are sure.
func (r *Router) offeredFlows(wanted Wish) []string {
	if r.options.Model == nil {
		return nil
	}
	var offered []string
	for _, name := range wanted.Perhaps {
		if slices.Contains(r.options.Flows, name) {
			offered = append(offered, name)
		}
	}
	if len(offered) == 0 {
		return nil
	}
	return append(offered, r.options.First)
}
