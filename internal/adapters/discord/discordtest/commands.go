package discordtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of commands.
const (
	maxCommands     = 100
	maxMenus        = 15 // of message and of user commands each
	maxCommandText  = 8000
	maxDailyCreates = 200
)

// Types of commands and of options.
const (
	commandSlash     = 1
	commandUser      = 2
	commandMessage   = 3
	optionSubcommand = 1
	optionGroup      = 2

	optionInteger = 4
	optionBoolean = 5
	optionUser    = 6
	optionChannel = 7
	optionRole    = 8

	optionNumber     = 10
	optionAttachment = 11
)

// command is a registered command.
type command struct {
	ID          string          `json:"id"`
	Type        int             `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Options     []commandOption `json:"options"`
	Permissions json.Number     `json:"default_member_permissions"`
	Contexts    []int           `json:"contexts"` // nil: everywhere

	raw map[string]json.RawMessage // as it was given
}

type commandOption struct {
	Type         int             `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Required     bool            `json:"required"`
	Autocomplete bool            `json:"autocomplete"`
	Options      []commandOption `json:"options"`
	Choices      []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"choices"`
}

// toWire returns a command as it was registered, with what Discord adds.
func (c command) toWire(guildID string) json.RawMessage {
	object := map[string]json.RawMessage{}
	for field, value := range c.raw {
		object[field] = value
	}
	object["id"], object["application_id"], object["version"] = mustJSON(c.ID), mustJSON(AppID), mustJSON(c.ID)
	object["type"], object["description"] = mustJSON(c.Type), mustJSON(c.Description)
	if guildID != "" {
		object["guild_id"] = mustJSON(guildID)
	}
	if c.Permissions != "" { // a number or a string is taken, a string is given
		object["default_member_permissions"] = mustJSON(c.Permissions.String())
	}
	return mustJSON(object)
}

func (s *Server) listCommands(work *request) (any, *refusal) {
	guildID, refused := s.commandGuild(work)
	if refused != nil {
		return nil, refused
	}
	return s.wireCommands(guildID), nil
}

func (s *Server) wireCommands(guildID string) []json.RawMessage {
	found := []json.RawMessage{}
	for _, one := range s.commands[guildID] {
		found = append(found, one.toWire(guildID))
	}
	return found
}

// commandGuild returns the guild of a request about commands, "" for global ones.
func (s *Server) commandGuild(work *request) (string, *refusal) {
	if work.PathValue("application") != AppID {
		return "", newRefusal(forbidden, codeMissingAccess)
	}
	if work.PathValue("guild") == "" {
		return "", nil
	}
	in, refused := s.joinedGuild(work)
	if refused != nil {
		return "", refused
	}
	return in.ID, nil
}

// setCommands replaces all commands.
func (s *Server) setCommands(work *request) (any, *refusal) {
	guildID, refused := s.commandGuild(work)
	if refused != nil {
		return nil, refused
	}
	given, refused := decode[[]json.RawMessage](work.body)
	if refused != nil {
		return nil, refused
	}
	var (
		form    formErrors
		set     []command
		created []time.Time
	)
	for i, raw := range given {
		if refused := checkSchema("ApplicationCommandUpdateRequest", asNumber(raw)); refused != nil {
			return nil, nestErrors(strconv.Itoa(i), refused)
		}
		one, refused := readCommand(raw)
		if refused != nil {
			return nil, refused
		}
		one.checkCommand([]string{strconv.Itoa(i)}, &form)
		old := slices.IndexFunc(s.commands[guildID], func(o command) bool { return o.Name == one.Name && o.Type == one.Type })
		if old >= 0 {
			one.ID = s.commands[guildID][old].ID
		} else {
			one.ID = s.newSnowflake()
			created = append(created, s.now())
		}
		set = append(set, one)
	}
	checkCommands(set, &form)
	if refused := form.toRefusal(); refused != nil {
		return nil, refused
	}
	s.created = slices.DeleteFunc(s.created, func(at time.Time) bool { return s.now().Sub(at) >= 24*time.Hour })
	if len(s.created)+len(created) > maxDailyCreates {
		return nil, newRefusal(badRequest, codeDailyCommands)
	}
	s.created = append(s.created, created...)
	s.commands[guildID] = set
	return s.wireCommands(guildID), nil
}

// asNumber writes default_member_permissions as the description has it: the
// documentation, and every SDK, has a string there.
func asNumber(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	var set string
	if json.Unmarshal(raw, &object) != nil || json.Unmarshal(object["default_member_permissions"], &set) != nil {
		return raw
	}
	if _, err := strconv.ParseUint(set, 10, 53); err != nil {
		return raw
	}
	object["default_member_permissions"] = json.RawMessage(set)
	return mustJSON(object)
}

func readCommand(raw json.RawMessage) (command, *refusal) {
	one, refused := decode[command](asNumber(raw))
	if refused != nil {
		return one, refused
	}
	if one.Type == 0 {
		one.Type = commandSlash
	}
	one.raw, refused = decode[map[string]json.RawMessage](raw)
	return one, refused
}

// slashName is what names of slash commands and of options may be.
var slashName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

func (c command) checkCommand(at []string, form *formErrors) {
	path := func(field string) []string { return append(slices.Clone(at), field) }
	if c.Type != commandSlash {
		if c.Description != "" || len(c.Options) > 0 {
			form.addError(path("description"), "APPLICATION_COMMAND_CONTEXT_MENU", "A context menu command has neither description nor options.")
		}
		form.checkMax(Length(c.Name), 32, path("name")...)
		return
	}
	checkName(c.Name, path("name"), form)
	form.checkPresent(c.Description, path("description"))
	checkOptions(c.Options, path("options"), form)
	if text := c.countLength(); text > maxCommandText {
		form.addError(at, "APPLICATION_COMMAND_TOO_LARGE", fmt.Sprintf("Command exceeds maximum size (%d)", maxCommandText))
	}
}

func checkName(name string, at []string, form *formErrors) {
	if !slashName.MatchString(name) || strings.ToLower(name) != name {
		form.addError(at, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

func checkOptions(options []commandOption, at []string, form *formErrors) {
	names, optional, subcommands := map[string]bool{}, false, 0
	for i, one := range options {
		path := func(field string) []string { return append(slices.Clone(at), strconv.Itoa(i), field) }
		checkName(one.Name, path("name"), form)
		if names[one.Name] {
			form.addError(path("name"), "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists in these options")
		}
		names[one.Name] = true
		switch {
		case one.Type == optionSubcommand || one.Type == optionGroup:
			subcommands++
			checkOptions(one.Options, path("options"), form)
		case one.Required && optional:
			form.addError(path("required"), "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		case !one.Required:
			optional = true
		}
		if one.Autocomplete && len(one.Choices) > 0 {
			form.addError(path("autocomplete"), "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES", "An option has choices or autocomplete, not both.")
		}
	}
	if subcommands > 0 && subcommands < len(options) {
		form.addError(at, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are mutually exclusive to all other types")
	}
}

// countLength returns what of a command counts towards its size.
func (c command) countLength() int {
	total := Length(c.Name) + Length(c.Description)
	var add func([]commandOption)
	add = func(options []commandOption) {
		for _, one := range options {
			total += Length(one.Name) + Length(one.Description)
			for _, choice := range one.Choices {
				total += Length(choice.Name)
				if text := ""; json.Unmarshal(choice.Value, &text) == nil {
					total += Length(text)
				}
			}
			add(one.Options)
		}
	}
	add(c.Options)
	return total
}

// checkCommands checks what commands must not be together.
func checkCommands(set []command, form *formErrors) {
	counts, names := map[int]int{}, map[string]bool{}
	for i, one := range set {
		counts[one.Type]++
		key := strconv.Itoa(one.Type) + one.Name
		if names[key] {
			form.addError([]string{strconv.Itoa(i), "name"}, "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		names[key] = true
	}
	if counts[commandSlash] > maxCommands || counts[commandUser] > maxMenus || counts[commandMessage] > maxMenus {
		form.addError([]string{"_"}, "APPLICATION_COMMAND_TOO_MANY", "Maximum number of application commands reached.")
	}
}
