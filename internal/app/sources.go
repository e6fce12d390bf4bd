package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/confluence"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/drive"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	connectgit "github.com/cairn-bot/cairn/internal/knowledge/connect/git"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/jira"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/mcp"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/notion"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/website"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
	"github.com/cairn-bot/cairn/internal/pages/pagesource"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// NewConnector makes what reads a source. What it keeps of it, such as a mirror of a repository,
// is below the data directory and may be lost.
func NewConnector(dataDir string, source config.Source) connect.Connector {
	return newConnector(dataDir, source, nil)
}

// newConnector makes what reads a source; changed is what its forge told of.
func newConnector(dataDir string, source config.Source, changed []forge.Event) connect.Connector {
	audience, _ := source.AudienceOf() //nolint:errcheck // the configuration was checked
	read := files.Options{
		Root: source.Path, Source: knowledge.SourceID(source.Name), Include: source.Include, Exclude: source.Exclude,
		MaxBytes: source.MaxDocumentBytes, URLBase: source.URLBase, SourceCode: source.SourceCode, Pictures: source.Pictures,
		Kind: source.Documents, Audience: audience, Owner: source.Owner,
	}
	switch source.Kind {
	case config.SourceWebsite:
		return website.New(website.Options{
			Source: read.Source, URL: source.URL, Include: read.Include, Exclude: read.Exclude, Languages: source.Languages,
			Pages: source.Pages, Depth: source.Depth, MaxBytes: read.MaxBytes, Token: source.Key.Secret.Reveal(), AllowPrivate: source.PrivateNetwork,
			Kind: read.Kind, Audience: read.Audience, Owner: read.Owner,
		})
	case config.SourceMCP:
		return mcp.New(mcp.Options{
			Source: read.Source, URL: source.URL, Token: source.Key.Secret.Reveal(), AllowPrivate: source.PrivateNetwork, Command: source.Command,
			Include: read.Include, Exclude: read.Exclude, MaxBytes: read.MaxBytes, Kind: read.Kind, Audience: read.Audience, Owner: read.Owner,
		})
	case config.SourceConfluence:
		return confluence.New(atlassianOptions(source, read))
	case config.SourceJira:
		return jira.New(atlassianOptions(source, read))
	case config.SourceNotion:
		return notion.New(notion.Options{
			Source: read.Source, URL: source.URL, Token: source.Key.Secret.Reveal(), MaxBytes: read.MaxBytes, AllowPrivate: source.PrivateNetwork,
			Kind: read.Kind, Audience: read.Audience, Owner: read.Owner,
		})
	case config.SourceDrive:
		return drive.New(drive.Options{
			Source: read.Source, URL: source.URL, Key: source.Key.Secret.Reveal(), MaxBytes: read.MaxBytes, AllowPrivate: source.PrivateNetwork,
			Kind: read.Kind, Audience: read.Audience, Owner: read.Owner,
		})
	case config.SourceGit:
		return connectgit.New(connectgit.Options{Files: read, Mirror: git.MirrorOptions{
			Options: gitBounds(source),
			Address: source.URL, Branch: source.Branch, Token: source.Key.Secret.Reveal(), KeyFile: source.Key.File, KnownHosts: source.KnownHosts,
			Folder: mirrorFolder(dataDir, source.Name),
		}})
	case config.SourceGitHub, config.SourceGitLab, config.SourceGitea:
		return newForge(dataDir, source, read, changed)
	}
	return files.New(read)
}

// Bounds of a repository that is a source: somebody chose it.
const (
	receivedBytes = 2 << 30
	writtenBytes  = 4 << 30
	receiveTime   = 30 * time.Minute
)

// SyncOptions say how a source is read.
type SyncOptions struct {
	Observe func(ingest.Progress) // see ingest.Ingester; may be nil
	Prune   bool                  // remove what is gone, however much it is
	Readers int                   // documents parsed at once, 0: one for each processor
	// Groups keeps what sources tell of who may read their documents; nil: nothing is asked.
	Groups access.Store

	changed []forge.Event         // what the source's forge told of
	named   []knowledge.Principal // the groups that are asked for; none: all
}

// SyncReport is what a sync did.
type SyncReport struct {
	ingest.Report
	Skipped []connect.Skipped // what it passed over
}

