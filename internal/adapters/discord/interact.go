package discord

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// parseInteraction tells what an interaction means. An error is for data that is none of
// Discord's.
func parseInteraction(data []byte) (signal, error) {
	var of wireInteraction
	if err := webhook.Decode(data, &of); err != nil {
		return signal{}, fmt.Errorf("read an interaction of Discord's: %w", err)
	}
	if of.Type == pingInteraction {
		return signal{kind: kindPinged}, nil
	}
	found := signal{interaction: &interaction{id: of.ID, token: of.Token, application: of.ApplicationID}, at: whereOf(of)}
	found.identifyPerson(of)
	if !snowflake.MatchString(of.ID) || !snowflake.MatchString(string(found.by)) ||
		!(place{guild: found.at.guild, channel: found.at.channel}).isValid() {
		return ignoredSignal("an interaction in no channel, or by nobody"), nil
	}
	switch of.Type {
	case commandInteraction:
		return commandMeaning(found, of), nil
	case completeInteraction:
		return completeMeaning(found, of), nil
	case pressInteraction:
		return pressMeaning(found, of), nil
	case formInteraction:
		return formMeaning(found, of), nil
	}
	return ignoredSignal("interactions of type " + strconv.Itoa(of.Type) + " mean nothing to Cairn"), nil
}

func whereOf(of wireInteraction) where {
	at := where{guild: guildOr(of.GuildID), channel: of.ChannelID, kind: unknownChannel}
	if of.Channel != nil {
		at.kind, at.parent, at.name = of.Channel.Type, of.Channel.ParentID, of.Channel.Name
		if at.channel == "" {
			at.channel = of.Channel.ID
		}
	}
	return at
}

// identifyPerson finds out whose interaction it is.
func (s *signal) identifyPerson(of wireInteraction) {
	user := of.User
	if of.Member != nil {
		s.roles = of.Member.Roles
		if of.Member.User != nil {
			user = of.Member.User
		}
		allowed, err := strconv.ParseInt(of.Member.Permissions, 10, 64)
		s.interaction.mayManage = err == nil && allowed&(discordgo.PermissionManageGuild|discordgo.PermissionAdministrator) != 0
	}
	if user != nil {
		s.by = chat.UserID(user.ID)
	}
}

// Names of commands.
const (
	cairnCommand = "cairn"
	askCommand   = "ask" // short for /cairn ask
	adminCommand = "cairn-admin"
	aboutCommand = "Ask Cairn about this"
)

func commandMeaning(found signal, of wireInteraction) signal {
	found.kind = kindCommanded
	found.message = chat.Message{
		ID: source{channel: found.at.channel, interaction: of.ID}.messageID(), Author: found.by, At: bornAt(of.ID),
	}
	options := of.Data.Options
	switch {
	case of.Data.Type == messageCommand && of.Data.Name == aboutCommand:
		return aboutMeaning(found, of)
	case of.Data.Type > slashCommand:
		return ignoredSignal("a command that is not Cairn's")
	case of.Data.Name == adminCommand:
		return adminMeaning(found, options)
	case of.Data.Name == cairnCommand && len(options) == 1 && options[0].Type == 1:
		found.message.Text = found.interaction.readCommand("/cairn "+options[0].Name, options[0].Options)
	case of.Data.Name == askCommand:
		found.message.Text = found.interaction.readCommand("/cairn ask", options)
	default:
		return ignoredSignal("a command that is not Cairn's")
	}
	return found
}

// readCommand reads a command's fields as the text that the bot reads in a message: the
// collection, then the words.
func (i *interaction) readCommand(command string, options []commandOption) string {
	var collection, words string
	for _, field := range options {
		switch field.Name {
		case collectionOption:
			if collection = strings.TrimPrefix(markup.CleanLine(field.textValue()), "@"); collection != "" {
				collection = " @" + collection
			}
		case privateOption:
			i.private = field.isTrue()
		default:
			words += " " + strings.TrimSpace(markup.Clean(field.textValue()))
		}
	}
	return strings.TrimRight(command+collection+words, " ")
}

