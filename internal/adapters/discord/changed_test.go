package discord

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/bwmarrin/discordgo"

	"cairn/internal/adapters/discord/discordtest"
)

// TestChangesAreWrittenDown has /cairn-admin tell who changed what, and who may not.
func TestChangesAreWrittenDown(t *testing.T) {
	var mu sync.Mutex
	var told []Change
	w := newTeam(t, func(options *Options) {
		options.Changed = func(_ context.Context, change Change) error {
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
	guild := told[0].Guild
	// Discord offers the command to nobody else; who finds a way is refused, and written down.
	text, err := w.adapter.manage(t.Context(), signal{
		by: "666", at: where{guild: guild}, interaction: &interaction{admin: adminWish{does: "off"}},
	})
	if err != nil || text != "Nothing was changed: that takes the permission Manage Server." {
		t.Errorf("got %q, %v", text, err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []Change{
		{By: told[0].By, Guild: guild, Channel: w.general, Does: "mode", Allowed: true}, {By: "666", Guild: guild, Does: "off"},
	}
	if !slices.Equal(told, want) || string(told[0].By) != boss {
		t.Errorf("told %+v", told)
	}
}