// SyncSource brings the index, which is open for writing, up to date with a source.
func SyncSource(ctx context.Context, l *Library, source config.Source, options SyncOptions) (done SyncReport, err error) {
	if err := claimSource(ctx, l.Index, source); err != nil {
		return SyncReport{}, err
	}
	reader := l.Ingester(options.Observe)
	// What people deleted in a channel is to be gone at once, however much it is.
	reader.Prune, reader.Readers = options.Prune || source.Kind == config.SourceConversation, options.Readers
	reader.Limits = documentLimits(source)
	connector, closeConnector, err := openConnector(ctx, l, source, options.changed)
	if err != nil {
		return SyncReport{}, err
	}
	defer func() { err = errors.Join(err, closeConnector()) }()
	report, err := reader.Sync(ctx, withGrants(connector, options.Groups, options.named))
	done = SyncReport{Report: report}
	if skipper, ok := connector.(connect.Skipper); ok {
		done.Skipped = skipper.Skipped()
	}
	return done, err
}

// documentLimits lets documents be as large as the source allows, where that is more than the
// parsers' own limit.
func documentLimits(source config.Source) parse.Limits {
	return parse.Limits{Bytes: max(source.MaxDocumentBytes, parse.DefaultBytes)}
}

// claimSource keeps a source's name to one place: reading another under it would remove the
// documents of the first. A source's cursor is where it is.
func claimSource(ctx context.Context, opened index.Index, source config.Source) error {
	err := claimName(ctx, opened, knowledge.SourceID(source.Name), source.Place())
	if taken, ok := errors.AsType[*takenError](err); ok {
		return fmt.Errorf("the source %s is the %s %s: give this one another name with --name, remove the other with `cairn sources remove`, or start anew with --rebuild",
			source.Name, placeNoun(source), taken.place)
	}
	return err
}

// takenError tells that a source's name is that of another place.
type takenError struct {
	source knowledge.SourceID
	place  string
}

func (e *takenError) Error() string {
	return fmt.Sprintf("the source %s is %s already: remove it with `cairn sources remove`, and give it another name", e.source, e.place)
}

// claimName gives a source's name to a place, unless another has it.
func claimName(ctx context.Context, opened index.Index, id knowledge.SourceID, place string) error {
	claimed, err := opened.Cursor(ctx, id)
	if err != nil || claimed == place {
		return err
	}
	if claimed != "" {
		return &takenError{id, claimed}
	}
	return opened.Write(ctx, index.Batch{Cursors: map[knowledge.SourceID]string{id: place}})
}

func placeNoun(source config.Source) string {
	switch source.Kind {
	case config.SourceFiles:
		return "folder"
	case config.SourceConversation:
		return "channel"
	}
	return "address"
}

// RemoveSource removes the documents of a source from the index, which is open for writing, and
// gives its name free. It returns how many documents it removed. groups is SyncOptions.Groups.
func RemoveSource(ctx context.Context, l *Library, groups access.Store, source knowledge.SourceID) (removed int, err error) {
	var ids []knowledge.DocumentID
	for document, err := range l.Index.Documents(ctx, source) {
		if err != nil {
			return 0, err
		}
		ids = append(ids, document.ID)
	}
	const some = 500
	for batch := range slices.Chunk(ids, some) {
		if err := l.Index.Write(ctx, index.Batch{Delete: batch}); err != nil {
			return removed, err
		}
		removed += len(batch)
	}
	if err := os.RemoveAll(mirrorFolder(l.Config.DataDir, string(source))); err != nil {
		return removed, fmt.Errorf("remove the mirror of %s: %w", source, err)
	}
	if err := forgetGrants(ctx, groups, source); err != nil {
		return removed, err
	}
	return removed, l.Index.Write(ctx, index.Batch{Cursors: map[knowledge.SourceID]string{source: ""}})
}

// sources are the configured sources as a process that serves reads and shows them.
type sources struct{ *Library }

// syncer reads the sources by their schedules.
type syncer struct {
	sources
	groups access.Store
	told   toldEvents
	// granted is when all groups of a source were asked for. Sources are read one at a time.
	granted map[knowledge.SourceID]time.Time
}

