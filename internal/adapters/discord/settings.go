package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Mode is what the bot answers in a channel. Each mode hears what those before it hear; in
// direct conversations it always hears all.
type Mode string

// The modes.
const (
	// ModeOff hears nothing; commands are refused, too.
	ModeOff Mode = "off"
	// ModeMention hears mentions, replies to the bot, and what is said in its threads.
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

// Setting is how the bot behaves in a server or channel. What is empty is as it is in what
// is around it: a thread is in a channel, a channel in a server, and a server in
// Options.Default.
type Setting struct {
	Mode        Mode       `json:"mode,omitempty"`
	Style       ReplyStyle `json:"style,omitempty"`
	Collections []string   `json:"collections,omitempty"` // that answers come from; empty: all
	Roles       []string   `json:"roles,omitempty"`       // ids of those that may ask; empty: everybody
}

// Settings keeps what people set by /cairn-admin, for all processes. Its methods may be
// called concurrently.
type Settings interface {
	// Get gives what was put last for a channel, or for channel "" the whole server; the
	// zero Setting where nothing was.
	Get(ctx context.Context, guild, channel string) (Setting, error)
	// Put keeps a setting in the place of what was there.
	Put(ctx context.Context, guild, channel string, setting Setting) error
}

// Ticket is the right to answer an interaction. Discord takes it back after 15 minutes.
type Ticket struct {
	Token string `json:"token"`
	// Original tells that the interaction's first answer is the bot's to write.
	Original bool      `json:"original,omitempty"`
	Private  bool      `json:"private,omitempty"` // only one person sees the answer
	On       string    `json:"on,omitempty"`      // the message that was pressed on, which is edited as that answer
	Until    time.Time `json:"until"`
}

// Tickets keeps the right to answer interactions, for all processes: the one that has the
// answer is often not the one that was asked. Its methods may be called concurrently.
type Tickets interface {
	// Keep keeps a ticket under the id of its interaction until Ticket.Until, in the place
	// of one that is there.
	Keep(ctx context.Context, interaction string, ticket Ticket) error
	// Ticket gives what was kept; the zero Ticket where there is none, or it has run out.
	Ticket(ctx context.Context, interaction string) (Ticket, error)
}

const settingVersion = 1

// storedSetting is a Setting as it is stored.
type storedSetting struct {
	Version int `json:"version"`
	Setting
}

// EncodeSetting gives a setting as stores keep it, in JSON.
func EncodeSetting(setting Setting) ([]byte, error) {
	return json.Marshal(storedSetting{settingVersion, setting})
}

// DecodeSetting reads what EncodeSetting gave, also in earlier versions of the program.
func DecodeSetting(stored []byte) (Setting, error) {
	var read storedSetting
	if err := json.Unmarshal(stored, &read); err != nil {
		return Setting{}, fmt.Errorf("read a setting: %w", err)
	}
	if read.Version != settingVersion {
		return Setting{}, fmt.Errorf("read a setting: it has version %d, this program knows %d", read.Version, settingVersion)
	}
	return read.Setting, nil
}

// within gives a setting with what is empty taken from what is around it.
func (s Setting) within(around Setting) Setting {
	if s.Mode == "" {
		s.Mode = around.Mode
	}
	if s.Style == "" {
		s.Style = around.Style
	}
	if len(s.Collections) == 0 {
		s.Collections = around.Collections
	}
	if len(s.Roles) == 0 {
		s.Roles = around.Roles
	}
	return s
}

var (
	modes  = []Mode{ModeOff, ModeMention, ModeThread, ModeQuestions}
	styles = []ReplyStyle{ReplyInThread, ReplyInPlace}
)

// valid names what is wrong with a setting.
func (s Setting) valid() error {
	if s.Mode != "" && !slices.Contains(modes, s.Mode) {
		return fmt.Errorf("there is no mode %q, only off, mention, thread and questions", s.Mode)
	}
	if s.Style != "" && !slices.Contains(styles, s.Style) {
		return fmt.Errorf("there is no reply style %q, only thread and reply", s.Style)
	}
	return nil
}
