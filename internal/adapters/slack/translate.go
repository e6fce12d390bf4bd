package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// Events are read into structs of our own, not the SDK's: it refuses a whole event
// whose message holds a block that it does not know.

// outer is the envelope of the Events API.
type outer struct {
	Type       string `json:"type"`
	Challenge  string `json:"challenge"`
	TeamID     string `json:"team_id"`
	Enterprise string `json:"enterprise_id"`
	EventID    string `json:"event_id"`
	// ContextTeam is the workspace through which the app hears of the event, TeamID in a channel
	// that is shared with another company possibly that company's.
	ContextTeam    string `json:"context_team_id"`
	IsExtShared    bool   `json:"is_ext_shared_channel"`
	Authorizations []struct {
		TeamID string `json:"team_id"`
		UserID string `json:"user_id"`
		IsBot  bool   `json:"is_bot"`
	} `json:"authorizations"`
	Event inner `json:"event"`
}

// inner holds the fields of all the events that mean something to Cairn.
type inner struct {
	wireMessage
	Type    string       `json:"type"`
	Channel channelField `json:"channel"`
	Changed *wireMessage `json:"message"`
	Before  *wireMessage `json:"previous_message"`
	Tab     string       `json:"tab"`
	Tokens  struct {
		Bot []string `json:"bot"`
	} `json:"tokens"`
	// Item is what was reacted to, ItemUser its author.
	Item struct {
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	} `json:"item"`
	ItemUser  string `json:"item_user"`
	Reaction  string `json:"reaction"`
	Assistant struct {
		UserID    string `json:"user_id"`
		ChannelID string `json:"channel_id"`
		ThreadTS  string `json:"thread_ts"`
		Context   struct {
			ChannelID string `json:"channel_id"`
		} `json:"context"`
	} `json:"assistant_thread"`
	// Context is what the person looks at while the app is open, the most relevant first.
	Context struct {
		Entities []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"` // a text for some types
			Team  string          `json:"team_id"`
		} `json:"entities"`
	} `json:"context"`
}

// channelEntity is the type of a channel that a person looks at.
const channelEntity = "slack#/types/channel_id"

// viewedChannel is the channel that a person looks at, "" for none of the workspace.
func (e inner) viewedChannel(team string) string {
	for _, entity := range e.Context.Entities {
		var id string
		if entity.Type == channelEntity && (entity.Team == "" || entity.Team == team) && json.Unmarshal(entity.Value, &id) == nil && slackID.MatchString(id) {
			return id
		}
	}
	return ""
}

// homeTeam is the workspace whose app hears of the event.
func (o outer) homeTeam() string {
	if !o.IsExtShared {
		return o.TeamID
	}
	for _, of := range o.Authorizations {
		if of.IsBot && slackID.MatchString(of.TeamID) {
			return of.TeamID
		}
	}
	if o.ContextTeam != "" {
		return o.ContextTeam
	}
	return o.TeamID
}

// wireMessage is a message as Slack tells of it.
type wireMessage struct {
	Subtype string    `json:"subtype"`
	User    userField `json:"user"`
	// The team of the person: the first two are told where it may be another one than the event's.
	UserTeam   string `json:"user_team"`
	SourceTeam string `json:"source_team"`
	Team       string `json:"team"`
	BotID      string `json:"bot_id"`
	// WorkflowID is told of messages that a workflow of Workflow Builder posts, and BotProfile of those
	// of all programs.
	WorkflowID string `json:"workflow_id"`
	BotProfile struct {
		IsWorkflow bool `json:"is_workflow_bot"`
	} `json:"bot_profile"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts"`
	Edited   struct {
		TS string `json:"ts"`
	} `json:"edited"`
	Files []struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Mimetype string `json:"mimetype"`
		Size     int64  `json:"size"`
	} `json:"files"`
	// Attachments are the messages that this one shares, and links that Slack unfurled.
	Attachments []struct {
		Shared     bool   `json:"is_share"`
		Unfurled   bool   `json:"is_msg_unfurl"`
		AuthorName string `json:"author_name"`
		ChannelID  string `json:"channel_id"`
		Text       string `json:"text"`
		TS         string `json:"ts"`
	} `json:"attachments"`
}

// userField is a user's id. Some events tell a whole user there, which no message does.
type userField string

func (u *userField) UnmarshalJSON(raw []byte) error {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		*u = userField(id)
	}
	return nil
}

// channelField is a channel's id. Some events tell a whole channel there.
type channelField string

func (c *channelField) UnmarshalJSON(raw []byte) error {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		*c = channelField(id)
	}
	return nil
}