// startSync reads sources by their schedules until ctx ends, and receives webhooks of them.
// Sources with cited documents that turn out to have changed are read soon.
func (s *syncer) startSync(ctx context.Context, parts *errgroup.Group, checks *sourceChecks, out io.Writer) error {
	states, ok := s.Index.(index.IngestStates)
	if !ok {
		return nil
	}
	schedule := &ingest.Schedule{List: s.listScheduled, States: states.IngestStates, Sync: s.syncScheduled, Logger: s.Logger}
	checks.notify(schedule.NoteChange)
	s.Channels.notify(schedule.NoteChange)
	parts.Go(func() error {
		schedule.Run(ctx)
		return nil
	})
	return startWebhooks(ctx, parts, &webhooks{list: s.list, told: &s.told, changed: schedule.NoteChange, setup: s.Setup}, out)
}

// list gives the sources as they are configured at this moment.
func (s sources) list() ([]config.Source, error) {
	configured := s.Config
	err := configured.RereadSources()
	return configured.Sources, err
}

// listMirrors gives the repositories of which sources keep mirrors.
func (s sources) listMirrors() ([]repository.Mirror, error) {
	configured, err := s.list()
	if err != nil {
		return nil, err
	}
	var mirrors []repository.Mirror
	for _, source := range configured {
		if source.Kind != config.SourceGit {
			continue
		}
		audience, err := source.AudienceOf()
		if err != nil {
			return nil, fmt.Errorf("list the mirrors: source %s: %w", source.Name, err)
		}
		mirrors = append(mirrors, repository.Mirror{
			Address: source.URL, Folder: mirrorFolder(s.Config.DataDir, source.Name), Audience: audience, Include: source.Include, Exclude: source.Exclude,
			Web: func(commit string) string { return connectgit.CommitURL(source.URL, commit) },
		})
	}
	return mirrors, nil
}

// listScheduled gives the sources that are to be read by themselves.
func (s sources) listScheduled(ctx context.Context) ([]ingest.Scheduled, error) {
	configured, err := s.list()
	s.Channels.setSources(configured)
	var scheduled []ingest.Scheduled
	for _, source := range configured {
		one := ingest.Scheduled{Source: knowledge.SourceID(source.Name), Every: source.Interval()}
		if source.Watch {
			one.Watch, _ = NewConnector(s.Config.DataDir, source).(connect.Watcher)
		}
		isTold := source.WebhookKey.Secret.Reveal() != "" && s.Config.Webhooks.Listen != ""
		if !source.IsPaused() && (one.Every > 0 || one.Watch != nil || isTold) {
			scheduled = append(scheduled, one)
		}
	}
	written, pagesErr := s.schedulePages(ctx)
	return append(scheduled, written...), errors.Join(err, pagesErr)
}

// syncScheduled reads a source beside the questions that are answered: with one reader, and with
// an index of its own, for that of this process is open for reading alone.
func (s *syncer) syncScheduled(ctx context.Context, id knowledge.SourceID) (err error) {
	configured, err := s.list()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(configured, func(s config.Source) bool { return s.Name == string(id) })
	if at < 0 && (id != pagesource.ID || s.Written == nil) {
		return nil // it was removed meanwhile
	}
	writer := *s.Library
	if writer.Index, err = s.openExisting(ctx, WriteIndex); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()
	defer LimitSyncMemory()()
	options := SyncOptions{Readers: 1, Groups: s.groups, changed: s.told.take(id)}
	defer func() {
		if err != nil {
			s.told.add(id, options.changed...)
		}
	}()
	var report SyncReport
	if at < 0 {
		report.Report, err = syncPages(ctx, &writer, options)
	} else {
		began := time.Now()
		if began.Sub(s.granted[id]) < configured[at].Interval() {
			options.named = namedGroups(id, options.changed)
		}
		report, err = SyncSource(ctx, &writer, configured[at], options)
		if err == nil && len(options.named) == 0 {
			s.granted[id] = began
		}
	}
	level := slog.LevelInfo
	if at < 0 && len(report.Failures) == 0 { // pages are read at each change of one
		level = slog.LevelDebug
	}
	s.Logger.Log(ctx, level, "read source", "source", id, "added", report.Added, "updated", report.Updated, "unchanged", report.Unchanged,
		"deleted", report.Deleted, "failed", len(report.Failures), "held", report.Held, "took", report.Took)
	return err
}

// listShown gives the sources as the operations page shows them.
func (s sources) listShown() ([]operations.Source, error) {
	configured, err := s.list()
	var shown []operations.Source
	for _, source := range configured {
		shown = append(shown, operations.Source{Name: source.Name, Every: source.Interval(), Paused: source.IsPaused()})
	}
	return shown, err
}
