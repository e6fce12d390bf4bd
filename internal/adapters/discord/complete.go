package discord

import (
	"context"
	"log/slog"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// maxChoices is how many values Discord shows while a field is typed.
const maxChoices = 25

// offerCompletions offers the collections that begin with, or hold, what was typed. Of a list of
// names it completes the last.
func (d dispatcher) offerCompletions(ctx context.Context, of signal, respond responder) error {
	offered := []CommandChoice{}
	if of.interaction.field == collectionOption && d.adapter.options.Catalog != nil {
		names, err := d.listCollections(ctx, of)
		if err != nil { // people can still type the name
			d.adapter.options.Logger.WarnContext(ctx, "discord field was not completed", slog.Any("error", err))
		}
		offered = matchCompletions(names, of.interaction.words)
	}
	return respond(ctx, of, answer{Type: answerCompletion, Data: &answerData{Choices: &offered}})
}

// listCollections are those that commands offer in the channel.
func (d dispatcher) listCollections(ctx context.Context, of signal) ([]string, error) {
	given, err := d.admitSignal(ctx, &of)
	if err != nil || given.Refusal != "" {
		return nil, err
	}
	known, err := d.adapter.control.ListCollections(ctx, given.Setting.Collections)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, collection := range known {
		names = append(names, collection.Name)
	}
	return names, nil
}

// matchCompletions are the names that fit what was typed, the best first.
func matchCompletions(names []string, typed string) []CommandChoice {
	before, last := "", typed
	if at := strings.LastIndex(typed, ","); at >= 0 {
		before, last = typed[:at+1]+" ", typed[at+1:]
	}
	last = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(last), "@"))
	offered := []CommandChoice{}
	for _, first := range []bool{true, false} {
		for _, name := range names {
			name = markup.CleanLine(name)
			begins := strings.HasPrefix(strings.ToLower(name), last)
			value := strings.TrimSpace(before + name)
			if name == "" || begins != first || !strings.Contains(strings.ToLower(name), last) || render.Length(value) > maxOption || len(offered) == maxChoices {
				continue
			}
			offered = append(offered, CommandChoice{value, value})
		}
	}
	return offered
}
