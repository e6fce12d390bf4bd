package app

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// newOwners gives who looks after collections, by the configuration.
func newOwners(configured config.Config) access.Owners {
	owners := access.Owners{Operators: configured.Access.Operators}
	for _, source := range configured.Sources {
		if len(source.Owners) == 0 {
			continue
		}
		if owners.Collections == nil {
			owners.Collections = make(map[knowledge.SourceID][]knowledge.Principal)
		}
		owners.Collections[knowledge.SourceID(source.Name)] = source.Owners
	}
	return owners
}

// newCuration makes what answers are pinned by.
func newCuration(setup Setup, pinned curated.Store, resolver *access.Resolver) *bot.Curation {
	return &bot.Curation{Store: pinned, Keep: KeepPinned(setup.Config), Owners: newOwners(setup.Config), Identify: resolver.Identify}
}

// KeepPinned is how long a pinned answer is given.
func KeepPinned(configured config.Config) time.Duration {
	return time.Duration(configured.Answer.PinDays) * 24 * time.Hour
}

// pins are the answers that operators pin on their page.
type pins struct{ cairn *Cairn }

// List implements operations.Pins.
func (p pins) List(ctx context.Context) ([]curated.Answer, error) {
	return p.cairn.Storage.Pinned.List(ctx)
}

// Pin implements operations.Pins.
func (p pins) Pin(ctx context.Context, question, text, by string) error {
	now := time.Now()
	_, err := curated.Pin(ctx, p.cairn.Storage.Pinned, curated.Answer{
		ID: curated.NewID(), Question: question, Text: text, Author: chat.UserID(by), Name: shorten.Line(by, curated.MaxName), Pinned: now, Expires: now.Add(KeepPinned(p.cairn.Config)),
	}, now)
	return err
}

// PinRun implements operations.Pins. Who signed in to the page looks after all collections.
func (p pins) PinRun(ctx context.Context, run chat.RunID, by string, draft chat.PinDraft) error {
	_, err := bot.NewCurator(p.cairn.Bot).PinAnswer(ctx, run, operatorReader(by), draft)
	return err
}

// DraftRun implements operations.Pins.
func (p pins) DraftRun(ctx context.Context, run chat.RunID, by string) (chat.PinDraft, error) {
	return bot.NewCurator(p.cairn.Bot).DraftPin(ctx, run, operatorReader(by))
}

func operatorReader(by string) chat.Reader {
	return chat.Reader{Adapter: "operations", User: chat.UserID(by), Identity: &chat.Identity{Name: by, Local: true}}
}

// Unpin implements operations.Pins.
func (p pins) Unpin(ctx context.Context, id curated.ID) error {
	return p.cairn.Storage.Pinned.Delete(ctx, id)
}
