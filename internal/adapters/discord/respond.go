package discord

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/bwmarrin/discordgo"
)

// responder gives Discord the first answer to an interaction, which it waits 3 s for. It
// returns once Discord has it, so that what is said later finds it there.
type responder func(ctx context.Context, of signal, first answer) error

// answer is the first answer to an interaction.
type answer struct {
	Type answerType  `json:"type"`
	Data *answerData `json:"data,omitempty"`
}

type answerType int

const (
	answerMessage       answerType = 4
	answerDeferred      answerType = 5 // "Cairn is thinking…"
	answerDeferredPress answerType = 6 // nothing is seen of it
	answerCompletion    answerType = 8
	answerForm          answerType = 9
)

// answerData is a message, what completes a field, or a form.
type answerData struct {
	note
	Choices  *[]CommandChoice
	CustomID string
	Title    string
}

// newPrivateLine is an answer of one line that only who asked sees.
func newPrivateLine(line string) answer {
	return answer{Type: answerMessage, Data: &answerData{note: note{Content: escapeText(line, true), Mentions: callNobody(), Flags: ephemeral}}}
}

// newThinking is the answer that says that one for that person comes soon.
func newThinking() answer {
	return answer{Type: answerDeferred, Data: &answerData{note: note{Flags: ephemeral}}}
}

// answerInteraction answers an interaction that came by the gateway. One that Discord has an answer
// to came again.
func (a *Adapter) answerInteraction(ctx context.Context, of signal, first answer) error {
	err := a.callAPI(ctx, request{
		does: "answer an interaction", method: http.MethodPost, public: true,
		url: discordgo.EndpointInteractionResponse(of.interaction.id, of.interaction.token), body: first,
	}, nil)
	switch {
	case isCode(err, acknowledged):
		return nil
	case isCode(err, unknownInteract):
		a.options.Logger.WarnContext(ctx, "discord interaction was answered too late: it waits for 3 s", slog.Any("error", err))
		return nil
	}
	return err
}

// sendPrivateLine says one line to who pressed or asked, in private. Where that can't be, nothing else
// is lost by it.
func (a *Adapter) sendPrivateLine(ctx context.Context, of signal, line string) error {
	return a.sendPrivateNote(ctx, of, note{Content: escapeText(line, true), Mentions: callNobody()}, nil)
}

// sendPrivateNote shows a message to who pressed or asked alone, after the first answer.
func (a *Adapter) sendPrivateNote(ctx context.Context, of signal, made note, files []upload) error {
	made.Flags |= ephemeral
	return a.sendPrivate(ctx, request{
		does: "answer in private", method: http.MethodPost, public: true, body: made.withLists(), files: files,
		url: discordgo.EndpointWebhookToken(of.interaction.application, of.interaction.token),
	})
}

// fillThinking puts a message in the place of "Cairn is thinking".
func (a *Adapter) fillThinking(ctx context.Context, of signal, made note, files []upload) error {
	return a.sendPrivate(ctx, request{
		does: "answer in private", method: http.MethodPatch, public: true, body: made.withLists(), files: files,
		url: discordgo.EndpointWebhookMessage(of.interaction.application, of.interaction.token, originalAnswer),
	})
}

func (a *Adapter) sendPrivate(ctx context.Context, asks request) error {
	if err := a.callAPI(ctx, asks, nil); err != nil {
		a.options.Logger.WarnContext(ctx, "discord private answer was not shown", slog.Any("error", err))
	}
	return nil
}

// withLists gives a note with the lists that Discord wants.
func (n note) withLists() note {
	if n.Embeds == nil {
		n.Embeds = []embed{}
	}
	if n.Attached == nil {
		n.Attached = []attachment{}
	}
	if n.Components == nil {
		n.Components = []component{}
	}
	return n
}

// MarshalJSON leaves out what the kind of answer has not: Discord takes no empty list of a
// form, and no form in a message.
func (d answerData) MarshalJSON() ([]byte, error) {
	switch {
	case d.Choices != nil:
		return json.Marshal(struct {
			Choices []CommandChoice `json:"choices"`
		}{*d.Choices})
	case d.CustomID != "":
		return json.Marshal(struct {
			CustomID   string      `json:"custom_id"`
			Title      string      `json:"title"`
			Components []component `json:"components"`
		}{d.CustomID, d.Title, d.Components})
	case d.Content == "" && len(d.Embeds) == 0:
		return json.Marshal(struct {
			Flags int `json:"flags"`
		}{d.Flags})
	}
	return json.Marshal(struct {
		Content  string   `json:"content"`
		Mentions mentions `json:"allowed_mentions"`
		Flags    int      `json:"flags,omitempty"`
	}{d.Content, d.Mentions, d.Flags})
}
