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
	message       answerType = 4
	deferred      answerType = 5 // "Cairn is thinking…"
	deferredPress answerType = 6 // nothing is seen of it
	completion    answerType = 8
	form          answerType = 9
)

// answerData is a message, what completes a field, or a form.
type answerData struct {
	note
	Choices  *[]CommandChoice
	CustomID string
	Title    string
}

// says is an answer of one line that only who asked sees.
func says(line string) answer {
	return answer{Type: message, Data: &answerData{note: note{Content: escape(line, true), Mentions: nobody(), Flags: ephemeral}}}
}

// thinking is the answer that says that one for that person comes soon.
func thinking() answer {
	return answer{Type: deferred, Data: &answerData{note: note{Flags: ephemeral}}}
}

// callback answers an interaction that came by the gateway. One that Discord has an answer
// to came again.
func (a *Adapter) callback(ctx context.Context, of signal, first answer) error {
	err := a.call(ctx, request{
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

// tell says one line to who pressed or asked, in private. Where that can't be, nothing else
// is lost by it.
func (a *Adapter) tell(ctx context.Context, of signal, line string) error {
	return a.show(ctx, of, note{Content: escape(line, true), Mentions: nobody()}, nil)
}

// show shows a message to who pressed or asked alone, after the first answer.
func (a *Adapter) show(ctx context.Context, of signal, made note, files []upload) error {
	made.Flags |= ephemeral
	return a.private(ctx, request{
		does: "answer in private", method: http.MethodPost, public: true, body: made.whole(), files: files,
		url: discordgo.EndpointWebhookToken(of.interaction.application, of.interaction.token),
	})
}

// fill puts a message in the place of "Cairn is thinking".
func (a *Adapter) fill(ctx context.Context, of signal, made note, files []upload) error {
	return a.private(ctx, request{
		does: "answer in private", method: http.MethodPatch, public: true, body: made.whole(), files: files,
		url: discordgo.EndpointWebhookMessage(of.interaction.application, of.interaction.token, original),
	})
}

func (a *Adapter) private(ctx context.Context, asks request) error {
	if err := a.call(ctx, asks, nil); err != nil {
		a.options.Logger.WarnContext(ctx, "discord private answer was not shown", slog.Any("error", err))
	}
	return nil
}

// whole gives a note with the lists that Discord wants.
func (n note) whole() note {
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
