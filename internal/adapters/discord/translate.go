package discord

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// identity is who the bot is.
type identity struct {
	user string
	// role gives the bot's own role in a server, "" where it is not known; nil: nowhere.
	role func(guild string) string
}

func (i identity) roleIn(guild string) string {
	if i.role == nil {
		return ""
	}
	return i.role(guild)
}

// translateEvent tells what a dispatch of the gateway means. An error is for data that is none
// of Discord's.
func translateEvent(event string, data []byte, me identity) (signal, error) {
	var found signal
	var err error
	switch event {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		var message wireMessage
		if err = webhook.Decode(data, &message); err == nil {
			found = messageMeaning(event, message, me)
		}
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		found, err = deletedMeaning(data)
	case "INTERACTION_CREATE":
		return parseInteraction(data)
	case "THREAD_CREATE", "THREAD_UPDATE", "CHANNEL_CREATE", "CHANNEL_UPDATE":
		var channel wireChannel
		if err = webhook.Decode(data, &channel); err == nil {
			found = signal{kind: kindLearned, learned: []wireChannel{channel}}
		}
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_REMOVE_ALL", "MESSAGE_REACTION_REMOVE_EMOJI", "THREAD_DELETE":
		found, err = reactedMeaning(event, data, me)
	case "GUILD_CREATE":
		found, err = guildMeaning(data, me)
	default:
		return ignoredSignal("events of type " + markup.CleanLine(render.Head(event, 60)) + " mean nothing to Cairn"), nil
	}
	if err != nil {
		return signal{}, fmt.Errorf("read a %s of Discord's: %w", render.Head(event, 60), err)
	}
	return found, nil
}

// maxLearned is how many channels of a server are learned of at once. Others are asked for.
const maxLearned = 1000

func guildMeaning(data []byte, me identity) (signal, error) {
	var guild struct {
		ID       string        `json:"id"`
		Channels []wireChannel `json:"channels"`
		Threads  []wireChannel `json:"threads"`
		Roles    []struct {
			ID   string `json:"id"`
			Tags *struct {
				Bot string `json:"bot_id"`
			} `json:"tags"`
		} `json:"roles"`
	}
	if err := webhook.Decode(data, &guild); err != nil {
		return signal{}, err
	}
	found := signal{kind: kindLearned, at: where{guild: guild.ID}, learned: append(guild.Threads, guild.Channels...)}
	found.learned = found.learned[:min(len(found.learned), maxLearned)]
	for _, role := range guild.Roles {
		if role.Tags != nil && role.Tags.Bot == me.user && me.user != "" {
			found.role = role.ID
		}
	}
	return found, nil
}

func deletedMeaning(data []byte) (signal, error) {
	var gone struct {
		ID      string   `json:"id"`
		IDs     []string `json:"ids"`
		Channel string   `json:"channel_id"`
		Guild   string   `json:"guild_id"`
	}
	if err := webhook.Decode(data, &gone); err != nil {
		return signal{}, err
	}
	ids := gone.IDs
	if gone.ID != "" {
		ids = append(ids, gone.ID)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !snowflake.MatchString(id) })
	if len(ids) == 0 || !snowflake.MatchString(gone.Channel) {
		return ignoredSignal("a deletion of no message"), nil
	}
	return signal{kind: kindRetracted, at: where{guild: guildOr(gone.Guild), channel: gone.Channel, kind: unknownChannel}, gone: ids}, nil
}

// reactedMeaning is a reaction to a message; of a thread that was deleted Discord tells the thread.
func reactedMeaning(event string, data []byte, me identity) (signal, error) {
	var told struct {
		User    string      `json:"user_id"`
		Channel string      `json:"channel_id"`
		Message string      `json:"message_id"`
		Guild   string      `json:"guild_id"`
		Member  *wireMember `json:"member"`
		Author  string      `json:"message_author_id"` // told where the reaction is new
		Emoji   struct {
			Name string `json:"name"`
		} `json:"emoji"`
		ID     string `json:"id"`
		Type   int    `json:"type"` // also of a reaction, where it means nothing
		Parent string `json:"parent_id"`
	}
	if err := webhook.Decode(data, &told); err != nil {
		return signal{}, err
	}
	at := where{guild: guildOr(told.Guild), channel: told.Channel, kind: unknownChannel, message: told.Message}
	if told.Channel == "" {
		at = where{guild: at.guild, channel: told.ID, kind: told.Type, parent: told.Parent}
	}
	if !(place{guild: at.guild, channel: at.channel}).isValid() {
		return ignoredSignal("a reaction in no channel"), nil
	}
	found := signal{kind: kindReacted, at: at}
	isNew, isOver := event == "MESSAGE_REACTION_ADD", event == "MESSAGE_REACTION_REMOVE"
	if (isNew && told.Author == me.user || isOver) && told.User != me.user && snowflake.MatchString(told.User) && snowflake.MatchString(told.Message) {
		found.by, found.verdict, found.removed = chat.UserID(told.User), interact.ReadReaction(told.Emoji.Name), isOver
		if told.Member != nil {
			found.roles = told.Member.Roles
		}
	}
	return found, nil
}

func guildOr(guild string) string {
	if guild == "" {
		return directGuild
	}
	return guild
}

// types of messages that people write.
const (
	plainMessage = 0
	replyMessage = 19
)

