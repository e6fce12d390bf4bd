package slack

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// suggestViewed offers questions about the collections of the channel that a person looks at beside the
// direct conversation, where these are other ones than those that were suggested last. collections are
// those that the person may ask about there, none for all.
func (d dispatcher) suggestViewed(ctx context.Context, of signal, collections []string) error {
	if of.viewed != "" {
		how, err := d.adapter.control.Effective(ctx, settings.NewSpace(Name, of.place.team), of.viewed, settings.Setting{})
		if err != nil {
			return err
		}
		if narrower, some := settings.Restrict(how.Collections, collections); some {
			collections = narrower
		}
	}
	key := collectionsKey(collections)
	if last, _ := d.adapter.suggested.Get(of.viewer()); last == key {
		d.adapter.control.Skip(ctx, "the same questions would be suggested")
		return nil
	}
	if of.place.channel == "" { // Slack does not always tell it
		s, err := d.adapter.senderOf(ctx, of.place)
		if err != nil {
			return err
		}
		if of.place.channel, err = s.openDirect(ctx, of.by); err != nil {
			return err
		}
	}
	d.adapter.suggested.Put(of.viewer(), key)
	return d.suggestQuestions(ctx, of, collections)
}

// viewer names who looks at something.
func (s signal) viewer() string { return s.place.team + " " + string(s.by) }

// collectionsKey tells collections apart, in any order.
func collectionsKey(collections []string) string {
	return strings.Join(slices.Sorted(slices.Values(collections)), " ")
}
