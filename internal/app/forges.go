package app

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// gitBounds bound what is received of a repository that is a source: somebody chose it.
func gitBounds(source config.Source) git.Options {
	return git.Options{AllowPrivate: source.PrivateNetwork, Received: receivedBytes, Written: writtenBytes, Time: receiveTime}
}

// newForge makes what reads repositories on a forge; changed is what the forge told of.
func newForge(dataDir string, source config.Source, read files.Options, changed []forge.Event) *forge.Connector {
	options := forge.Options{
		Source: read.Source, Kind: forge.Kind(source.Kind), URL: source.URL, Token: source.Key.Secret.Reveal(), Include: read.Include, Exclude: read.Exclude,
		SourceCode: read.SourceCode, MaxBytes: read.MaxBytes, Folder: mirrorFolder(dataDir, source.Name), Git: gitBounds(source), Kinds: read.Kind, Owner: read.Owner,
		People: source.AccountAddresses(), Every: source.Interval(), Changed: changed,
	}
	if len(source.Audience) > 0 {
		options.Audience = read.Audience
	}
	for _, part := range source.Parts {
		options.Parts = append(options.Parts, forge.Part(part))
	}
	return forge.New(options)
}

// atlassianOptions say what is read of a site of Atlassian's.
func atlassianOptions(source config.Source, read files.Options) atlassian.Options {
	options := atlassian.Options{
		Source: read.Source, URL: source.URL, Token: source.Key.Secret.Reveal(), MaxBytes: read.MaxBytes, AllowPrivate: source.PrivateNetwork,
		Kind: read.Kind, Owner: read.Owner, People: source.AccountAddresses(),
	}
	if len(source.Audience) > 0 {
		options.Audience = read.Audience
	}
	return options
}

// grantedGroups names the table of the groups that a source tells of.
func grantedGroups(source knowledge.SourceID) string { return "source:" + string(source) }

// granting is a connector whose groups are asked for, and kept, before its documents are read. A
// place that does not tell who may read it is not read.
type granting struct {
	connect.Connector
	granter connect.Granter
	groups  access.Store
	named   []knowledge.Principal // the groups that are asked for; none: all
}

// Sync implements connect.Connector.
func (g granting) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		if err := saveGrants(ctx, g.groups, g.granter, g.Source(), g.named); err != nil {
			yield(connect.Change{}, err)
			return
		}
		for change, err := range g.Connector.Sync(ctx, known) {
			if !yield(change, err) {
				return
			}
		}
	}
}

// saveGrants asks a source who is in groups, all of its own where none is named, and keeps that.
func saveGrants(ctx context.Context, groups access.Store, granter connect.Granter, source knowledge.SourceID, named []knowledge.Principal) error {
	grants, err := granter.Access(ctx, named)
	if err != nil {
		return err
	}
	table := access.Table(grants)
	if len(named) > 0 {
		tables, _, err := groups.LoadGroups(ctx, 0)
		if err != nil {
			return err
		}
		table = access.Table{}
		maps.Copy(table, tables[grantedGroups(source)])
		maps.Copy(table, grants)
	}
	return groups.SaveGroups(ctx, grantedGroups(source), table)
}

// withGrants has a connector's groups kept where its place tells of some; named as in granting.
func withGrants(connector connect.Connector, groups access.Store, named []knowledge.Principal) connect.Connector {
	granter, ok := connector.(connect.Granter)
	if !ok || groups == nil {
		return connector
	}
	return granting{connector, granter, groups, named}
}

// namedGroups gives the groups of the repositories that events name; none where one names no
// repository.
func namedGroups(source knowledge.SourceID, events []forge.Event) []knowledge.Principal {
	var named []knowledge.Principal
	for _, event := range events {
		group, err := forge.GroupOf(source, event.Repository)
		if event.Repository == "" || err != nil {
			return nil
		}
		if !slices.Contains(named, group) {
			named = append(named, group)
		}
	}
	return named
}

// Bounds of the look at who may read what an answer rests on.
const (
	refreshTime = 3 * time.Second // for all groups of an answer
	refreshKept = 2 * time.Second // what was found of a group
	refreshMost = 1000
)

// grantRefresher asks sources anew who is in groups that an answer depends on.
type grantRefresher struct {
	list   func() ([]config.Source, error)
	setup  Setup
	groups access.Store
	asked  *expiring.Map[bool] // by group
}

func newGrantRefresher(l *Library, groups access.Store) *grantRefresher {
	return &grantRefresher{list: sources{l}.list, setup: l.Setup, groups: groups, asked: expiring.New[bool](refreshMost, refreshKept, time.Now)}
}

// refresh implements bot.RefreshAccess: members of groups that a source tells of are asked for. Where
// that fails, what was known stays, and the next sync asks again.
func (r *grantRefresher) refresh(ctx context.Context, audiences []knowledge.Audience) {
	wanted := make(map[string][]knowledge.Principal)
	for _, audience := range audiences {
		for _, principal := range audience.Principals() {
			name, ok := strings.CutPrefix(string(principal), string(knowledge.GroupPrincipal)+":")
			source, _, found := strings.Cut(name, ":")
			if !ok || !found || slices.Contains(wanted[source], principal) {
				continue
			}
			if _, fresh := r.asked.Get(string(principal)); !fresh {
				wanted[source] = append(wanted[source], principal)
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	configured, err := r.list()
	if err != nil {
		r.setup.Logger.WarnContext(ctx, "refresh access", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	for _, source := range configured {
		groups := wanted[source.Name]
		if len(groups) == 0 || source.IsPaused() {
			continue
		}
		if err := r.refreshSource(ctx, source, groups); err != nil {
			r.setup.Logger.WarnContext(ctx, "refresh access", "source", source.Name, "error", err)
		}
	}
}

func (r *grantRefresher) refreshSource(ctx context.Context, source config.Source, groups []knowledge.Principal) error {
	granter, ok := NewConnector(r.setup.Config.DataDir, source).(connect.Granter)
	if !ok {
		return nil
	}
	if err := saveGrants(ctx, r.groups, granter, knowledge.SourceID(source.Name), groups); err != nil {
		return err
	}
	for _, group := range groups {
		r.asked.Put(string(group), true)
	}
	return nil
}

// forgetGrants removes what a source told of groups.
func forgetGrants(ctx context.Context, groups access.Store, source knowledge.SourceID) error {
	if groups == nil {
		return nil
	}
	return groups.SaveGroups(ctx, grantedGroups(source), nil)
}

// mirrorFolder is where a source keeps what it received.
func mirrorFolder(dataDir, source string) string { return filepath.Join(dataDir, "mirrors", source) }

// OpenGrants opens the table of groups where a source may tell of some; both are nil where none
// does. The caller closes the storage.
func OpenGrants(ctx context.Context, setup Setup, read []config.Source) (groups access.Store, closeStorage func() error, err error) {
	if !slices.ContainsFunc(read, func(s config.Source) bool { return s.Kind.TellsReaders() }) {
		return nil, func() error { return nil }, nil
	}
	storage, err := OpenStorage(ctx, setup)
	if err != nil {
		return nil, nil, fmt.Errorf("open the table of groups: %w", err)
	}
	return storage.Groups, storage.Close, nil
}
