package discord

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"cairn/internal/chat"
	"cairn/internal/chat/running"
	"cairn/internal/chat/settings"
)

// admission is what somebody may ask where they are.
type admission struct {
	how     settings.Setting // that holds there; its collections are those that may be asked
	refusal string           // why the person may ask nothing, in words for them; "" where they may
}

// Refusals, in words for the person.
const (
	refusedServer      = "I don't answer in this server."
	refusedChannel     = "I don't see this channel, so I can't answer in it."
	refusedOff         = "I am off in this channel. Who may manage the server turns me on with /cairn-admin on."
	refusedRole        = "You have none of the roles that may ask me here."
	refusedCollections = "Nothing that I know may be asked about here."
	refusedDirectly    = "I can't answer you here: you are in no server of mine, or may not ask me there."
)

// admit finds out where a signal comes from, and what its person may ask there. It completes the
// signal's place, and says what its message may be answered from.
func (a *Adapter) admit(ctx context.Context, of *signal) (admission, error) {
	if of.at.guild == directly {
		given, err := a.admitDirectly(ctx, string(of.by))
		of.message.Collections = given.how.Collections
		return given, err
	}
	served, err := a.isServed(ctx, of.at.guild)
	if err != nil || !served {
		return admission{refusal: refusedServer}, err
	}
	at, err := a.locate(ctx, of.at)
	if errors.Is(err, chat.ErrGone) {
		return admission{refusal: refusedChannel}, nil
	}
	if err != nil {
		return admission{}, err
	}
	of.at = at
	given, err := a.admitted(ctx, at.guild, at.settings(), of.roles)
	of.message.Collections = given.how.Collections
	return given, err
}

// admitted tells what somebody with these roles may ask in a channel, or for channel "" in a
// server as a whole.
func (a *Adapter) admitted(ctx context.Context, guild, channel string, roles []string) (admission, error) {
	how, err := a.setting(ctx, guild, channel)
	if err != nil {
		return admission{}, err
	}
	collections, some := settings.Restrict(how.Collections, a.options.Servers[guild])
	how.Collections = collections
	given := admission{how: how}
	switch {
	case how.Mode == settings.ModeOff:
		given.refusal = refusedOff
	case !how.Admits(append(slices.Clone(roles), guild)): // everybody has the role with the server's id
		given.refusal = refusedRole
	case !some:
		given.refusal = refusedCollections
	}
	return given, nil
}

// admitDirectly tells what somebody may ask in a direct conversation: all that they may ask in
// some server that is served.
func (a *Adapter) admitDirectly(ctx context.Context, person string) (admission, error) {
	standard := a.standard(directly, "")
	refused := admission{how: standard, refusal: refusedDirectly}
	servers, err := a.servedServers(ctx)
	if err != nil {
		return refused, err
	}
	var collections []string
	admitted := false
	for _, guild := range servers {
		known, err := a.member(ctx, guild, person)
		if err != nil {
			return refused, err
		}
		if !known.joined {
			continue
		}
		given, err := a.admitted(ctx, guild, "", known.roles)
		if err != nil {
			return refused, err
		}
		if given.refusal != "" {
			continue
		}
		admitted = true
		if len(given.how.Collections) == 0 {
			standard.Collections = nil
			return admission{how: standard}, nil
		}
		collections = append(collections, given.how.Collections...)
	}
	if !admitted {
		return refused, nil
	}
	slices.Sort(collections)
	standard.Collections = slices.Compact(collections)
	return admission{how: standard}, nil
}

// refuseMessage tells somebody who wrote to the bot directly why they get no answer, once. Discord
// shows nothing in private to those who write a message in a server.
func (a *Adapter) refuseMessage(ctx context.Context, of signal, why string) error {
	a.skip(ctx, "its author is refused: "+why)
	if of.at.guild != directly {
		return nil
	}
	first, err := a.options.Settings.MarkTold(ctx, "discord person "+string(of.by), noticeKept)
	if err != nil || !first {
		return err
	}
	line := note{Content: escape(why, true), Embeds: []embed{}, Components: []component{}, Mentions: nobody()}
	if err := a.say(ctx, of.at.channel, line); err != nil {
		a.options.Logger.WarnContext(ctx, "tell a person in Discord why they are refused", slog.Any("error", err))
	}
	return nil
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

// checkRun refuses a press about a run of another place.
func (s signal) checkRun(ctx context.Context, bot running.Bot) error {
	switch s.interaction.does.does {
	case verbRate, verbReason, verbWhy, verbSources, verbRetry, verbShare, verbHuman:
		return running.CheckRun(ctx, bot, chat.RunID(s.interaction.does.about), s.isHere)
	}
	return nil // of a question, which the thread's transcript has
}
