package settings

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/expiring"
)

// believed is how long a setting is believed: other processes change settings, too.
const believed = 5 * time.Second

// Reader reads the settings that hold, and remembers them for some seconds. Its methods may be
// called concurrently.
type Reader struct {
	store Store
	known *expiring.Map[Setting]
}

// NewReader makes a reader of a store. now is the clock, time.Now outside tests.
func NewReader(store Store, now func() time.Time) *Reader {
	return &Reader{store: store, known: expiring.New[Setting](4096, believed, now)}
}

// Effective gives the setting that holds in a channel, or for channel "" in the whole space:
// what was put for the channel, within what was put for the space, within standard.
func (r *Reader) Effective(ctx context.Context, space Space, channel string, standard Setting) (Setting, error) {
	holds, err := r.readSetting(ctx, space, "")
	if err == nil && channel != "" {
		var in Setting
		in, err = r.readSetting(ctx, space, channel)
		holds = in.Within(holds)
	}
	if err != nil {
		return Setting{}, fmt.Errorf("read the settings of %s: %w", space, err)
	}
	return holds.Within(standard), nil
}

// readSetting gives what was put for a channel, or for channel "" for the whole space.
func (r *Reader) readSetting(ctx context.Context, space Space, channel string) (Setting, error) {
	key := string(space) + " " + channel
	if known, ok := r.known.Get(key); ok {
		return known, nil
	}
	setting, err := r.store.Get(ctx, space, channel)
	if err == nil {
		r.known.Put(key, setting)
	}
	return setting, err
}

// Change replaces the setting of a channel, or for channel "" of the whole space.
func (r *Reader) Change(ctx context.Context, space Space, channel string, setting Setting) error {
	err := r.store.Put(ctx, space, channel, setting)
	r.known.Clear()
	if err != nil {
		return fmt.Errorf("keep the settings of %s: %w", space, err)
	}
	return nil
}
