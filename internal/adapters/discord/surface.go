package discord

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// surface is where a person is answered who wrote something or pressed a button, and where the
// channel sees what comes of it.
type surface struct {
	adapter *Adapter
	of      signal
	respond responder // gives the first answer to an interaction; nil where there is none to give
	state   state
}

// state is what Discord was answered with so far.
type state int

const (
	stateUnanswered state = iota
	stateQuiet            // nothing is seen of the answer
	stateAwaited          // "Cairn is thinking": something is to be put in its place
	stateAnswered         // something was shown
)

var (
	_ interact.Surface = (*surface)(nil)
	_ interact.Board   = (*surface)(nil)
)

// Tell implements interact.Teller. Discord shows nothing in private to those who write a message
// in a server.
func (s *surface) Tell(ctx context.Context, line string) error {
	switch {
	case s.of.interaction == nil && s.of.at.guild == directGuild:
		made := note{Content: escapeText(line, true), Embeds: []embed{}, Components: []component{}, Mentions: callNobody()}
		if err := s.adapter.postNotice(ctx, s.of.at.channel, made); err != nil {
			s.adapter.options.Logger.WarnContext(ctx, "answer in a direct conversation", "platform", "discord", "error", err)
		}
		return nil
	case s.of.interaction == nil:
		return nil
	case s.state == stateUnanswered:
		s.state = stateAnswered
		return s.respond(ctx, s.of, newPrivateLine(line))
	}
	return s.showNote(ctx, note{Content: escapeText(line, true), Mentions: callNobody()}, nil)
}

// Confirm implements interact.Surface.
func (s *surface) Confirm(ctx context.Context, line string) error { return s.Tell(ctx, line) }

// showNote shows a message to who pressed alone, in the place of "Cairn is thinking" where that
// stands.
func (s *surface) showNote(ctx context.Context, made note, files []upload) error {
	if s.state == stateAwaited {
		s.state = stateAnswered
		return s.adapter.fillThinking(ctx, s.of, made, files)
	}
	return s.adapter.sendPrivateNote(ctx, s.of, made, files)
}

// showDisplay shows components to who pressed alone, as showNote does; shown is false where Discord
// refused them.
func (s *surface) showDisplay(ctx context.Context, components []component) (shown bool, err error) {
	asks := request{
		does: "answer in private", method: http.MethodPost, public: true, url: discordgo.EndpointWebhookToken(s.of.interaction.application, s.of.interaction.token),
		body: display{components, callNobody(), displayed | ephemeral},
	}
	if s.state == stateAwaited {
		asks.method, asks.body = http.MethodPatch, display{components, callNobody(), displayed}
		asks.url = discordgo.EndpointWebhookMessage(s.of.interaction.application, s.of.interaction.token, originalAnswer)
	}
	err = s.adapter.callAPI(ctx, asks, nil)
	if errors.Is(err, chat.ErrRefused) {
		return false, err
	}
	s.state = stateAnswered
	if err != nil { // it is as lost as any private answer would be
		s.adapter.options.Logger.WarnContext(ctx, "discord private answer was not shown", slog.Any("error", err))
	}
	return true, nil
}

// Acknowledge implements interact.Surface. The right to write the bot's reply as the answer to the
// press is kept for whichever process has it.
func (s *surface) Acknowledge(ctx context.Context, next interact.Next) error {
	if next == interact.NextView {
		s.state = stateAwaited
		return s.respond(ctx, s.of, newThinking())
	}
	s.state = stateQuiet
	if err := s.respond(ctx, s.of, answer{Type: answerDeferredPress}); err != nil || next != interact.NextReply {
		return err
	}
	ticket, id := Ticket{On: s.of.interaction.message}, s.of.interaction.id
	if m := s.of.interaction.mark; m != nil && m.private {
		ticket.Private, id = true, m.root
	}
	return s.adapter.dispatcher.keepTicket(ctx, s.of, id, ticket)
}

// AskReason implements interact.Surface.
func (s *surface) AskReason(ctx context.Context, run chat.RunID) error {
	first := formOf(string(interact.Reason)+":"+string(run), "Not helpful", "What was wrong with this answer?", "The page it quotes is out of date")
	first.Data.Components[0].Components[0].MaxLength = chat.MaxReason
	s.state = stateAnswered
	return s.respond(ctx, s.of, first)
}

// ShowExplanation implements interact.Surface: in words, and with a picture of the run's way.
func (s *surface) ShowExplanation(ctx context.Context, shown interact.Explanation) error {
	told := embed{Title: render.TraceTitle, Description: traceText(shown.Trace), Color: accent, Footer: &embedFooter{
		Text: render.Cut(markup.CleanLine(render.TraceFooter(shown.Run, shown.Trace)), 300),
	}}
	made := note{Embeds: []embed{told}, Mentions: callNobody()}
	drawn, err := shown.Draw()
	if err != nil { // the words are there
		s.adapter.options.Logger.WarnContext(ctx, "discord picture of a run was not drawn", slog.Any("error", err))
		drawn = nil
	}
	if drawn == nil {
		return s.showNote(ctx, made, nil)
	}
	made.Attached = []attachment{{ID: "0", Filename: "run.png"}}
	made.Embeds[0].Image = &embedImage{"attachment://run.png"}
	return s.showNote(ctx, made, []upload{{"run.png", "image/png", drawn}})
}

// maxAllRows is how many sources are shown of all.
const maxAllRows = 60

// ShowSources implements interact.Surface: as a card each, and where Discord refuses that as a list.
func (s *surface) ShowSources(ctx context.Context, groups []chat.SourceGroup) error {
	if len(groups) > 0 {
		shown, err := s.showDisplay(ctx, displayCards(format.SourceCards(groups, s.adapter.now())))
		if shown {
			return nil
		}
		s.adapter.options.Logger.WarnContext(ctx, "show sources as cards", "platform", Name, "error", err)
	}
	shown, _ := sourcesEmbed(groups, s.adapter.now(), maxAllRows)
	return s.showNote(ctx, note{Embeds: shown, Mentions: callNobody()}, nil)
}

// ShareReply implements interact.Board.
func (s *surface) ShareReply(ctx context.Context, key chat.PostKey, reply chat.Reply) (already bool, err error) {
	in := place{guild: s.of.at.guild, channel: s.of.at.channel, root: s.of.interaction.id}
	if m := s.of.interaction.mark; m != nil && m.root != "" {
		in.root = m.root
	}
	if isThread(s.of.at.kind) || in.isDirect() {
		in.root = ""
	}
	if _, there, err := s.adapter.Find(ctx, in.threadID(), key); err != nil || there {
		return there, err
	}
	_, err = s.adapter.Post(ctx, in.threadID(), key, chat.Post{Reply: &reply})
	return false, err
}