func messageMeaning(event string, message wireMessage, me identity) signal {
	switch {
	case message.Author == nil || message.Author.ID == "":
		return ignoredSignal("a message by nobody, or that only its look was changed of")
	case message.Author.Bot || message.WebhookID != "" || message.Author.ID == me.user:
		return ignoredSignal("a message of a bot")
	case message.Type != plainMessage && message.Type != replyMessage:
		return ignoredSignal(fmt.Sprintf("messages of type %d are not what a person says", message.Type))
	case event == "MESSAGE_UPDATE" && message.Edited == nil:
		return ignoredSignal("a changed message that says the same: Discord looked at a link, or pinned it")
	}
	found := signal{kind: kindSaid, by: chat.UserID(message.Author.ID), at: where{
		guild: guildOr(message.GuildID), channel: message.ChannelID, kind: unknownChannel, message: message.ID,
	}}
	if !snowflake.MatchString(message.ID) || !(place{guild: found.at.guild, channel: message.ChannelID}).isValid() || !snowflake.MatchString(message.Author.ID) {
		return ignoredSignal("a message of no channel or author")
	}
	if message.ChannelType != nil {
		found.at.kind = *message.ChannelType
	}
	if message.Member != nil {
		found.roles = message.Member.Roles
	}
	found.readMentions(message, me)
	found.message = chat.Message{
		ID: source{channel: message.ChannelID, message: message.ID}.messageID(), Author: found.by,
		Text: readContent(message, me), At: sentAt(message.Timestamp, message.ID), Files: filesOf(message), Shared: sharedIn(message, me),
	}
	found.empty = message.Content == "" && len(message.Attachments)+len(message.Snapshots) == 0
	if event == "MESSAGE_UPDATE" {
		found.kind = kindEdited
		found.message.At = sentAt(*message.Edited, message.ID)
	}
	return found
}

// readMentions finds out whom a message is for.
func (s *signal) readMentions(message wireMessage, me identity) {
	role := me.roleIn(message.GuildID)
	s.called = role != "" && slices.Contains(message.MentionRoles, role)
	s.roleful = len(message.MentionRoles) > 0
	for _, user := range message.Mentions {
		if user.ID == me.user && me.user != "" {
			s.called = true
		} else {
			s.toOther = true
		}
	}
	if replied := message.Replied; replied != nil && replied.Author != nil {
		if replied.Author.ID != me.user || me.user == "" {
			s.toOther = true
			return
		}
		s.called = true
		if m, ok := markOf(replied.Components); ok && !m.private {
			s.root = m.root
		}
	}
}

// sharedIn gives the messages that a message passes on, and the one that it replies to
// where that is not the bot's own. Discord does not tell who wrote what is passed on.
func sharedIn(message wireMessage, me identity) []chat.Said {
	var shared []chat.Said
	if replied := message.Replied; replied != nil && replied.Author != nil && replied.Author.ID != me.user {
		for _, said := range saidOf(*replied, me) {
			if in := (place{guild: guildOr(message.GuildID), channel: message.ChannelID, root: replied.ID}); in.isValid() && message.Type == replyMessage {
				said.Thread, said.Message = in.threadID(), source{channel: message.ChannelID, message: replied.ID}.messageID()
			}
			shared = append(shared, said)
		}
	}
	for _, snapshot := range message.Snapshots {
		shared = append(shared, saidOf(snapshot.Message, me)...)
	}
	return shared[:min(len(shared), chat.MaxSaid)]
}

// saidOf gives a message as it was said; none where it has no words.
func saidOf(message wireMessage, me identity) []chat.Said {
	said := chat.Said{Text: readContent(message, me), At: sentAt(message.Timestamp, message.ID)}
	if said.Text == "" {
		return nil
	}
	if by := message.Author; by != nil {
		said.App, said.Self = by.Bot && by.ID != me.user, by.ID == me.user && me.user != ""
		if said.Author = by.Global; said.Author == "" {
			said.Author = by.Username
		}
	}
	return []chat.Said{said}
}

func filesOf(message wireMessage) []chat.File {
	var files []chat.File
	for _, file := range message.Attachments[:min(len(message.Attachments), chat.MaxFiles)] {
		files = append(files, chat.File{
			ID:   strings.Join([]string{message.ChannelID, message.ID, file.ID}, "."),
			Name: file.Filename, MediaType: file.MediaType, Size: file.Size,
		})
	}
	return files
}

// sentAt is when something was written, by its stamp or else its id.
func sentAt(stamp, id string) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		return at.UTC()
	}
	return bornAt(id)
}

// calls are how Discord writes mentions, emoji and times.
var calls = regexp.MustCompile(`<(@!?|@&|#|a?:\w{1,40}:|t:|/[\w -]{1,100}:)(-?\d{1,20})(:[tTdDfFR])?>`)

// readContent gives what a message says in plain words: the bot's own name is left out.
func readContent(message wireMessage, me identity) string {
	names := map[string]string{}
	for _, user := range message.Mentions {
		names[user.ID] = user.Username
		if user.Global != "" {
			names[user.ID] = user.Global
		}
	}
	role := me.roleIn(message.GuildID)
	text := calls.ReplaceAllStringFunc(message.Content, func(found string) string {
		parts := calls.FindStringSubmatch(found)
		switch what, id := parts[1], parts[2]; {
		case strings.HasPrefix(what, "@") && (id == me.user || what == "@&" && id == role):
			return ""
		case what == "@&":
			return "@role"
		case strings.HasPrefix(what, "@") && names[id] != "":
			return "@" + names[id]
		case strings.HasPrefix(what, "@"):
			return "@somebody"
		case what == "#":
			return "#channel"
		case what == "t:":
			return sentAtUnix(id)
		case strings.HasPrefix(what, "/"):
			return strings.TrimSuffix(what, ":")
		default:
			return strings.TrimPrefix(what, "a")
		}
	})
	return strings.TrimSpace(markup.Clean(text))
}

func sentAtUnix(seconds string) string {
	at, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return ""
	}
	return time.Unix(0, 0).Add(at).UTC().Format("2006-01-02 15:04 MST")
}
