package app

import (
	"context"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// configuredGroups is the source of the groups in the configuration.
const configuredGroups = "configuration"

// OpenGroups returns the table of groups, with the configuration's part up to date.
func OpenGroups(ctx context.Context, setup Setup, storage *Storage) (*access.Groups, error) {
	if err := storage.Groups.SaveGroups(ctx, configuredGroups, setup.Config.Access.Groups); err != nil {
		return nil, err
	}
	return access.NewGroups(storage.Groups), nil
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

// botLibrary is the index as the bot looks at it beside its flows.
type botLibrary struct {
	index.Reader
	retriever *retrieve.Retriever
}

func (l *Library) answeredFrom() botLibrary { return botLibrary{l.guardedIndex(), l.Retriever()} }

// Search finds what the viewers of the context may see.
func (l botLibrary) Search(ctx context.Context, query retrieve.Query) (retrieve.Result, error) {
	return l.retriever.Search(ctx, query)
}

// withdrawals are the settings of access.retract.
var withdrawals = map[config.Retract]bot.Withdrawal{
	config.RetractNothing: bot.KeepAnswers, config.RetractDeleted: bot.WithdrawDeleted, config.RetractClosed: bot.WithdrawClosed,
}
