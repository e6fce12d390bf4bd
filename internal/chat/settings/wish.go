package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Action is what somebody wants done to a setting.
type Action string

// The actions.
const (
	Show           Action = "show"
	TurnOn         Action = "on"
	TurnOff        Action = "off"
	Reset          Action = "reset"
	SetMode        Action = "mode"
	SetStyle       Action = "style"
	SetCollections Action = "collections" // names with commas between them; none: all
	ToggleAsker    Action = "askers"      // adds an id, or takes it away; "": everybody may ask
)

// Wish is what somebody who manages a space asked for.
type Wish struct {
	Action  Action
	Value   string
	Channel string // "" for the whole space
}

// Apply gives a setting after a wish. Its errors are fit for people.
func (w Wish) Apply(to Setting) (Setting, error) {
	switch w.Action {
	case Show:
	case TurnOn:
		if to.Mode == "" || to.Mode == ModeOff {
			to.Mode = ModeMention
		}
	case TurnOff:
		to.Mode = ModeOff
	case Reset:
		to = Setting{}
	case SetMode:
		to.Mode = Mode(w.Value)
	case SetStyle:
		to.Style = ReplyStyle(w.Value)
	case SetCollections:
		to.Collections = readCollections(w.Value)
	case ToggleAsker:
		if w.Value == "" {
			to.Askers = nil
		} else {
			to.Askers = Toggle(to.Askers, w.Value)
		}
	default:
		return Setting{}, fmt.Errorf("there is no setting %q", w.Action)
	}
	return to, to.Validate()
}

// maxCollectionName bounds the name of a collection, in letters.
const maxCollectionName = 100

func readCollections(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimPrefix(render.Cut(markup.CleanLine(name), maxCollectionName), "@")
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Change is something that somebody asked for which would change a setting.
type Change struct {
	By      chat.UserID
	Space   Space
	Channel string // "" for the whole space
	Action  Action
	Allowed bool  // the person may change settings of the space
	Err     error // why it could not be kept
}

// ErrInvalid is the error for a wish that can't be fulfilled; what it wraps is fit for people.
var ErrInvalid = errors.New("the setting is invalid")

// Manage fulfils a wish, and gives the setting as it is put from then on and as it holds, within
// standard. changed is told of a change before its result is; nil: nobody is.
func (r *Reader) Manage(ctx context.Context, wish Wish, change Change, standard Setting, changed func(context.Context, Change) error) (put, holds Setting, err error) {
	put, err = r.store.Get(ctx, change.Space, wish.Channel)
	if err != nil {
		return Setting{}, Setting{}, fmt.Errorf("read the settings of %s: %w", change.Space, err)
	}
	if put, err = wish.Apply(put); err != nil {
		return Setting{}, Setting{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if wish.Action != Show {
		change.Err = r.Change(ctx, change.Space, wish.Channel, put)
		err = change.Err
		if changed != nil {
			err = errors.Join(err, changed(ctx, change))
		}
		if err != nil {
			return Setting{}, Setting{}, err
		}
	}
	holds, err = r.Effective(ctx, change.Space, wish.Channel, standard)
	return put, holds, err
}

// Description tells a setting in lines of words.
type Description struct {
	Put, Holds Setting             // as it was put in the place, and as it holds
	Escape     func(string) string // makes a text safe to show
	Asker      func(id string) string
	Styles     bool // the platform knows reply styles
}

// maxShownCollections bounds the line of collections, in letters.
const maxShownCollections = 500

// Lines gives the description, one line for each part of a setting.
func (d Description) Lines() []string {
	state, collections, askers := "on", "all", "everybody"
	if d.Holds.Mode == ModeOff {
		state = "off"
	}
	if len(d.Holds.Collections) > 0 {
		collections = d.Escape(render.Cut(strings.Join(d.Holds.Collections, ", "), maxShownCollections))
	}
	if len(d.Holds.Askers) > 0 {
		var shown []string
		for _, id := range d.Holds.Askers {
			shown = append(shown, d.Asker(id))
		}
		askers = strings.Join(shown, " ")
	}
	lines := []string{"Cairn is " + state, "it answers: " + string(d.Holds.Mode) + inherited(d.Put.Mode != "")}
	if d.Styles {
		lines = append(lines, "mentions are answered in: "+string(d.Holds.Style)+inherited(d.Put.Style != ""))
	}
	return append(lines,
		"collections that I answer from: "+collections+inherited(len(d.Put.Collections) > 0),
		"who may ask: "+askers+inherited(len(d.Put.Askers) > 0))
}

func inherited(put bool) string {
	if put {
		return ""
	}
	return " (as set around it)"
}
