package discord

import (
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// Command is a command as Discord is told of it.
type Command struct {
	Name        string          `json:"name"`
	Type        int             `json:"type"`
	Description string          `json:"description,omitempty"`
	Options     []CommandOption `json:"options,omitempty"`
	// Permissions are those that a member must have to see the command, "" for none.
	Permissions string `json:"default_member_permissions,omitempty"`
	// Contexts are where it can be given: 0 in servers, 1 in the direct conversation.
	Contexts []int `json:"contexts"`
}

// CommandOption is a field of a command, or a subcommand.
type CommandOption struct {
	Name         string          `json:"name"`
	Type         int             `json:"type"`
	Description  string          `json:"description"`
	Required     bool            `json:"required,omitempty"`
	Autocomplete bool            `json:"autocomplete,omitempty"`
	MaxLength    int             `json:"max_length,omitempty"`
	ChannelTypes []int           `json:"channel_types,omitempty"`
	Choices      []CommandChoice `json:"choices,omitempty"`
	Options      []CommandOption `json:"options,omitempty"`
}

// CommandChoice is a value that a field offers.
type CommandChoice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// types of fields.
const (
	subCommand   = 1
	stringOption = 3
	boolOption   = 5
	chanOption   = 7
	roleOption   = 8
)

// Names of fields.
const (
	collectionOption = "collection"
	privateOption    = "private"
	channelOption    = "channel"
	modeOption       = "mode"
	styleOption      = "style"
	rolesOption      = "role"
)

// Commands are what the app offers: /cairn with its subcommands, /ask, /cairn-admin, and
// the command on a message.
func Commands() []Command {
	everywhere, servers := []int{0, 1}, []int{0}
	ask := []CommandOption{newTextOption("question", "What do you want to know?"), newPrivateOption()}
	return []Command{
		{Name: cairnCommand, Type: slashCommand, Description: "Ask the team's documents", Contexts: everywhere, Options: []CommandOption{
			newSubcommand("ask", "Ask a question", ask...),
			newSubcommand("analyze", "Analyse a collection or files, with you in the loop", newTextOption("question", "What should be found out?"), newCollectionOption(), newPrivateOption()),
			newSubcommand("context", "Write an overview of a subject", newTextOption("subject", "Of what?"), newCollectionOption(), newPrivateOption()),
			newSubcommand("repo", "Look into a repository", newTextOption("request", "Its address, and what you want to know"), newPrivateOption()),
			newSubcommand("inspect", "Ask what a control of an app does", newTextOption("question", "The app's project, and what you want to know"), newPrivateOption()),
			newSubcommand("echo", "Say something back, to see whether Cairn is there", newTextOption("text", "What?"), newPrivateOption()),
			newSubcommand("status", "Tell what Cairn works at here"),
			newSubcommand("sources", "Tell what Cairn knows"),
			newSubcommand("stop", "Stop what works or waits here"),
			newSubcommand("help", "Tell what Cairn can do"),
		}},
		{Name: askCommand, Type: slashCommand, Description: "Ask the team's documents", Contexts: everywhere, Options: ask},
		{Name: aboutCommand, Type: messageCommand, Contexts: everywhere},
		{
			Name: adminCommand, Type: slashCommand, Description: "Set how Cairn behaves in this server or a channel", Contexts: servers,
			Permissions: manageServer, Options: adminOptions(),
		},
	}
}

// manageServer is the permission that /cairn-admin takes.
const manageServer = "32"

func newSubcommand(name, does string, options ...CommandOption) CommandOption {
	return CommandOption{Name: name, Type: subCommand, Description: does, Options: options}
}

// maxWords is how long Discord lets a field be.
const maxWords = 6000

func newTextOption(name, says string) CommandOption {
	return CommandOption{Name: name, Type: stringOption, Description: says, Required: true, MaxLength: maxWords}
}

func newPrivateOption() CommandOption {
	return CommandOption{Name: privateOption, Type: boolOption, Description: "Only you see the answer"}
}

func newCollectionOption() CommandOption {
	return CommandOption{Name: collectionOption, Type: stringOption, Description: "Of which collection; else of the files in this thread", Autocomplete: true, MaxLength: 100}
}

func adminOptions() []CommandOption {
	in := CommandOption{Name: channelOption, Type: chanOption, Description: "Only this channel; else the whole server", ChannelTypes: []int{textChannel, newsChannel, forumChannel}}
	choose := func(name, says string, values ...string) CommandOption {
		made := CommandOption{Name: name, Type: stringOption, Description: says, Required: true}
		for _, value := range values {
			made.Choices = append(made.Choices, CommandChoice{value, value})
		}
		return made
	}
	return []CommandOption{
		newSubcommand("show", "Show what is set", in),
		newSubcommand("on", "Let Cairn answer", in),
		newSubcommand("off", "Keep Cairn quiet", in),
		newSubcommand("mode", "Set what Cairn answers", choose(modeOption, "What it hears", string(settings.ModeMention), string(settings.ModeThread), string(settings.ModeQuestions), string(settings.ModeOff)), in),
		newSubcommand("style", "Set how mentions are answered", choose(styleOption, "In a thread, or as a reply", string(settings.ReplyInThread), string(settings.ReplyInPlace)), in),
		newSubcommand("collections", "Set which collections answers come from",
			CommandOption{Name: collectionOption, Type: stringOption, Description: "Names with commas between them; none: all", Autocomplete: true, MaxLength: 1000}, in),
		newSubcommand("roles", "Set who may ask",
			CommandOption{Name: rolesOption, Type: roleOption, Description: "Adds this role, or takes it away where it is set; none: everybody"}, in),
		newSubcommand("reset", "Forget what was set", in),
	}
}
