package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cairn-bot/cairn/internal/config"
)

// command is one thing that the program does. Its exported fields are its flags and
// arguments, as their tags tell kong.
type command interface {
	Run(ctx context.Context, in *invocation) error
}

// commands are all commands, under the names that people call them by. Each tag "example" is a
// line that help shows.
type commands struct {
	global  `group:"Flags of every command:"`
	Version kong.VersionFlag `group:"Flags of every command:" help:"Print the version."`

	Demo    demoCommand     `cmd:"" help:"Try Cairn on a few documents: in this terminal and on a local page." example:"cairn demo" example:"cairn demo ./handbook --model http://localhost:11434/v1"`
	Ingest  ingestCommand   `cmd:"" help:"Read folders of documents into the index." example:"cairn ingest" example:"cairn ingest ./handbook --url-base https://wiki.example/handbook/"`
	Sources sourcesCommands `cmd:"" help:"Places that documents come from: add, list, sync, pause, resume, stale, remove."`
	Migrate migrateCommand  `cmd:"" help:"Bring the index's database up to date with this program." example:"cairn migrate --check"`
	Ask     askCommand      `cmd:"" help:"Answer one question." example:"cairn ask How do I return my laptop?" example:"cairn ask --depth brief --as ann@example.com Who approves travel?" example:"cairn ask -- --role: what is it for?"`
	Open    openCommand     `cmd:"" help:"Show the passage behind a mark of the last answer." example:"cairn open 2"`
	Chat    chatCommand     `cmd:"" help:"Talk in the terminal: follow-ups are understood." example:"cairn chat"`
	Analyze analyzeCommand  `cmd:"" help:"Analyse documents with you in the loop." example:"cairn analyze ./contracts What are the risks?" example:"cairn analyze @handbook --yes --out reports"`
	Context contextCommand  `cmd:"" help:"Write an overview of something from documents." example:"cairn context ./docs Payment service"`
	Repo    repoCommand     `cmd:"" help:"Report on a repository." example:"cairn repo" example:"cairn repo https://github.com/example/shop Where are orders stored?"`
	Inspect struct {
		Ask     inspectCommand        `cmd:"" default:"withargs" help:"Ask what a control of an app does, and where its code stands." example:"cairn inspect ./shop What does button2 on Main do?" example:"cairn inspect ./shop --session shop.wavepulse.zip Which request fails?"`
		Page    inspectPageCommand    `cmd:"" help:"Look at a web page: what handles a control, in which line, and what it requests." example:"cairn inspect page https://shop.example.com/checkout Save --project ./shop"`
		Connect inspectConnectCommand `cmd:"" help:"Print a new channel, and the code that has an app join it." example:"cairn inspect connect --relay https://cairn-relay.example.com"`
	} `cmd:"" help:"Ask about the screens of an app: what a control does, and where its code stands; connect prints what an app needs to be asked live."`
	Reply replyCommand `cmd:"" help:"Go on with an analysis that waits for a reply." example:"cairn reply 7HWYUTVX3E only the risks"`
	Page  struct {
		Do   pageDoCommand   `cmd:"" default:"withargs" help:"Do something with pages, as behind \"page:\" in a thread." example:"cairn page new Paid leave" example:"cairn page append Ask Maria."`
		Edit pageEditCommand `cmd:"" help:"Edit a page in $EDITOR." example:"cairn page edit"`
	} `cmd:"" help:"Write pages together: new, open, list, show, append and more; edit opens one in $EDITOR."`
	Web   webCommand   `cmd:"" help:"Serve the local page over the index." example:"cairn web --listen 127.0.0.1:8080"`
	Serve serveCommand `cmd:"" help:"Take messages in and answer them, in one process or several." example:"cairn serve" example:"cairn serve --role slack,web"`
	Runs  struct {
		List    runsListCommand    `cmd:"" default:"withargs" help:"List runs, the last changed first, and what was put aside." example:"cairn runs --status failed"`
		Show    runsShowCommand    `cmd:"" help:"Show how a run went." example:"cairn runs show 7HWYUTVX3E"`
		Cancel  runsCancelCommand  `cmd:"" help:"End a run that works or waits for an answer." example:"cairn runs cancel 7HWYUTVX3E"`
		Replay  runsReplayCommand  `cmd:"" help:"Go on with a run that failed, was cancelled or put aside." example:"cairn runs replay 7HWYUTVX3E"`
		Discard runsDiscardCommand `cmd:"" help:"Forget that a run was put aside: nobody goes on with it." example:"cairn runs discard 7HWYUTVX3E"`
	} `cmd:"" help:"Look into runs: list (the default), show, cancel, replay, discard."`
	Answers struct {
		List  answersListCommand  `cmd:"" default:"withargs" help:"List the answers that are pinned to questions." example:"cairn answers"`
		Pin   answersPinCommand   `cmd:"" help:"Pin an answer to a question: what you write, or the answer of a run." example:"cairn answers pin \"Who rotates the signing key?\" --text \"Ada, on Mondays.\"" example:"cairn answers pin --last"`
		Unpin answersUnpinCommand `cmd:"" help:"Have a question answered from the documents again." example:"cairn answers unpin pin-K7QJ2MXA4B"`
	} `cmd:"" help:"Answers that experts pinned to questions: list (the default), pin, unpin."`
	Slack struct {
		Manifest slackManifestCommand `cmd:"" help:"Print the app manifest, with each permission and why it is asked." example:"cairn slack manifest --mode http --url https://cairn.example"`
	} `cmd:"" help:"Set Cairn up in Slack: manifest."`
	Discord struct {
		Invite   discordInviteCommand   `cmd:"" help:"Print the link that adds Cairn to a server, with what it needs." example:"cairn discord invite --application 1190000000000000000"`
		Commands discordCommandsCommand `cmd:"" help:"Show Cairn's commands in Discord, or bring them up to date." example:"cairn discord commands --sync"`
	} `cmd:"" help:"Set Cairn up in Discord: invite, commands."`
	Digest  digestCommand  `cmd:"" help:"Sum up what the documents lack: questions without an answer, contradictions, old documents." example:"cairn digest --days 30"`
	Status  statusCommand  `cmd:"" help:"Say how Cairn stands: stores, messages, questions, runs, sources." example:"cairn status --json"`
	Ready   readyCommand   `cmd:"" help:"Ask the process that serves if it is ready, for health checks." example:"cairn ready"`
	Doctor  doctorCommand  `cmd:"" help:"Check what Cairn needs to work, and say how to mend what is wrong." example:"cairn doctor" example:"cairn doctor --models"`
	WhoSees whoSeesCommand `cmd:"" help:"Say who may read a document, and why." example:"cairn who-sees handbook:legal/contract.md"`
	Forget  forgetCommand  `cmd:"" help:"Erase what is kept of a person." example:"cairn forget --user U0123ABCD"`
	Export  exportCommand  `cmd:"" help:"Write pages, threads, feedback, pinned answers and settings to a file, without secrets." example:"cairn export cairn.jsonl"`
	Import  importCommand  `cmd:"" help:"Read what export wrote; what is there already stays." example:"cairn import cairn.jsonl"`
	Flows   flowsCommand   `cmd:"" help:"Draw the registered graphs." example:"cairn flows answer --format dot" example:"cairn flows --out drawings"`
	Eval    evalCommand    `cmd:"" help:"Measure search and answers on a set of questions." example:"cairn eval ./questions" example:"cairn eval talk ./conversations --split"`
	Config  struct {
		Check   configCheckCommand   `cmd:"" help:"Say all that is wrong with it, or print the settings that hold." example:"cairn config check --config cairn.yaml --models"`
		Example configExampleCommand `cmd:"" help:"Print a configuration with every setting at its default." example:"cairn config example"`
	} `cmd:"" help:"Look at the configuration: check, example."`
	PrintCompletion completionCommand `cmd:"" name:"completion" help:"Print what has a shell complete commands and flags." example:"cairn completion bash"`
	Man             manCommand        `cmd:"" help:"Print the manual page." example:"cairn man"`
	ShowHelp        helpCommand       `cmd:"" name:"help" help:"Explain a command." example:"cairn help runs show"`
	Complete        completeCommand   `cmd:"" hidden:"" help:"Print what the last of some words may become, for a shell."`
	PrintVersion    versionCommand    `cmd:"" name:"version" help:"Say which version this is, and which commit it was built from." example:"cairn version"`
}

