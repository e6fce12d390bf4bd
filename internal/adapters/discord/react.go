package discord

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// handleReaction keeps what a reaction to an answer says of it. Discord does not tell which answer it
// is: the message is looked at.
func (d dispatcher) handleReaction(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.verdict == chat.Unrated {
		return nil
	}
	run, err := d.findRated(ctx, of.at)
	if errors.Is(err, chat.ErrGone) || err == nil && run == "" {
		d.adapter.control.Skip(ctx, "a reaction to what can't be rated")
		return nil
	}
	if err != nil {
		return err
	}
	if of.removed && of.at.guild != directGuild { // Discord tells the roles with new reactions alone
		known, err := d.adapter.lookUpMember(ctx, of.at.guild, string(of.by))
		if err != nil {
			return err
		}
		of.roles = known.roles
	}
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	if given.Refusal != "" {
		d.adapter.control.Skip(ctx, "a reaction of somebody who is refused: "+given.Refusal)
		return nil
	}
	return d.adapter.control.React(ctx, bot, interact.Reaction{
		Run: run, By: of.by, Verdict: of.verdict, Removed: of.removed, IsHere: of.isHere, To: &surface{adapter: d.adapter, of: of},
	})
}

// findRated gives the run that can be rated by a message of the bot's, "" for none. Of an answer in
// several messages the last has the thumbs.
func (d dispatcher) findRated(ctx context.Context, at where) (chat.RunID, error) {
	me, err := d.adapter.identifyBot(ctx)
	if err != nil {
		return "", err
	}
	var reacted wireMessage
	err = d.adapter.callAPI(ctx, request{
		does: "read a message", method: http.MethodGet, url: discordgo.EndpointChannelMessage(at.channel, at.message),
	}, &reacted)
	if err != nil || reacted.Author == nil || reacted.Author.ID != me.user {
		return "", err
	}
	run := ratedRun(reacted.Components)
	m, ok := markOf(reacted.Components)
	if run != "" || !ok || m.of < 2 {
		return run, nil
	}
	r, err := d.adapter.openRoom(ctx, place{guild: at.guild, channel: at.channel, root: m.root}.threadID(), "")
	if err != nil {
		return "", err
	}
	err = r.readMessages(ctx, func(message wireMessage) bool {
		if p, ok := r.partOf(message); ok && p.key == m.key {
			run = ratedRun(message.Components)
		}
		return run == "" && message.ID != reacted.ID // the last part is behind it
	})
	return run, err
}

// ratedRun is the run whose thumbs stand among components, "" for none.
func ratedRun(components []component) chat.RunID {
	for _, c := range components {
		if does, ok := parseAction(c.CustomID); ok && does.does == interact.Rate {
			return chat.RunID(does.about)
		}
		if run := ratedRun(c.Components); run != "" {
			return run
		}
	}
	return ""
}

var _ interact.ReasonOfferer = (*surface)(nil)

// OfferReason implements interact.ReasonOfferer. Discord hides nothing from the others where nobody
// pressed anything: the line goes to the direct conversation, with a link to the answer.
func (s *surface) OfferReason(ctx context.Context, run chat.RunID, line string, button interact.Button) error {
	r, err := s.adapter.openRoom(ctx, place{guild: s.of.at.guild, channel: s.of.at.channel}.threadID(), "")
	if err != nil {
		return err
	}
	buttons := &buttonRow{}
	buttons.addButtons([]interact.Button{button})
	if buttons.err != nil {
		return buttons.err
	}
	made := note{Content: escapeText(line, true), Embeds: []embed{}, Components: buttons.buildRows(), Mentions: callNobody()}
	if !r.at.isDirect() {
		made.Content += "\n" + strings.Join([]string{"https://discord.com/channels", s.of.at.guild, s.of.at.channel, s.of.at.message}, "/")
		err = r.goTo(ctx, s.of.by)
	}
	if err == nil {
		key := interact.NewPostKey("say", chat.ThreadID(s.of.by), string(run))
		_, err = r.createMessage(ctx, addMark(made, mark{key: key, of: 1}, ""), nil, nonceOf(mark{key: key}))
	}
	if err != nil { // the rating is kept
		s.adapter.options.Logger.WarnContext(ctx, "offer to say why an answer did not help", "platform", Name, "error", err)
	}
	return nil
}
