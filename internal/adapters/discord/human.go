package discord

import (
	"context"
	"errors"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// namedHumans are who "Ask a human" calls in the room. Where the channel that a thread is in
// can't be known, the thread's own id is asked about.
func (r room) namedHumans(ctx context.Context) []string {
	channel := r.at.channel
	if r.at.channel == r.to.message {
		channel = r.to.channel
	} else if told, err := r.adapter.lookUpChannel(ctx, channel); err == nil && isThread(told.Type) {
		channel = told.ParentID
	}
	return r.adapter.options.Humans(r.at.guild, channel)
}

// Humans implements interact.Board.
func (s *surface) Humans(ctx context.Context) ([]string, error) {
	r, err := s.adapter.openRoom(ctx, s.of.message.Thread, "")
	if err != nil || s.adapter.options.Humans == nil || r.at.private != "" || r.at.isDirect() {
		return nil, err
	}
	return r.namedHumans(ctx), nil
}

// PostHelp implements interact.Board.
func (s *surface) PostHelp(ctx context.Context, key chat.PostKey, request interact.HelpRequest) (already bool, err error) {
	r, err := s.adapter.openRoom(ctx, s.of.message.Thread, "")
	if err != nil {
		return false, err
	}
	there, err := r.readParts(ctx, key)
	if err != nil || len(there) > 0 {
		return len(there) > 0, err
	}
	called, err := helpNote(request, s.of.pressedLink())
	if err != nil {
		return false, err
	}
	_, err = r.postPart(ctx, rendered{notes: []note{called}}, r.newMark(key, 0, 1))
	return false, err
}

// UpdateHelp implements interact.Board. The message keeps its mark.
func (s *surface) UpdateHelp(ctx context.Context, _ chat.PostKey, request interact.HelpRequest) error {
	if s.of.interaction.mark == nil {
		s.adapter.control.Skip(ctx, "a press on a message without a mark")
		return nil
	}
	r, err := s.adapter.openRoom(ctx, s.of.message.Thread, "")
	if err != nil {
		return err
	}
	shown, err := helpNote(request, "")
	if err != nil {
		return err
	}
	says := "Taken"
	if request.State == interact.HelpClosed {
		says = "Resolved"
	}
	return r.updatePart(ctx, s.of.interaction.message, rendered{notes: []note{shown}, says: says}, *s.of.interaction.mark)
}

// pressedLink is the address of the message that was pressed on, "" where it has none.
func (s signal) pressedLink() string {
	if s.at.guild == "" || s.interaction.message == "" {
		return ""
	}
	return "https://discord.com/channels/" + s.at.guild + "/" + s.at.channel + "/" + s.interaction.message
}

// helpNote shows a call for help: who is called, the question, the link to its answer and why that
// does not do, and the buttons.
func helpNote(request interact.HelpRequest, link string) (note, error) {
	made := note{Content: writeRuns(request.Headline()), Embeds: []embed{}, Mentions: callNobody()}
	for _, id := range request.People {
		role, isRole := strings.CutPrefix(id, "&")
		switch {
		case !isUserID(role):
			return note{}, errors.New("“Ask a human” names “" + id + "”, which is neither a user's id nor & and a role's: correct it in the configuration")
		case isRole:
			made.Mentions.Roles = append(made.Mentions.Roles, role)
		default:
			made.Mentions.Users = append(made.Mentions.Users, id)
		}
	}
	if question := render.Cut(request.Question, maxRemark); question != "" {
		made.Content += "\n> " + escapeText(question, false)
	}
	if link != "" {
		made.Content += "\n" + link
	}
	if request.State == interact.HelpWanted {
		made.Content += "\n-# " + escapeText(request.Reason, false)
	}
	buttons := &buttonRow{}
	buttons.addButtons(request.Buttons())
	made.Components = buttons.buildRows()
	return made, buttons.err
}
