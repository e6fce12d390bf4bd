package interact

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// Admission is what somebody may ask where they are.
type Admission struct {
	Setting settings.Setting // that holds there; its collections are those that may be asked
	Refusal string           // why the person may ask nothing, in words for them; "" where they may
}

// Terms are a platform's own words in what the bot says about who may ask.
type Terms struct {
	// Managers turns the bot on: "An admin of the workspace".
	Managers string
	// AdminCommand is what they type: "/cairn admin".
	AdminCommand string
	// NotAsker says to somebody that they are not among those who may ask.
	NotAsker string
	// NotManager says what it takes to change settings.
	NotManager string
}

// RefusedCollections is the refusal where no collection may be asked.
const RefusedCollections = "Nothing that I know may be asked about here."

// Admit returns what somebody may ask where a setting holds. allowed are the collections that
// the program's configuration gives to the space, none for all; isAsker tells that the setting
// lets the person ask.
func (t Terms) Admit(setting settings.Setting, allowed []string, isAsker bool) Admission {
	collections, some := settings.Restrict(setting.Collections, allowed)
	setting.Collections = collections
	given := Admission{Setting: setting}
	switch {
	case setting.Mode == settings.ModeOff:
		given.Refusal = "I am off in this channel. " + t.Managers + " turns me on with " + t.AdminCommand + " on."
	case !isAsker:
		given.Refusal = t.NotAsker
	case !some:
		given.Refusal = RefusedCollections
	}
	return given
}

// Effective returns the setting that holds in a channel, or for channel "" in the whole space.
func (c *Controller) Effective(ctx context.Context, space settings.Space, channel string, standard settings.Setting) (settings.Setting, error) {
	return c.reader.Effective(ctx, space, channel, standard)
}

// NoticeKept is how long it is remembered that somebody was told why they are refused.
const NoticeKept = 30 * 24 * time.Hour

// RefuseOnce tells somebody why nothing comes of what they did, once for each key; for key ""
// never.
func (c *Controller) RefuseOnce(ctx context.Context, to Teller, key, reason string) error {
	c.Skip(ctx, "its author is refused: "+reason)
	if key == "" {
		return nil
	}
	first, err := c.options.Settings.MarkTold(ctx, key, NoticeKept)
	if err != nil || !first {
		return err
	}
	return to.Tell(ctx, reason)
}
