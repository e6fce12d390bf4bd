package main

import (
	"context"
	"os"

	"cairn/internal/chat/settings"
	embeddedsettings "cairn/internal/chat/settings/embedded"
	redissettings "cairn/internal/chat/settings/redis"
)

// placeSettings opens the store of settings that people change in chats, once: in Redis where one
// is configured, else in the data directory.
func (a *app) placeSettings(ctx context.Context) (settings.Store, error) {
	if a.places != nil {
		return a.places, nil
	}
	if a.config.Redis.URL.IsZero() {
		db, err := a.openData(ctx)
		if err != nil {
			return nil, err
		}
		a.places = embeddedsettings.Open(db)
		return a.places, nil
	}
	client, err := a.connectRedis(ctx)
	if err != nil {
		return nil, err
	}
	a.places = redissettings.Open(client)
	return a.places, nil
}

// existingSettings opens that store to look into it; nil where there is none yet.
func (a *app) existingSettings(ctx context.Context) (settings.Store, error) {
	if a.config.Redis.URL.IsZero() {
		if _, err := os.Stat(a.config.DataDir); err != nil {
			return nil, nil //nolint:nilerr // nothing was set up yet
		}
	}
	return a.placeSettings(ctx)
}
