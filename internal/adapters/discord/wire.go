package discord

import "encoding/json"

// What is sent and read are structs of our own: the SDK's lack nonces, send empty lists
// where Discord wants none, and fail as a whole on a component that they don't know.

// note is a message as it is sent or shown again.
type note struct {
	Content    string       `json:"content"`
	Embeds     []embed      `json:"embeds"`
	Components []component  `json:"components"`
	Mentions   mentions     `json:"allowed_mentions"`
	Attached   []attachment `json:"attachments,omitzero"` // nil: those that there are stay
	Flags      int          `json:"flags,omitempty"`
}

// flags of messages.
const (
	threaded  = 1 << 5 // a thread was started from it
	ephemeral = 1 << 6 // one person sees it
	loading   = 1 << 7 // "Cairn is thinking…"

	// displayed is a message that is made of components alone.
	displayed = 1 << 15
)

// display is a message that is made of components alone: it has no text and no embeds.
type display struct {
	Components []component `json:"components"`
	Mentions   mentions    `json:"allowed_mentions"`
	Flags      int         `json:"flags"`
}

// mentions are who may be called by a message: nobody but those named.
type mentions struct {
	Parse   []string `json:"parse"` // always empty
	Users   []string `json:"users,omitempty"`
	Roles   []string `json:"roles,omitempty"`
	Replied bool     `json:"replied_user"` // whoever wrote the message that is replied to
}

// callNobody is called.
func callNobody() mentions { return mentions{Parse: []string{}} }

type attachment struct {
	ID       string `json:"id"` // the number of the upload
	Filename string `json:"filename"`
}

type embed struct {
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	Color       int          `json:"color,omitempty"`
	Footer      *embedFooter `json:"footer,omitempty"`
	Image       *embedImage  `json:"image,omitempty"`
}

type embedFooter struct {
	Text string `json:"text"`
}

type embedImage struct {
	URL string `json:"url"`
}

// component is any of Discord's components that Cairn sends or reads.
type component struct {
	Type        componentType `json:"type"`
	Components  []component   `json:"components,omitempty"`
	CustomID    string        `json:"custom_id,omitempty"`
	Label       string        `json:"label,omitempty"`
	Style       int           `json:"style,omitempty"`
	Disabled    bool          `json:"disabled,omitempty"`
	Placeholder string        `json:"placeholder,omitempty"`
	Options     []option      `json:"options,omitempty"`
	MaxLength   int           `json:"max_length,omitempty"`
	Required    *bool         `json:"required,omitempty"`
	Value       string        `json:"value,omitempty"`
	// Content is of text, Accessory of a section, URL of a button that is a link, and AccentColor
	// of a container.
	Content     string     `json:"content,omitempty"`
	Accessory   *component `json:"accessory,omitempty"`
	URL         string     `json:"url,omitempty"`
	AccentColor int        `json:"accent_color,omitempty"`
}

type componentType int

const (
	rowType    componentType = 1
	buttonType componentType = 2
	selectType componentType = 3
	inputType  componentType = 4

	sectionType   componentType = 9
	textType      componentType = 10
	separatorType componentType = 14
	containerType componentType = 17
)

// styles of buttons, and of inputs.
const (
	primary   = 1
	secondary = 2
	success   = 3
	danger    = 4
	link      = 5

	manyLines = 2
)

type option struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
}

// reference makes a message a reply.
type reference struct {
	MessageID string `json:"message_id"`
	// FailIfGone is always false: a reply to what is gone is an ordinary message.
	FailIfGone bool `json:"fail_if_not_exists"`
}

// newMessage is a message that is made in a channel.
type newMessage struct {
	note
	Nonce     string     `json:"nonce"`
	Enforce   bool       `json:"enforce_nonce"`
	Reference *reference `json:"message_reference,omitempty"`
}

// wireUser is a person or bot.
type wireUser struct {
	ID       string `json:"id"`
	Bot      bool   `json:"bot"`
	Username string `json:"username"`
	Global   string `json:"global_name"`
}

