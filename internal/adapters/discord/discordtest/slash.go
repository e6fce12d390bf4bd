package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Option is an option of a slash command that somebody fills in.
type Option struct {
	Name string
	// Value is what was typed: a text, a number, true or false, or an id.
	Value string
	// File is the value of an attachment option.
	File *File
}

// wireOption is an option as the app gets it.
type wireOption struct {
	Name    string          `json:"name"`
	Type    int             `json:"type"`
	Value   json.RawMessage `json:"value,omitempty"`
	Focused bool            `json:"focused,omitempty"`
	Options []wireOption    `json:"options,omitempty"`
}

// resolved are the things that options name by id.
type resolved struct {
	Users       map[string]wireUser       `json:"users,omitempty"`
	Members     map[string]wireMember     `json:"members,omitempty"`
	Roles       map[string]wireRole       `json:"roles,omitempty"`
	Channels    map[string]wireChannel    `json:"channels,omitempty"`
	Messages    map[string]wireMessage    `json:"messages,omitempty"`
	Attachments map[string]wireAttachment `json:"attachments,omitempty"`
}

// commandData is what the interaction of a command says.
type commandData struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	Type     int          `json:"type"`
	GuildID  string       `json:"guild_id,omitempty"`
	Options  []wireOption `json:"options,omitempty"`
	Resolved *resolved    `json:"resolved,omitempty"`
	TargetID string       `json:"target_id,omitempty"`
}

// Slash uses a command, such as "cairn ask", that the app has registered.
func (s *Server) Slash(person, channelID, words string, options ...Option) *Interaction {
	var is *Interaction
	s.withLock(func() {
		data, _ := s.newCommandData(person, channelID, words, options, "")
		is = s.newInteraction(kindCommand, person, channelID, mustJSON(data), nil)
		is.words = "/" + words
	})
	return s.deliverInteraction(is)
}

// Complete types in an option of a command that is completed by the app, with others
// filled in before.
func (s *Server) Complete(person, channelID, words string, typing Option, before ...Option) *Interaction {
	var is *Interaction
	s.withLock(func() {
		data, completed := s.newCommandData(person, channelID, words, append(slices.Clone(before), typing), typing.Name)
		if !completed {
			panic(fmt.Sprintf("discordtest: the option %q of /%s is not completed by the app", typing.Name, words))
		}
		is = s.newInteraction(kindAutocomplete, person, channelID, mustJSON(data), nil)
	})
	return s.deliverInteraction(is)
}

// Menu uses a message command on a message.
func (s *Server) Menu(person, messageID, name string) *Interaction {
	var is *Interaction
	s.withLock(func() {
		said := s.mustMessage(messageID)
		registered := s.findCommand(said.Guild, commandMessage, name)
		if registered == nil {
			panic(fmt.Sprintf("discordtest: no message command %q is registered", name))
		}
		shown := s.wireForIntent(said, true) // the target of a command is shown whole
		is = s.newInteraction(kindCommand, person, said.Channel, mustJSON(commandData{
			ID: registered.ID, Name: name, Type: commandMessage, TargetID: messageID,
			Resolved: &resolved{Messages: map[string]wireMessage{messageID: shown}},
		}), nil)
		is.menu, is.words = true, "“"+name+"”"
	})
	return s.deliverInteraction(is)
}

// findCommand finds a command of a guild, or a global one.
func (s *Server) findCommand(guildID string, kind int, name string) *command {
	for _, set := range [][]command{s.commands[guildID], s.commands[""]} {
		for i := range set {
			if set[i].Type == kind && set[i].Name == name {
				return &set[i]
			}
		}
	}
	return nil
}

// Offered reports whether somebody sees a slash command in a channel: whether it is
// registered, and they have the permissions that it asks for.
func (s *Server) Offered(person, channelID, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offeredCommand(person, channelID, name) != nil
}

