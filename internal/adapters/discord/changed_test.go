package discord

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// TestChangesAreWrittenDown has /cairn-admin tell who changed what, and who may not.
func TestChangesAreWrittenDown(t *testing.T) {
	var mu sync.Mutex
	var told []settings.Change
	w := newTeam(t, func(options *Options) {
		options.Changed = func(_ context.Context, change settings.Change) error {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, change)
			return nil
		}
	})
	boss := w.guild.Member("Boss", w.guild.Role("boss", discordtest.Permissions(discordgo.PermissionManageGuild|discordgo.PermissionViewChannel|discordgo.PermissionSendMessages)))
	w.Slash(boss, w.general, "cairn-admin show")
	w.wait(t)
	w.Slash(boss, w.general, "cairn-admin mode", discordtest.Option{Name: "mode", Value: "off"}, discordtest.Option{Name: "channel", Value: w.general})
	w.wait(t)
	guild := w.guild.ID
	// Discord offers the command to nobody else; who finds a way is refused, and written down.
	text, err := w.adapter.dispatcher.applySettings(t.Context(), signal{
		by: "666", at: where{guild: guild}, interaction: &interaction{admin: settings.Wish{Action: settings.TurnOff}},
	})
	if err != nil || text != "Nothing was changed: that takes the permission Manage Server." {
		t.Errorf("got %q, %v", text, err)
	}
	mu.Lock()
	defer mu.Unlock()
	space := settings.NewSpace(Name, guild)
	want := []settings.Change{
		{By: told[0].By, Space: space, Channel: w.general, Action: settings.SetMode, Allowed: true},
		{By: "666", Space: space, Action: settings.TurnOff},
	}
	if !slices.Equal(told, want) || string(told[0].By) != boss {
		t.Errorf("told %+v", told)
	}
}
