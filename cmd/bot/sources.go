package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// sourcesCommands are the commands about the places that documents come from.
type sourcesCommands struct {
	Add    sourcesAddCommand    `cmd:"" help:"Add a source, and read it." example:"cairn sources add handbook ./handbook --every 1h" example:"cairn sources add docs https://docs.example.com/guide/"`
	List   sourcesListCommand   `cmd:"" help:"List the sources, and how they were read last." example:"cairn sources list"`
	Sync   sourcesSyncCommand   `cmd:"" help:"Read sources now." example:"cairn sources sync handbook"`
	Pause  sourcesPauseCommand  `cmd:"" help:"Read a source no more for now; its documents stay." example:"cairn sources pause handbook"`
	Resume sourcesResumeCommand `cmd:"" help:"Read a paused source again." example:"cairn sources resume handbook"`
	Stale  sourcesStaleCommand  `cmd:"" help:"List documents that did not change for long." example:"cairn sources stale handbook --days 730"`
	Remove sourcesRemoveCommand `cmd:"" help:"Remove a source and its documents." example:"cairn sources remove handbook"`
}

type sourcesAddCommand struct {
	Name           string   `arg:"" name:"NAME" help:"What the source is called: handbook."`
	Place          string   `arg:"" name:"PLACE" help:"A folder, the address of a repository, of a website, of a repository or owner on GitHub, GitLab or Gitea, of a site or space of Confluence, of a site or project of Jira, https://www.notion.so, a folder of Google Drive, a channel: slack:T0123ABCD:C0456EFGH, or with --kind mcp the address or the command of an MCP server."`
	Kind           string   `enum:"files,git,website,github,gitlab,gitea,conversation,mcp,confluence,jira,notion,drive," default:"" placeholder:"KIND" help:"files, git, website, github, gitlab, gitea, conversation, mcp, confluence, jira, notion or drive; default: as the place looks."`
	Branch         string   `placeholder:"NAME" help:"Of a repository: the branch to read."`
	Include        []string `sep:"none" placeholder:"PATTERN" help:"Read these paths alone: docs/**/*.md. May be repeated."`
	Exclude        []string `sep:"none" placeholder:"PATTERN" help:"Leave these paths out. May be repeated."`
	KeyEnv         string   `placeholder:"VARIABLE" help:"The variable that holds a token."`
	KeyFile        string   `placeholder:"FILE" help:"The file that holds a token, or a private key for SSH."`
	WebhookKeyEnv  string   `placeholder:"VARIABLE" help:"Of a forge: the variable that holds the secret of its webhook."`
	WebhookKeyFile string   `placeholder:"FILE" help:"Of a forge: the file that holds it."`
	Part           []string `sep:"none" placeholder:"PART" help:"Of a forge: read files, wiki, issues, discussions, releases alone. May be repeated."`
	Person         []string `sep:"none" placeholder:"ACCOUNT=ADDRESS" help:"Of a forge, Confluence or Jira: the e-mail address of an account. May be repeated."`
	Tool           []string `sep:"none" placeholder:"TOOL" help:"Of an MCP server: ask this tool while questions are answered; read-only: all that it marks so. May be repeated."`
	KnownHosts     string   `placeholder:"FILE" help:"The public keys of the SSH server."`
	PrivateNetwork bool     `help:"The address is inside your network."`
	Audience       []string `sep:"none" placeholder:"PRINCIPAL" help:"Who may read its documents: group:legal. May be repeated."`
	Every          string   `placeholder:"TIME" help:"How often cairn serve reads it: 15m, 24h, never."`
	SourceCode     bool     `help:"Of a folder or a repository: read source code as well."`
	Pictures       bool     `help:"Of a folder or a repository: read the text in pictures as well, by tesseract."`
	Watch          bool     `help:"Of a folder: cairn serve reads it when something changes."`
	NoSync         bool     `help:"Don't read it now."`
}

