package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

// humans are who "Ask a human" calls in the room. Where the channel that a thread is in
// can't be known, the thread's own id is asked about.
func (r room) humans(ctx context.Context) []string {
	channel := r.at.channel
	if r.at.channel == r.to.message {
		channel = r.to.channel
	} else if told, err := r.channel(ctx, channel); err == nil && isThread(told.Type) {
		channel = told.ParentID
	}
	return r.options.Humans(r.at.guild, channel)
}

// keyOf is the delivery key of what a signal has the adapter post: the same for a signal
// that comes again.
func keyOf(purpose string, of signal) chat.PostKey {
	sum := sha256.Sum256([]byte(strings.Join([]string{purpose, string(of.message.Thread), string(of.message.ID)}, "\x00")))
	return chat.PostKey(hex.EncodeToString(sum[:12]))
}

// callHuman calls the people of the channel into the thread, once for an answer.
func (a *Adapter) callHuman(ctx context.Context, bot *running.Handler, of signal) (note, error) {
	r, err := a.room(ctx, of.message.Thread, "")
	if err != nil {
		return note{}, err
	}
	var people []string
	if a.options.Humans != nil && r.at.private == "" && !r.at.isDirect() {
		people = r.humans(ctx)
	}
	if len(people) == 0 {
		return note{Content: "Nobody is named for this channel any more.", Mentions: nobody()}, nil
	}
	asked, err := findHelp(ctx, bot, of)
	if err != nil {
		return note{}, err
	}
	of.message.ID = chat.MessageID(of.interaction.does.about)
	key := keyOf("help", of)
	there, err := r.parts(ctx, key)
	if err != nil {
		return note{}, err
	}
	if len(there) > 0 {
		return note{Content: "Somebody was called already.", Mentions: nobody()}, nil
	}
	called, err := helpNote(people, of, asked)
	if err != nil {
		return note{}, err
	}
	_, err = r.post(ctx, rendered{notes: []note{called}}, r.mark(key, 0, 1))
	return note{Content: "A person is asked to look at this.", Mentions: nobody()}, err
}

// findHelp shows the question, with the way to its answer, and why that does not do.
func findHelp(ctx context.Context, bot *running.Handler, of signal) (string, error) {
	found, err := running.FindHelp(ctx, bot, of.message.Thread, chat.RunID(of.interaction.does.about))
	if err != nil {
		return "", err
	}
	lines := ""
	if question := rich.Cut(markup.CleanLine(found.Question), maxRemark); question != "" {
		lines = "\n> " + escape(question, false)
	}
	if of.at.guild != "" && of.interaction.message != "" {
		lines += "\nhttps://discord.com/channels/" + of.at.guild + "/" + of.at.channel + "/" + of.interaction.message
	}
	return lines + "\n-# " + escape(found.Reason, false), nil
}

// helpNote calls people by name, with a button for who is about to help.
func helpNote(people []string, of signal, asked string) (note, error) {
	made := note{Embeds: []embed{}, Mentions: nobody()}
	var calls []string
	for _, id := range people {
		role, isRole := strings.CutPrefix(id, "&")
		switch {
		case !numeric(role):
			return note{}, errors.New("“Ask a human” names “" + id + "”, which is neither a user's id nor & and a role's: correct it in the configuration")
		case isRole:
			made.Mentions.Roles = append(made.Mentions.Roles, role)
		default:
			made.Mentions.Users = append(made.Mentions.Users, id)
		}
		calls = append(calls, "<@"+id+">")
	}
	made.Content = strings.Join(calls, " ") + " <@" + string(of.by) + "> would like a person to look at this." + asked
	buttons := &buttonRow{}
	buttons.add(primary, verbTake, of.interaction.does.about, "", "I’ll take it")
	buttons.add(success, verbSettle, of.interaction.does.about, "", "Resolved")
	made.Components = buttons.rows()
	return made, buttons.err
}

// acceptHelpPress acknowledges a press below a call for help, and gives the place and the
// mark of that message; no mark where it has none, which is skipped.
func (a *Adapter) acceptHelpPress(ctx context.Context, of signal, respond responder) (room, *mark, error) {
	if err := respond(ctx, of, answer{Type: deferredPress}); err != nil {
		return room{}, nil, err
	}
	if of.interaction.mark == nil {
		a.skip(ctx, "a press on a message without a mark")
		return room{}, nil, nil
	}
	r, err := a.room(ctx, of.message.Thread, "")
	return r, of.interaction.mark, err
}

// takeHelp shows who is about to help, in the place of the call.
func (a *Adapter) takeHelp(ctx context.Context, bot *running.Handler, of signal, respond responder) error {
	r, m, err := a.acceptHelpPress(ctx, of, respond)
	if err != nil || m == nil {
		return err
	}
	found, err := running.FindHelp(ctx, bot, of.message.Thread, chat.RunID(of.interaction.does.about))
	if err != nil {
		return err
	}
	line := note{Content: "<@" + string(of.by) + "> takes care of this.", Embeds: []embed{}, Mentions: nobody()}
	if question := rich.Cut(markup.CleanLine(found.Question), maxRemark); question != "" {
		line.Content += "\n> " + escape(question, false)
	}
	buttons := &buttonRow{}
	buttons.add(success, verbSettle, of.interaction.does.about, "", "Resolved")
	if buttons.err != nil {
		return buttons.err
	}
	line.Components = buttons.rows()
	return r.update(ctx, of.interaction.message, rendered{notes: []note{line}, says: "Taken"}, *m)
}

// settleHelp marks a call for help as settled.
func (a *Adapter) settleHelp(ctx context.Context, of signal, respond responder) error {
	r, m, err := a.acceptHelpPress(ctx, of, respond)
	if err != nil || m == nil {
		return err
	}
	line := note{Content: "✓ Resolved by <@" + string(of.by) + ">", Embeds: []embed{}, Mentions: nobody()}
	return r.update(ctx, of.interaction.message, rendered{notes: []note{line}, says: "Resolved"}, *m)
}