// global is what every command takes.
type global struct {
	Data   string `placeholder:"DIR" help:"Data directory; default: the configuration's, else the user's data directory."`
	Config string `placeholder:"FILE" help:"Configuration file; default: $CAIRN_CONFIG, ./cairn.yaml, the user's configuration directory."`
}

// request is what the command line asks for: a text, such as help, or else a command.
type request struct {
	text    string
	name    string // the last word of the command: "list"
	command command
	global  global
}

// parseArguments reads what was typed. Its errors say what to do.
func parseArguments(args []string) (request, error) {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var all commands
	var text bytes.Buffer
	answered := false
	parser, err := newParser(&all, kong.Writers(&text, &text), kong.Exit(func(int) { answered = true }))
	if err != nil {
		return request{}, fmt.Errorf("define the commands: %w", err)
	}
	parsed, err := parser.Parse(orderArguments(parser.Model.Node, args))
	if answered {
		return request{text: text.String()}, nil
	}
	if misused := (*kong.ParseError)(nil); errors.As(err, &misused) {
		return request{}, fmt.Errorf("%w%s\nSee `%s --help`", err, suggestCommand(misused), pathOf(misused.Context))
	}
	if err != nil {
		return request{}, err
	}
	called, ok := parsed.Selected().Target.Addr().Interface().(command)
	if !ok {
		return request{}, fmt.Errorf("`%s` has nothing to run", pathOf(parsed))
	}
	return request{name: parsed.Selected().Name, command: called, global: all.global}, nil
}

