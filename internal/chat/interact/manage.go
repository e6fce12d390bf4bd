package interact

import (
	"context"
	"errors"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// Managed is what came of a command of who manages a place.
type Managed struct {
	Refusal    string           // why nothing was changed, in words for the person; "" where it was
	Invalid    bool             // the wish can't be fulfilled as it was typed
	Put, Holds settings.Setting // as it was put in the place, and as it holds
}

// Manage does what somebody asks of the settings of a place. change says who asks, where, and
// whether they may; several wishes are fulfilled in turn.
func (c *Controller) Manage(ctx context.Context, terms Terms, wishes []settings.Wish, change settings.Change, standard settings.Setting) (Managed, error) {
	change.Channel, change.Action = wishes[0].Channel, wishes[0].Action
	if !change.Allowed {
		var err error
		if c.options.Changed != nil && change.Action != settings.Show {
			err = c.options.Changed(ctx, change)
		}
		return Managed{Refusal: "Nothing was changed: " + terms.NotManager + "."}, err
	}
	var done Managed
	for _, wish := range wishes {
		var err error
		done.Put, done.Holds, err = c.reader.Manage(ctx, wish, change, standard, c.options.Changed)
		if errors.Is(err, settings.ErrInvalid) {
			return Managed{Refusal: "Nothing was changed: " + err.Error() + ".", Invalid: true}, nil
		}
		if err != nil {
			return Managed{}, err
		}
	}
	return done, nil
}