// translateEvent tells what an event means. bot is the app's own user, for envelopes that
// don't tell it. An error is for a body that is none of Slack's.
func translateEvent(body []byte, bot string) (signal, error) {
	var envelope outer
	if err := webhook.Decode(body, &envelope); err != nil {
		return signal{}, fmt.Errorf("read an event of Slack's: %w", err)
	}
	switch envelope.Type {
	case "event_callback":
	case "app_rate_limited":
		return signal{kind: kindLimited, place: place{team: envelope.TeamID}}, nil
	default:
		return ignoredSignal("envelopes of type " + strconv.Quote(envelope.Type) + " mean nothing to Cairn"), nil
	}
	told := ""
	for _, of := range envelope.Authorizations {
		if of.IsBot && of.UserID != "" {
			told, bot = of.UserID, of.UserID
		}
	}
	found := translateEnvelope(envelope, bot)
	found.event, found.enterprise, found.told = envelope.EventID, envelope.Enterprise, told
	return found, nil
}

func translateEnvelope(envelope outer, bot string) signal {
	event := envelope.Event
	at := place{team: envelope.homeTeam(), channel: string(event.Channel)}
	switch event.Type {
	case "app_mention", "message":
		return messageMeaning(event, at, bot)
	case "reaction_added", "reaction_removed":
		at.channel, at.root = event.Item.Channel, event.Item.TS
		if !at.isValid() {
			return ignoredSignal("a reaction to no message")
		}
		found := signal{kind: kindReacted, place: at, by: chat.UserID(event.User), removed: event.Type == "reaction_removed"}
		if event.ItemUser == bot && bot != "" && string(event.User) != bot {
			found.verdict = interact.ReadReaction(event.Reaction)
		}
		return found
	case "app_home_opened":
		return signal{kind: kindOpened, place: at, by: chat.UserID(event.User), tab: event.Tab}
	case "assistant_thread_started":
		at.channel, at.root = event.Assistant.ChannelID, event.Assistant.ThreadTS
		return signal{kind: kindOpened, place: at, by: chat.UserID(event.Assistant.UserID), tab: "messages"}
	case "app_context_changed":
		if event.User == "" {
			return ignoredSignal("nobody looks at something else")
		}
		return signal{kind: kindViewed, place: at, by: chat.UserID(event.User), viewed: event.viewedChannel(at.team)}
	case "assistant_thread_context_changed":
		at.channel, at.root = event.Assistant.ChannelID, event.Assistant.ThreadTS
		if !at.isValid() {
			return ignoredSignal("a changed context of no thread")
		}
		return signal{kind: kindViewed, place: at, by: chat.UserID(event.Assistant.UserID), viewed: event.Assistant.Context.ChannelID}
	case "agent_session_stopped":
		at.root = event.ThreadTS
		if !at.isValid() {
			return ignoredSignal("a stopped session of no thread")
		}
		return signal{kind: kindHalted, place: at, by: chat.UserID(event.User)}
	case "app_uninstalled":
		return signal{kind: kindLeft, place: at}
	case "tokens_revoked":
		if len(event.Tokens.Bot) == 0 {
			return ignoredSignal("tokens of people were revoked, of which Cairn has none")
		}
		return signal{kind: kindLeft, place: at}
	}
	return ignoredSignal("events of type " + strconv.Quote(event.Type) + " mean nothing to Cairn")
}

func messageMeaning(event inner, at place, bot string) signal {
	switch event.Subtype {
	case "", "file_share", "thread_broadcast":
		if event.isOfWorkflow(bot) {
			return workflowMeaning(event.wireMessage, at, bot)
		}
		return saidMeaning(event.wireMessage, at, bot)
	case "bot_message":
		if event.isOfWorkflow(bot) {
			return workflowMeaning(event.wireMessage, at, bot)
		}
	case "message_changed":
		return changedMeaning(event, at, bot)
	case "message_deleted":
		return deletedMeaning(event, at, bot)
	}
	return ignoredSignal("messages of subtype " + strconv.Quote(event.Subtype) + " are not what a person says")
}

// isOfWorkflow tells what a workflow of Workflow Builder posts, and nobody presses a button for.
func (m wireMessage) isOfWorkflow(bot string) bool {
	return (m.WorkflowID != "" || m.BotProfile.IsWorkflow) && m.BotID != "" && string(m.User) != bot
}