// Run keeps the source and reads it.
func (c *sourcesAddCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(configured.Sources, func(s config.Source) bool { return s.Name == c.Name }) {
		return fmt.Errorf("there is a source %s already: choose another name, or remove it first", c.Name)
	}
	source, err := c.source()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(configured.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	configured.Sources = append(configured.Sources, source)
	if err := configured.SaveSources(); err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Added %s: %s %s\n", source.Name, source.Kind, source.Place())
	if c.NoSync {
		return nil
	}
	reader := &ingestCommand{}
	return reader.syncSources(ctx, in, configured, []config.Source{source})
}

// source makes the source that the flags tell of.
func (c *sourcesAddCommand) source() (config.Source, error) {
	host, err := config.ThisHost()
	if err != nil {
		return config.Source{}, err
	}
	kind := cmp.Or(config.SourceKind(c.Kind), config.GuessSourceKind(c.Place))
	texts := map[string][]string{
		"name": {c.Name}, "kind": {string(kind)}, "include": c.Include, "exclude": c.Exclude, "audience": c.Audience,
		"parts": c.Part, "people": c.Person, "tools": c.Tool,
	}
	if isAddress := strings.HasPrefix(c.Place, "https://") || strings.HasPrefix(c.Place, "http://"); kind == config.SourceMCP && !isAddress {
		texts["command"] = strings.Fields(c.Place)
	} else {
		texts[kind.PlaceKey()] = []string{c.Place}
	}
	for key, text := range map[string]string{
		"branch": c.Branch, "key_env": c.KeyEnv, "key_file": c.KeyFile, "webhook_key_env": c.WebhookKeyEnv, "webhook_key_file": c.WebhookKeyFile, "known_hosts": c.KnownHosts, "every": c.Every,
	} {
		if text != "" {
			texts[key] = []string{text}
		}
	}
	for key, on := range map[string]bool{"private_network": c.PrivateNetwork, "watch": c.Watch, "source_code": c.SourceCode, "pictures": c.Pictures} {
		if on {
			texts[key] = []string{"true"}
		}
	}
	source, err := host.ReadSource(host.WorkDir, texts)
	source.Added = true
	return source, err
}

type sourcesListCommand struct{}

// Run lists the sources.
func (c *sourcesListCommand) Run(ctx context.Context, in *invocation) (err error) {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	if len(configured.Sources) == 0 {
		_, err := fmt.Fprintln(in.std.Out, "No source is configured: add one with `cairn sources add NAME PLACE`.")
		return err
	}
	states, err := ingestStates(ctx, app.NewSetup(configured, in.std.Err))
	if err != nil {
		return err
	}
	return listSources(in.std.Out, configured.Sources, states)
}

// ingestStates gives how each source was read last; none where there is no index yet.
func ingestStates(ctx context.Context, setup app.Setup) (states map[string]index.IngestState, err error) {
	library, err := app.OpenLibrary(ctx, setup, app.ReadIndex)
	if errors.Is(err, app.ErrNoIndex) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = closeAfter(err, library) }()
	states = make(map[string]index.IngestState)
	if keeper, ok := library.Index.(index.IngestStates); ok {
		all, err := keeper.IngestStates(ctx)
		if err != nil {
			return nil, err
		}
		for _, state := range all {
			states[string(state.Source)] = state
		}
	}
	return states, nil
}

func listSources(out io.Writer, sources []config.Source, states map[string]index.IngestState) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tKIND\tPLACE\tLAST READ\tSEEN\tCHANGED\tFAILED\tNEXT")
	for _, source := range sources {
		state := states[source.Name]
		last, next := "never", "by hand"
		switch {
		case state.Began.IsZero():
		case state.Ended.IsZero():
			last = "began " + humanize.Time(state.Began)
		case state.Reason != "":
			last = "broke off " + humanize.Time(state.Ended)
		default:
			last = humanize.Time(state.Ended)
		}
		switch every := source.Interval(); {
		case source.IsPaused():
			next = "paused"
		case every > 0 && !state.NextAt(every).After(time.Now()):
			next = "now"
		case every > 0:
			next = humanize.Time(state.NextAt(every))
		case source.Watch, !source.WebhookKey.Secret.IsZero():
			next = "when it changes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", source.Name, source.Kind, printable(source.Place()), last, state.Seen, state.Changed, state.Failed, next)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, source := range sources {
		if state := states[source.Name]; state.Reason != "" {
			fmt.Fprintf(out, "%s broke off: %s\n", source.Name, printable(state.Reason))
		} else if state.Held > 0 {
			fmt.Fprintf(out, "%s: %s gone at the source, more than a fifth of it; `cairn sources sync --prune %s` removes them\n", source.Name, count(state.Held, "document"), source.Name)
		}
	}
	return nil
}

type sourcesSyncCommand struct {
	Names []string `arg:"" name:"NAME" optional:"" help:"The sources to read; default: all that are not paused."`
	Prune bool     `help:"Remove what is gone, even where it is more than a fifth of a source."`
	Quiet bool     `short:"q" help:"Print the summary alone."`
}

// Run reads the sources.
func (c *sourcesSyncCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	var sources []config.Source
	for _, name := range c.Names {
		at, err := findSource(configured, name)
		if err != nil {
			return err
		}
		sources = append(sources, configured.Sources[at])
	}
	if len(c.Names) == 0 {
		sources = skipPaused(configured.Sources)
	}
	if len(sources) == 0 {
		return errors.New("there is no source to read: `cairn sources list` shows them, `cairn sources add` adds one")
	}
	reader := &ingestCommand{Prune: c.Prune, Quiet: c.Quiet}
	return reader.syncSources(ctx, in, configured, sources)
}