func (s *Server) offeredCommand(person, channelID, name string) *command {
	at := s.channels[channelID]
	found := s.findCommand(at.guild, commandSlash, name)
	if found == nil || found.Contexts != nil && !slices.Contains(found.Contexts, contextOf(at)) {
		return nil
	}
	if found.Permissions == "" || at.guild == "" {
		return found
	}
	needed, err := strconv.ParseUint(found.Permissions.String(), 10, 64)
	if err != nil {
		panic("discordtest: permissions that were checked: " + err.Error())
	}
	if !s.memberPermissions(person, at).hasAll(Permissions(needed)) || needed == 0 && !s.memberPermissions(person, at).hasAll(Administrator) {
		return nil
	}
	return found
}

// newCommandData returns the data of a command, and whether the focused option is completed by the
// app.
func (s *Server) newCommandData(person, channelID, words string, options []Option, focused string) (commandData, bool) {
	path := strings.Fields(words)
	found := s.offeredCommand(person, channelID, path[0])
	if found == nil {
		panic(fmt.Sprintf("discordtest: /%s is not offered to %s", path[0], person))
	}
	declared, steps := found.Options, []commandOption{}
	for _, word := range path[1:] {
		at := slices.IndexFunc(declared, func(o commandOption) bool { return o.Name == word && o.Type <= optionGroup })
		if at < 0 {
			panic(fmt.Sprintf("discordtest: /%s has no %q", words, word))
		}
		steps = append(steps, declared[at])
		declared = declared[at].Options
	}
	known := &resolved{}
	filled, completed := s.fillOptions(declared, options, focused, known)
	for _, step := range slices.Backward(steps) {
		filled = []wireOption{{Name: step.Name, Type: step.Type, Options: filled}}
	}
	data := commandData{ID: found.ID, Name: found.Name, Type: commandSlash, Options: filled, Resolved: known}
	return data, completed
}

// fillOptions gives options the types that they were registered with.
func (s *Server) fillOptions(declared []commandOption, options []Option, focused string, known *resolved) ([]wireOption, bool) {
	var filled []wireOption
	completed := false
	for _, option := range options {
		at := slices.IndexFunc(declared, func(o commandOption) bool { return o.Name == option.Name })
		if at < 0 {
			panic(fmt.Sprintf("discordtest: the command has no option %q", option.Name))
		}
		is := declared[at]
		typing := option.Name == focused
		completed = completed || typing && is.Autocomplete
		filled = append(filled, wireOption{Name: is.Name, Type: is.Type, Value: s.optionValue(is, option, typing, known), Focused: typing})
	}
	for _, is := range declared {
		given := slices.ContainsFunc(options, func(o Option) bool { return o.Name == is.Name })
		if is.Required && !given && focused == "" {
			panic(fmt.Sprintf("discordtest: the option %q is required", is.Name))
		}
	}
	return filled, completed
}

// optionValue returns an option's value as Discord sends it.
func (s *Server) optionValue(is commandOption, option Option, typing bool, known *resolved) json.RawMessage {
	if typing { // whatever its type is: it is being typed
		return mustJSON(option.Value)
	}
	switch is.Type {
	case optionInteger, optionNumber, optionBoolean:
		return json.RawMessage(option.Value)
	case optionUser:
		putEntry(&known.Users, option.Value, s.wireUser(option.Value))
	case optionChannel:
		putEntry(&known.Channels, option.Value, s.wireChannel(s.channels[option.Value]))
	case optionRole:
		for _, in := range s.guilds {
			for _, one := range s.wireGuild(in).Roles {
				if one.ID == option.Value {
					putEntry(&known.Roles, one.ID, one)
				}
			}
		}
	case optionAttachment:
		kept := s.storeFile("0", upload{option.File.Name, option.File.Media, option.File.Content}, "")
		putEntry(&known.Attachments, kept.ID, wireAttachment{kept.ID, kept.Name, kept.Size, kept.URL, kept.URL, kept.Media, ""})
		return mustJSON(kept.ID)
	}
	return mustJSON(option.Value)
}

func putEntry[T any](known *map[string]T, id string, value T) {
	if *known == nil {
		*known = map[string]T{}
	}
	(*known)[id] = value
}
