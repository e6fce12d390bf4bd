package discord

import (
	"context"
	"errors"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// Refusals, in words for the person.
const (
	refusedServer   = "I don't answer in this server."
	refusedChannel  = "I don't see this channel, so I can't answer in it."
	refusedRole     = "You have none of the roles that may ask me here."
	refusedDirectly = "I can't answer you here: you are in no server of mine, or may not ask me there."
)

// terms are Discord's words for who manages a server.
var terms = interact.Terms{
	Managers: "Who may manage the server", AdminCommand: "/cairn-admin", NotAsker: refusedRole, NotManager: "that takes the permission Manage Server",
}

// admitSignal finds out where a signal comes from, and what its person may ask there. It completes the
// signal's place, and says what its message may be answered from.
func (d dispatcher) admitSignal(ctx context.Context, of *signal) (interact.Admission, error) {
	if of.at.guild == directGuild {
		given, err := d.admitDirectly(ctx, string(of.by))
		of.message.Collections = given.Setting.Collections
		return given, err
	}
	served, err := d.adapter.servers.isServed(ctx, of.at.guild)
	if err != nil || !served {
		return interact.Admission{Refusal: refusedServer}, err
	}
	at, err := d.adapter.locateChannel(ctx, of.at)
	if errors.Is(err, chat.ErrGone) {
		return interact.Admission{Refusal: refusedChannel}, nil
	}
	if err != nil {
		return interact.Admission{}, err
	}
	of.at = at
	given, err := d.admitRoles(ctx, at.guild, at.settingsChannel(), of.roles)
	of.message.Collections = given.Setting.Collections
	return given, err
}

// admitRoles tells what somebody with these roles may ask in a channel, or for channel "" in a
// server as a whole.
func (d dispatcher) admitRoles(ctx context.Context, guild, channel string, roles []string) (interact.Admission, error) {
	how, err := d.adapter.effectiveSetting(ctx, guild, channel)
	if err != nil {
		return interact.Admission{}, err
	}
	// Everybody has the role with the server's id.
	return terms.Admit(how, d.adapter.options.Servers[guild], how.Admits(append(slices.Clone(roles), guild))), nil
}

// admitDirectly tells what somebody may ask in a direct conversation: all that they may ask in
// some server that is served.
func (d dispatcher) admitDirectly(ctx context.Context, person string) (interact.Admission, error) {
	standard := d.adapter.standardSetting(directGuild, "")
	refused := interact.Admission{Setting: standard, Refusal: refusedDirectly}
	servers, err := d.adapter.servers.servedServers(ctx)
	if err != nil {
		return refused, err
	}
	var collections []string
	admitted := false
	for _, guild := range servers {
		known, err := d.adapter.lookUpMember(ctx, guild, person)
		if err != nil {
			return refused, err
		}
		if !known.joined {
			continue
		}
		given, err := d.admitRoles(ctx, guild, "", known.roles)
		if err != nil {
			return refused, err
		}
		if given.Refusal != "" {
			continue
		}
		admitted = true
		if len(given.Setting.Collections) == 0 {
			standard.Collections = nil
			return interact.Admission{Setting: standard}, nil
		}
		collections = append(collections, given.Setting.Collections...)
	}
	if !admitted {
		return refused, nil
	}
	slices.Sort(collections)
	standard.Collections = slices.Compact(collections)
	return interact.Admission{Setting: standard}, nil
}

// isHere tells whether a thread is where a press was made: a button shows nothing of other places.
// An answer that one person alone saw may have been shared in its channel, or have come to them
// directly.
func (s signal) isHere(thread chat.ThreadID) bool {
	at, err := parseThread(thread)
	if err != nil {
		return false
	}
	if at.guild == s.at.guild && (at.channel == s.at.channel || at.channel == s.at.message) {
		return true
	}
	return at.private != "" && at.private == s.by
}