// workflowMeaning is what a workflow says in a channel. Its author is nobody: whoever reads the answer
// may go on. What a workflow says in a thread is never answered, so that two programs can't keep
// each other talking there.
func workflowMeaning(message wireMessage, at place, bot string) signal {
	at.root = message.TS
	if !at.isValid() || at.isDirect() || message.ThreadTS != "" && message.ThreadTS != message.TS {
		return ignoredSignal("a message of a workflow in a thread, or directly")
	}
	words := readMrkdwn(message.Text, bot)
	return signal{kind: kindPosted, place: at, message: chat.Message{
		ID: chat.MessageID(message.TS), Thread: at.threadID(), Text: words.text, At: timeOf(message.TS), Shared: sharedIn(message, at),
	}}
}

func deletedMeaning(event inner, at place, bot string) signal {
	if event.Before == nil || !byPerson(*event.Before, bot) {
		return ignoredSignal("a deleted message that was not a person's")
	}
	found := saidMeaning(*event.Before, at, bot)
	if found.kind == kindSaid {
		found.kind = kindRetracted
	}
	return found
}

// tombstone is the subtype of what stands in the place of a deleted message that has
// replies: Slack tells of it as of a change.
const tombstone = "tombstone"

func changedMeaning(event inner, at place, bot string) signal {
	switch {
	case event.Changed != nil && event.Changed.Subtype == tombstone:
		return deletedMeaning(event, at, bot)
	case event.Changed == nil || !byPerson(*event.Changed, bot):
		return ignoredSignal("a changed message that is not a person's")
	case event.Before != nil && event.Before.Text == event.Changed.Text:
		return ignoredSignal("a changed message that says the same: Slack unfurled a link, or counted a reply")
	}
	changed := saidMeaning(*event.Changed, at, bot)
	if changed.kind != kindSaid {
		return changed
	}
	changed.kind = kindEdited
	if at := timeOf(event.Changed.Edited.TS); !at.IsZero() {
		changed.message.At = at
	} else if at := timeOf(event.TS); !at.IsZero() {
		changed.message.At = at
	}
	// An edit that mentions the bot, or does so no more, is for it either way.
	if event.Before != nil {
		before := readMrkdwn(event.Before.Text, bot)
		changed.calledNow = changed.called && !before.called
		changed.called = changed.called || before.called
	}
	return changed
}

// byPerson tells messages of people from those of bots, our own among them.
func byPerson(message wireMessage, bot string) bool {
	return message.User != "" && message.BotID == "" && string(message.User) != bot && message.User != "USLACKBOT"
}

func rootOf(message wireMessage) string {
	if message.ThreadTS != "" {
		return message.ThreadTS
	}
	return message.TS
}

func saidMeaning(message wireMessage, at place, bot string) signal {
	if !byPerson(message, bot) {
		return ignoredSignal("a message of a bot")
	}
	at.root = rootOf(message)
	if !timestamp.MatchString(message.TS) || !at.isValid() {
		return ignoredSignal("a message of no channel or time")
	}
	words := readMrkdwn(message.Text, bot)
	found := signal{
		kind: kindSaid, place: at, by: chat.UserID(message.User), userTeam: cmp.Or(message.UserTeam, message.SourceTeam, message.Team),
		direct: at.isDirect(), reply: message.ThreadTS != "" && message.ThreadTS != message.TS,
		called: words.called, toOther: words.toOther,
		message: chat.Message{
			ID: chat.MessageID(message.TS), Thread: at.threadID(), Author: chat.UserID(message.User),
			Text: words.text, At: timeOf(message.TS), Shared: sharedIn(message, at),
		},
	}
	for _, file := range message.Files[:min(len(message.Files), chat.MaxFiles)] {
		found.message.Files = append(found.message.Files, chat.File{ID: file.ID, Name: file.Name, MediaType: file.Mimetype, Size: file.Size})
	}
	return found
}

// sharedIn gives the messages that a message shares.
func sharedIn(message wireMessage, at place) []chat.Said {
	var shared []chat.Said
	for _, attached := range message.Attachments {
		if text := readMrkdwn(attached.Text, "").text; (attached.Shared || attached.Unfurled) && text != "" && len(shared) < chat.MaxSaid {
			said := chat.Said{Author: attached.AuthorName, Text: text, At: timeOf(attached.TS)}
			if from := (place{team: at.team, channel: attached.ChannelID, root: attached.TS}); from.isValid() {
				said.Thread, said.Message = from.threadID(), chat.MessageID(attached.TS)
			}
			shared = append(shared, said)
		}
	}
	return shared
}

// timeOf is when a message was written, to the microsecond: "1767326125.870439"; the zero
// time for what is no timestamp.
func timeOf(ts string) time.Time {
	if !timestamp.MatchString(ts) {
		return time.Time{}
	}
	seconds, decimals, _ := strings.Cut(ts, ".")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	micros, err := strconv.ParseInt((decimals + "000000")[:6], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(unix, 1000*micros).UTC()
}
