package slack

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// A workflow may post because of what the bot says, in the channel itself, and nothing in its messages
// tells so. No more than maxWorkflow of a channel are answered in workflowSpan, by all processes
// together: the two can't keep each other talking.
const (
	maxWorkflow  = 20
	workflowSpan = time.Hour
)

// handleWorkflow hands over what a workflow posts in a channel that is set up for that.
func (d dispatcher) handleWorkflow(ctx context.Context, bot *interact.Handler, of signal) error {
	listens := d.adapter.options.Workflows
	if listens == nil || !listens(of.place.team, of.place.channel) {
		d.adapter.control.Skip(ctx, "a message of a workflow")
		return nil
	}
	how, err := d.adapter.control.Effective(ctx, settings.NewSpace(Name, of.place.team), of.place.channel,
		settings.Setting{Mode: d.adapter.options.Listen(of.place.team, of.place.channel)})
	if err != nil {
		return err
	}
	given := terms.Admit(how, d.teamCollections(of.place.team, of.enterprise), true)
	if given.Refusal == "" && of.message.Text == "" {
		given.Refusal = "it says nothing"
	}
	if given.Refusal == "" {
		free, err := d.takeWorkflowTurn(ctx, of.place)
		if err != nil {
			return err
		}
		if !free {
			d.adapter.options.Logger.WarnContext(ctx, "ignore messages of workflows: a channel has had as many answered within an hour as may be",
				"platform", Name, "channel", of.place.channel, "limit", maxWorkflow)
			given.Refusal = "too many of workflows were answered there"
		}
	}
	if given.Refusal != "" {
		d.adapter.control.Skip(ctx, "a message of a workflow: "+given.Refusal)
		return nil
	}
	of.message.Collections = given.Setting.Collections
	return d.adapter.control.Submit(ctx, bot, of.message, &surface{adapter: d.adapter, of: of})
}

// takeWorkflowTurn takes one of the turns that a channel has; false where there is none left.
func (d dispatcher) takeWorkflowTurn(ctx context.Context, at place) (bool, error) {
	for n := range maxWorkflow {
		key := strings.Join([]string{"workflow", at.team, at.channel, strconv.Itoa(n)}, " ")
		free, err := d.adapter.options.Settings.MarkTold(ctx, key, workflowSpan)
		if err != nil || free {
			return free, err
		}
	}
	return false, nil
}