// aboutMeaning is a command on a message: what it says is asked, in its thread.
func aboutMeaning(found signal, of wireInteraction) signal {
	target := of.Data.Resolved.Messages[of.Data.TargetID]
	if target == nil || !snowflake.MatchString(of.Data.TargetID) {
		return ignoredSignal("a command on no message")
	}
	found.interaction.target, found.at.message = of.Data.TargetID, of.Data.TargetID
	target.ID, target.ChannelID = of.Data.TargetID, found.at.channel
	found.message.ID = source{channel: found.at.channel, message: of.Data.TargetID, interaction: of.ID}.messageID()
	found.message.Text, found.message.Files = readContent(*target, identity{}), filesOf(*target)
	found.empty = found.message.Text == "" && len(found.message.Files) == 0
	return found
}

func completeMeaning(found signal, of wireInteraction) signal {
	found.kind = kindCompleted
	var look func(options []commandOption)
	look = func(options []commandOption) {
		for _, field := range options {
			if field.Focused {
				found.interaction.field, found.interaction.words = field.Name, field.textValue()
			}
			look(field.Options)
		}
	}
	look(of.Data.Options)
	return found
}

// pressMeaning is a press, on the bot's own message.
func pressMeaning(found signal, of wireInteraction) signal {
	does, ok := parseAction(of.Data.CustomID)
	switch {
	case !ok || does.does == verbNone:
		return ignoredSignal("a press of a button that is not Cairn's")
	case of.Message == nil:
		return ignoredSignal("a press on no message")
	}
	found.kind = kindPressed
	found.pressedOn(of.Message)
	if does.does == verbMenu {
		if len(of.Data.Values) != 1 || !interact.Verb(of.Data.Values[0]).IsOfMenu() {
			return ignoredSignal("a choice of a menu that is not Cairn's")
		}
		does.does = interact.Verb(of.Data.Values[0])
	}
	found.interaction.does = does
	if does.does == interact.Choose && len(of.Data.Values) > 0 {
		found.interaction.does.value = of.Data.Values[0]
	}
	found.message = chat.Message{ID: source{channel: found.at.channel, interaction: of.ID}.messageID(), Author: found.by, At: bornAt(of.ID)}
	return found
}

func (s *signal) pressedOn(message *wireMessage) {
	if message == nil {
		return
	}
	s.interaction.message = message.ID
	if m, ok := markOf(message.Components); ok {
		s.interaction.mark, s.root = &m, m.root
	}
}

// formMeaning is a form of ours that was sent.
func formMeaning(found signal, of wireInteraction) signal {
	does, ok := parseAction(of.Data.CustomID)
	if !ok || does.does != interact.Reason && does.does != interact.Reply {
		return ignoredSignal("a form that is not Cairn's")
	}
	found.kind = kindPressed
	found.pressedOn(of.Message)
	found.interaction.does = does
	for _, row := range of.Data.Components {
		for _, input := range row.Components {
			if found.interaction.words == "" {
				found.interaction.words = strings.TrimSpace(markup.Clean(input.Value))
			}
		}
	}
	found.message = chat.Message{
		ID: source{channel: found.at.channel, interaction: of.ID}.messageID(), Author: found.by, Text: found.interaction.words, At: bornAt(of.ID),
	}
	return found
}

// conversationPlace is where the conversation of a press or command is held.
func (s signal) conversationPlace(style settings.ReplyStyle) place {
	of := s.interaction
	switch {
	case of == nil:
		return s.at.placeIn(s.root, style)
	case of.mark != nil && of.mark.private:
		return place{guild: s.at.guild, channel: s.at.channel, root: of.mark.root, private: s.by}
	case s.kind == kindCommanded && of.private:
		return place{guild: s.at.guild, channel: s.at.channel, root: of.id, private: s.by}
	case s.kind == kindCommanded && of.target == "":
		return s.at.placeIn(of.id, style)
	case s.kind == kindPressed && s.root == "":
		return place{guild: s.at.guild, channel: s.at.channel}
	case of.target != "" && !s.at.canStartThread():
		return s.at.placeIn(of.id, style)
	}
	return s.at.placeIn(s.root, style)
}
