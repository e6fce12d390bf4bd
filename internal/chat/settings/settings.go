// Package settings is how the bot behaves in the places of a platform, as the people who manage
// those places set it: what it answers, from which collections, and whom. The stores below keep
// it for all processes, one in Redis and one in SQLite; Reader is what adapters ask.
package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Space is a server or workspace of a platform: "discord:123", "slack:T0123".
type Space string

// NewSpace makes the name of a platform's space of a space's id there.
func NewSpace(platform, id string) Space { return Space(platform + ":" + id) }

// Mode is what the bot answers in a channel. Each mode hears what those before it hear; in
// direct conversations the bot always hears all.
type Mode string

// The modes.
const (
	// ModeOff hears nothing; commands are refused, too.
	ModeOff Mode = "off"
	// ModeMention hears mentions, replies to the bot, and what is said in threads that it takes
	// part in.
	ModeMention Mode = "mention"
	// ModeThread hears questions in all threads of the channel, and new posts of a forum.
	ModeThread Mode = "thread"
	// ModeQuestions hears all questions in the channel.
	ModeQuestions Mode = "questions"
)

// ReplyStyle is how a mention in a channel is answered.
type ReplyStyle string

// The reply styles.
const (
	ReplyInThread ReplyStyle = "thread" // in a thread that begins at the message
	ReplyInPlace  ReplyStyle = "reply"  // in the channel, as a reply to the message
)

// Setting is how the bot behaves in a space or channel. An empty field is taken from what is
// around it, see Within: a thread is in a channel, a channel in a space, and a space in the
// program's configuration.
type Setting struct {
	Mode        Mode       `json:"mode,omitempty"`
	Style       ReplyStyle `json:"style,omitempty"`
	Collections []string   `json:"collections,omitempty"` // that answers come from; empty: all
	// Askers are the ids of those who may ask, as the platform tells them: roles, people or
	// groups; empty: everybody.
	Askers []string `json:"askers,omitempty"`
}

// Bounds of a setting.
const (
	MaxAskers      = 25
	MaxCollections = 25
)

// Within gives a setting with its empty fields taken from the setting around it.
func (s Setting) Within(around Setting) Setting {
	if s.Mode == "" {
		s.Mode = around.Mode
	}
	if s.Style == "" {
		s.Style = around.Style
	}
	if len(s.Collections) == 0 {
		s.Collections = around.Collections
	}
	if len(s.Askers) == 0 {
		s.Askers = around.Askers
	}
	return s
}

// Admits tells whether somebody with one of these ids may ask.
func (s Setting) Admits(ids []string) bool {
	return len(s.Askers) == 0 || slices.ContainsFunc(s.Askers, func(asker string) bool { return slices.Contains(ids, asker) })
}

var (
	modes  = []Mode{ModeOff, ModeMention, ModeThread, ModeQuestions}
	styles = []ReplyStyle{ReplyInThread, ReplyInPlace}
)

// Validate names what is wrong with a setting. Its errors are fit for people.
func (s Setting) Validate() error {
	switch {
	case s.Mode != "" && !slices.Contains(modes, s.Mode):
		return fmt.Errorf("there is no mode %q, only off, mention, thread and questions", s.Mode)
	case s.Style != "" && !slices.Contains(styles, s.Style):
		return fmt.Errorf("there is no reply style %q, only thread and reply", s.Style)
	case len(s.Askers) > MaxAskers || len(s.Collections) > MaxCollections:
		return fmt.Errorf("at most %d roles and %d collections can be set", MaxAskers, MaxCollections)
	}
	return nil
}

// Toggle adds an id to a list, or takes it away where the list has it.
func Toggle(ids []string, id string) []string {
	if at := slices.Index(ids, id); at >= 0 {
		return slices.Delete(slices.Clone(ids), at, at+1)
	}
	return append(slices.Clone(ids), id)
}

// Placed is a setting, and where it was put.
type Placed struct {
	Space   Space
	Channel string // "" for the whole space
	Setting Setting
}

// sortPlaced puts settings in the order in which List gives them.
func sortPlaced(list []Placed) {
	slices.SortFunc(list, func(a, b Placed) int { return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Channel, b.Channel)) })
}

// Store keeps settings, for all processes. Its methods may be called concurrently.
type Store interface {
	// Get gives the setting that was put last for a channel, or for channel "" that of the whole
	// space; the zero Setting where none was put.
	Get(ctx context.Context, space Space, channel string) (Setting, error)
	// Put keeps a setting in the place of the one before.
	Put(ctx context.Context, space Space, channel string, setting Setting) error
	// List gives all settings that were put, in the order of their spaces and channels.
	List(ctx context.Context) ([]Placed, error)
	// RememberSpaces gives the spaces that were remembered for an app. Where none were, and spaces
	// has some, those are remembered from then on, by whichever process is first.
	RememberSpaces(ctx context.Context, app string, spaces []Space) ([]Space, error)
	// MarkTold notes that a notice was given, and tells whether it is the first one under its key
	// within a time; keep is positive.
	MarkTold(ctx context.Context, key string, keep time.Duration) (first bool, err error)
}

const settingVersion = 1

// storedSetting is a Setting as it is stored.
type storedSetting struct {
	Version int `json:"version"`
	Setting
}

// encodeSetting returns the setting of a space as stores keep it, in JSON.
func encodeSetting(space Space, setting Setting) ([]byte, error) {
	stored, err := json.Marshal(storedSetting{settingVersion, setting})
	if err != nil {
		return nil, fmt.Errorf("encode the setting of %s: %w", space, err)
	}
	return stored, nil
}

// decodeSetting reads what encodeSetting wrote, also in earlier versions of the program.
func decodeSetting(stored []byte) (Setting, error) {
	var read storedSetting
	if err := json.Unmarshal(stored, &read); err != nil {
		return Setting{}, fmt.Errorf("read a setting: %w", err)
	}
	if read.Version != settingVersion {
		return Setting{}, fmt.Errorf("read a setting: it has version %d, this program knows %d", read.Version, settingVersion)
	}
	return read.Setting, nil
}

// encodeSpaces returns the spaces of an app as stores keep them, a list in JSON.
func encodeSpaces(app string, spaces []Space) ([]byte, error) {
	stored, err := json.Marshal(spaces)
	if err != nil {
		return nil, fmt.Errorf("encode the spaces of %s: %w", app, err)
	}
	return stored, nil
}

// decodeSpaces reads what encodeSpaces wrote.
func decodeSpaces(app string, stored []byte) ([]Space, error) {
	var spaces []Space
	if err := json.Unmarshal(stored, &spaces); err != nil {
		return nil, fmt.Errorf("read the spaces of %s: %w", app, err)
	}
	return spaces, nil
}

// Restrict gives the collections that may be asked where some are chosen and allowed are all that
// the program's configuration gives to the space; empty lists mean all. ok is false where nothing
// is left.
func Restrict(chosen, allowed []string) (collections []string, ok bool) {
	switch {
	case len(allowed) == 0:
		return chosen, true
	case len(chosen) == 0:
		return allowed, true
	}
	for _, name := range chosen {
		if slices.Contains(allowed, name) {
			collections = append(collections, name)
		}
	}
	return collections, len(collections) > 0
}
