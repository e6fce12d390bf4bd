package app

import (
	"time"

	"cairn/internal/access"
	"cairn/internal/bot"
	"cairn/internal/config"
	"cairn/internal/curated"
	"cairn/internal/knowledge"
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