// suggestCommand names the command that was probably meant by a word that kong took for an
// argument of the default one: "runs shwo".
func suggestCommand(misused *kong.ParseError) string {
	word, unexpected := strings.CutPrefix(misused.Error(), "unexpected argument ")
	selected := misused.Context.Selected()
	if !unexpected || selected == nil || selected.Parent == nil || selected.Parent.DefaultCmd != selected {
		return ""
	}
	var names []string
	for _, child := range selected.Parent.Children {
		names = append(names, child.Name)
	}
	if nearest := config.NearestName(word, names); nearest != "" {
		return fmt.Sprintf(", did you mean %q?", nearest)
	}
	return ""
}

// newParser reads arguments into all.
func newParser(all *commands, options ...kong.Option) (*kong.Kong, error) {
	parser, err := kong.New(all, append([]kong.Option{
		kong.Name("cairn"),
		kong.Description("Answers questions from your team's own documents, and shows where every statement comes from."),
		kong.Vars{"version": versionLine()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, FlagsLast: true, WrapUpperBound: 80}),
		kong.ValueFormatter(describeValue),
	}, options...)...)
	if err != nil {
		return nil, err
	}
	help := parser.Model.HelpFlag
	help.Help = "Show this help."
	help.Group = parser.Model.Flags[len(parser.Model.Flags)-1].Group
	showExamples(parser.Model.Node)
	parser.Model.Detail = firstSteps
	return parser, nil
}

// firstSteps are what the help of the program begins with.
const firstSteps = `Examples:

	cairn demo
	cairn ingest ./handbook
	cairn ask How do I return my laptop?
	cairn serve`

// showExamples has the help of a command and of those below it begin with their examples.
func showExamples(node *kong.Node) {
	if lines := node.Tag.GetAll("example"); len(lines) > 0 {
		node.Detail = "Examples:\n\n\t" + strings.Join(lines, "\n\t")
	}
	for _, child := range node.Children {
		showExamples(child)
	}
}

// describeValue is the help of a flag or an argument, with its default.
func describeValue(value *kong.Value) string {
	if value.Default == "" {
		return value.Help
	}
	return fmt.Sprintf("%s (default: %s).", strings.TrimSuffix(value.Help, "."), value.Default)
}

// pathOf is the command that was named so far, as people call it: "cairn runs list".
func pathOf(parsed *kong.Context) string {
	if selected := parsed.Selected(); selected != nil {
		return selected.FullPath()
	}
	return parsed.Model.Name
}