func skipPaused(sources []config.Source) []config.Source {
	return slices.DeleteFunc(slices.Clone(sources), config.Source.IsPaused)
}

func findSource(configured config.Config, name string) (at int, err error) {
	if at = slices.IndexFunc(configured.Sources, func(s config.Source) bool { return s.Name == name }); at < 0 {
		return 0, fmt.Errorf("there is no source %s: `cairn sources list` shows them", printable(name))
	}
	return at, nil
}

type sourcesStaleCommand struct {
	Name  string `arg:"" name:"NAME" optional:"" help:"The source; default: all."`
	Days  int    `default:"365" placeholder:"COUNT" help:"How many days a document did not change for."`
	Limit int    `default:"100" placeholder:"COUNT" help:"How many are listed at most."`
}

// Run lists documents that did not change for long, the oldest first.
func (c *sourcesStaleCommand) Run(ctx context.Context, in *invocation) (err error) {
	if c.Days < 1 || c.Limit < 1 {
		return errors.New("--days and --limit: give positive numbers")
	}
	library, err := in.openLibrary(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, library) }()
	const day = 24 * time.Hour
	before := time.Now().Add(-time.Duration(c.Days) * day)
	var stale []knowledge.Document
	all := 0
	for document, err := range library.Index.Documents(ctx, knowledge.SourceID(c.Name)) {
		if err != nil {
			return err
		}
		all++
		if document.Modified.Before(before) {
			stale = append(stale, document)
		}
	}
	slices.SortStableFunc(stale, func(a, b knowledge.Document) int { return a.Modified.Compare(b.Modified) })
	fmt.Fprintf(in.std.Out, "%d of %s did not change for %s.\n", len(stale), count(all, "document"), count(c.Days, "day"))
	for _, document := range stale[:min(len(stale), c.Limit)] {
		owner := ""
		if document.Owner != "" {
			owner = " (" + printable(document.Owner) + ")"
		}
		fmt.Fprintf(in.std.Out, "%s  %s: %s%s\n", document.Modified.Format(time.DateOnly), document.Source, printable(document.Path), owner)
	}
	if left := len(stale) - c.Limit; left > 0 {
		fmt.Fprintf(in.std.Out, "%d more: --limit shows them.\n", left)
	}
	return nil
}

type sourcesPauseCommand struct {
	Name string `arg:"" name:"NAME" help:"The source."`
}

// Run pauses the source.
func (c *sourcesPauseCommand) Run(_ context.Context, in *invocation) error {
	return in.suspendSource(c.Name, true)
}

type sourcesResumeCommand struct {
	Name string `arg:"" name:"NAME" help:"The source."`
}

// Run has the source read again.
func (c *sourcesResumeCommand) Run(_ context.Context, in *invocation) error {
	return in.suspendSource(c.Name, false)
}

// suspendSource pauses a source, or has it read again.
func (in *invocation) suspendSource(name string, paused bool) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	at, err := findSource(configured, name)
	if err != nil {
		return err
	}
	source := &configured.Sources[at]
	if !paused && source.Paused {
		return fmt.Errorf("the configuration pauses %s: remove its `paused: true`", source.Name)
	}
	source.Suspended = paused
	if err := configured.SaveSources(); err != nil {
		return err
	}
	said := "%s is read again.\n"
	if paused {
		said = "%s is paused; its documents stay. A sync under way ends first.\n"
	}
	_, err = fmt.Fprintf(in.std.Out, said, source.Name)
	return err
}

type sourcesRemoveCommand struct {
	Name string `arg:"" name:"NAME" help:"The source."`
}

// Run removes a source and its documents.
func (c *sourcesRemoveCommand) Run(ctx context.Context, in *invocation) (err error) {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	at, err := findSource(configured, c.Name)
	if err == nil && !configured.Sources[at].Added {
		err = fmt.Errorf("the configuration has %s: remove it there first; `cairn sources pause` has it read no more", c.Name)
	}
	if err != nil {
		return err
	}
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, in.std.Err), app.WriteIndex)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, library) }()
	removing := configured.Sources[at]
	configured.Sources = slices.Delete(configured.Sources, at, at+1)
	if err := configured.SaveSources(); err != nil { // first, or a process that serves reads it again
		return err
	}
	groups, closeGroups, err := app.OpenGrants(ctx, library.Setup, []config.Source{removing})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeGroups()) }()
	removed, err := app.RemoveSource(ctx, library, groups, knowledge.SourceID(c.Name))
	if err != nil {
		return fmt.Errorf("remove the documents of %s: %w", c.Name, err)
	}
	_, err = fmt.Fprintf(in.std.Out, "Removed %s and %s.\n", c.Name, count(removed, "document"))
	return err
}