// wireMessage is a message as Discord tells of it.
type wireMessage struct {
	ID           string       `json:"id"`
	ChannelID    string       `json:"channel_id"`
	ChannelType  *int         `json:"channel_type"`
	GuildID      string       `json:"guild_id"`
	Type         int          `json:"type"`
	Content      string       `json:"content"`
	Timestamp    string       `json:"timestamp"`
	Edited       *string      `json:"edited_timestamp"`
	WebhookID    string       `json:"webhook_id"`
	Flags        int          `json:"flags"`
	Author       *wireUser    `json:"author"`
	Member       *wireMember  `json:"member"`
	Mentions     []wireUser   `json:"mentions"`
	MentionRoles []string     `json:"mention_roles"`
	Attachments  []wireFile   `json:"attachments"`
	Components   []component  `json:"components"`
	Replied      *wireMessage `json:"referenced_message"`
	Thread       *wireChannel `json:"thread"` // that was started from it
	Reactions    []struct {
		Count int  `json:"count"`
		Me    bool `json:"me"`
		Emoji struct {
			Name string `json:"name"`
		} `json:"emoji"`
	} `json:"reactions"`
	// Snapshots are the messages that this one passes on.
	Snapshots []struct {
		Message wireMessage `json:"message"`
	} `json:"message_snapshots"`
}

// hasThread tells whether a thread was started from the message.
func (m wireMessage) hasThread() bool { return m.Flags&threaded != 0 || m.Thread != nil }

type wireMember struct {
	Roles       []string  `json:"roles"`
	Permissions string    `json:"permissions"`
	User        *wireUser `json:"user"`
}

type wireFile struct {
	ID        string `json:"id"`
	Filename  string `json:"filename"`
	MediaType string `json:"content_type"`
	Size      int64  `json:"size"`
	URL       string `json:"url"`
}

// wireChannel is a channel or thread.
type wireChannel struct {
	ID       string `json:"id"`
	GuildID  string `json:"guild_id"`
	Type     int    `json:"type"`
	ParentID string `json:"parent_id"`
	OwnerID  string `json:"owner_id"` // who started the thread
	Name     string `json:"name"`
	// LastMessage is the last message in it; "" for none. MessageCount is of threads: how many
	// messages are in it but the one that it was started from.
	LastMessage  string `json:"last_message_id"`
	MessageCount int    `json:"message_count"`
	Thread       *struct {
		Archived string `json:"archive_timestamp"` // when that changed last
	} `json:"thread_metadata"`
	// Recipients are the people of a direct conversation beside the bot.
	Recipients []struct {
		ID string `json:"id"`
	} `json:"recipients"`
}

// kinds of channels.
const (
	textChannel    = 0
	directChannel  = 1
	newsChannel    = 5
	newsThread     = 10
	publicThread   = 11
	privateThread  = 12
	forumChannel   = 15
	unknownChannel = -1
)

func isThread(kind int) bool {
	return kind == newsThread || kind == publicThread || kind == privateThread
}

// wireInteraction is a command, a press, a form that was sent, or a field to complete.
type wireInteraction struct {
	ID            string          `json:"id"`
	ApplicationID string          `json:"application_id"`
	Type          int             `json:"type"`
	Token         string          `json:"token"`
	GuildID       string          `json:"guild_id"`
	ChannelID     string          `json:"channel_id"`
	Channel       *wireChannel    `json:"channel"`
	Member        *wireMember     `json:"member"`
	User          *wireUser       `json:"user"`
	Message       *wireMessage    `json:"message"`
	Data          interactionData `json:"data"`
}

// types of interactions.
const (
	pingInteraction     = 1
	commandInteraction  = 2
	pressInteraction    = 3
	completeInteraction = 4
	formInteraction     = 5
)

type interactionData struct {
	Name       string          `json:"name"`
	Type       int             `json:"type"`
	Options    []commandOption `json:"options"`
	TargetID   string          `json:"target_id"`
	CustomID   string          `json:"custom_id"`
	Values     []string        `json:"values"`
	Components []component     `json:"components"`
	Resolved   struct {
		Messages map[string]*wireMessage `json:"messages"`
	} `json:"resolved"`
}

// types of commands.
const (
	slashCommand   = 1
	messageCommand = 3
)

// commandOption is what stands in a field of a command, or a subcommand.
type commandOption struct {
	Name    string          `json:"name"`
	Type    int             `json:"type"`
	Value   json.RawMessage `json:"value"`
	Options []commandOption `json:"options"`
	Focused bool            `json:"focused"`
}

// textValue is the value of a field that holds text or an id, "" for any other.
func (o commandOption) textValue() string {
	var text string
	if json.Unmarshal(o.Value, &text) != nil {
		return ""
	}
	return text
}

// isTrue tells whether a field holds true.
func (o commandOption) isTrue() bool { return string(o.Value) == "true" }
