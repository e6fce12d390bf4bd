package main

import (
	"context"
	"fmt"
	"strings"

	"cairn/internal/access"
	embeddedaccess "cairn/internal/access/embedded"
	redisaccess "cairn/internal/access/redis"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/config"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/retrieve"
)

// configuredGroups is the source of the groups in the configuration.
const configuredGroups = "configuration"

// groups opens the table of groups, in Redis where one is configured, else in the data
// directory, and brings the configuration's part up to date.
func (a *app) groups(ctx context.Context) (*access.Groups, error) {
	store, err := a.groupStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := store.SaveGroups(ctx, configuredGroups, a.config.Access.Groups); err != nil {
		return nil, err
	}
	return access.NewGroups(store), nil
}

func (a *app) groupStore(ctx context.Context) (access.Store, error) {
	if !a.config.Redis.URL.IsZero() {
		client, err := a.connectRedis(ctx)
		if err != nil {
			return nil, err
		}
		return redisaccess.Open(client), nil
	}
	db, err := a.openData(ctx)
	if err != nil {
		return nil, err
	}
	return embeddedaccess.Open(db), nil
}

// platforms are the adapters of people's platforms themselves, by name, and not what
// measures them: that offers no more than it measures.
func (a *app) platforms(ctx context.Context) (map[string]any, error) {
	asked := make(map[string]any)
	if talks, err := a.slack(ctx); err != nil {
		return nil, err
	} else if talks != nil {
		asked[talks.adapter.Name()] = talks.adapter
	}
	if server, err := a.discord(ctx); err != nil {
		return nil, err
	} else if server != nil {
		asked[server.adapter.Name()] = server.adapter
	}
	return asked, nil
}

// resolver decides whom answers are shown to.
func (a *app) resolver(ctx context.Context, platforms map[string]any) (*access.Resolver, error) {
	groups, err := a.groups(ctx)
	if err != nil {
		return nil, err
	}
	options := access.Options{Adapters: platforms, Groups: groups, IsPublic: a.index.IsPublic, Logger: a.logger}
	if len(a.config.Flows.Folders) > 0 { // folders of theirs may be restricted, of which the index knows nothing
		options.IsPublic = nil
	}
	return access.NewResolver(options), nil
}

// openers are the platforms on which the bot can talk to one person alone.
func openers(platforms map[string]any) map[string]chat.PrivateOpener {
	able := make(map[string]chat.PrivateOpener)
	for name, platform := range platforms {
		if opener, ok := platform.(chat.PrivateOpener); ok {
			able[name] = opener
		}
	}
	return able
}

// library is the index as the bot looks at it beside its flows.
type library struct {
	index.Reader
	retriever *retrieve.Retriever
}

func (a *app) library() library { return library{a.searched(), a.retriever()} }

// Search finds what the viewers of the context may see.
func (l library) Search(ctx context.Context, query retrieve.Query) (retrieve.Result, error) {
	return l.retriever.Search(ctx, query)
}

// thisMachine is the person at the terminal: who can read the data directory can read all
// that is in it.
func thisMachine() *chat.Identity { return &chat.Identity{Local: true} }

// asOperator gives a context whose work is shown to who runs Cairn alone.
func asOperator(ctx context.Context) context.Context {
	return knowledge.WithViewers(ctx, knowledge.Unrestricted())
}

// askAs is the person that a question is asked as: the one at this terminal, or somebody
// known by an e-mail address or by principals.
func askAs(user string) (*chat.Identity, error) {
	if user == "" {
		return thisMachine(), nil
	}
	identity := &chat.Identity{}
	for text := range strings.SplitSeq(user, ",") {
		text = strings.TrimSpace(text)
		if strings.Contains(text, "@") && !strings.Contains(text, ":") {
			text = string(knowledge.UserPrincipal) + ":" + text
		}
		principal, err := knowledge.ParsePrincipal(text)
		if err != nil {
			return nil, fmt.Errorf("--as %s: want an e-mail address or principals: %w", user, err)
		}
		identity.Holds = append(identity.Holds, string(principal))
	}
	return identity, nil
}

// withdrawals are the settings of access.retract.
var withdrawals = map[config.Retract]bot.Withdrawal{
	config.RetractNothing: bot.KeepAnswers, config.RetractDeleted: bot.WithdrawDeleted, config.RetractClosed: bot.WithdrawClosed,
}

// isIndexWhole tells whether each source was read to its end at least once, and none is
// being read. Without any source nothing is known.
func (a *app) isIndexWhole(ctx context.Context) (bool, error) {
	keeper, ok := a.index.(index.IngestStates)
	if !ok {
		return false, nil
	}
	states, err := keeper.IngestStates(ctx)
	if err != nil || len(states) == 0 {
		return false, err
	}
	for _, state := range states {
		if state.Ended.IsZero() || state.Complete.IsZero() {
			return false, nil
		}
	}
	return true, nil
}
