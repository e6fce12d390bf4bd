package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Types of callbacks.
const (
	callbackPong          = 1
	callbackMessage       = 4
	callbackDefer         = 5
	callbackDeferUpdate   = 6
	callbackUpdate        = 7
	callbackAutocomplete  = 8
	callbackModal         = 9
	settableOfInteraction = settableFlags | flagEphemeral
)

// schemaOf are the bodies of callbacks by their type.
var schemaOf = map[int]string{
	callbackPong: "PongInteractionCallbackRequest", callbackMessage: "CreateMessageInteractionCallbackRequest",
	callbackDefer: "CreateMessageInteractionCallbackRequest", callbackDeferUpdate: "UpdateMessageInteractionCallbackRequest",
	callbackUpdate: "UpdateMessageInteractionCallbackRequest", callbackAutocomplete: "ApplicationCommandAutocompleteCallbackRequest",
	callbackModal: "ModalInteractionCallbackRequest",
}

// mayAnswer are the callbacks that each type of interaction takes.
var mayAnswer = map[int][]int{
	kindCommand:      {callbackMessage, callbackDefer, callbackModal},
	kindComponent:    {callbackMessage, callbackDefer, callbackDeferUpdate, callbackUpdate, callbackModal},
	kindAutocomplete: {callbackAutocomplete},
	kindModal:        {callbackMessage, callbackDefer},
}

type callbackBody struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}

type callbackResponse struct {
	Interaction struct {
		ID   string `json:"id"`
		Type int    `json:"type"`
	} `json:"interaction"`
	Resource *callbackResource `json:"resource,omitempty"`
}

type callbackResource struct {
	Type    int          `json:"type"`
	Message *wireMessage `json:"message,omitempty"`
}

// takeCallback takes the first answer to an interaction.
func (s *Server) takeCallback(work *request) (any, *refusal) {
	is := s.interactions[work.PathValue("interaction")]
	if is == nil || is.Token != work.PathValue("token") {
		return nil, newRefusal(notFound, codeUnknownInteraction)
	}
	kind, refused := s.answerCallback(is, work)
	if refused != nil || work.URL.Query().Get("with_response") != "true" {
		return nil, refused
	}
	var answered callbackResponse
	answered.Interaction.ID, answered.Interaction.Type = is.ID, is.kind
	answered.Resource = &callbackResource{Type: kind}
	if is.original != nil && kind != callbackModal {
		shown := s.wireForIntent(is.original, true)
		answered.Resource.Message = &shown
	}
	return answered, nil
}

// answerCallback carries out a callback and gives its type.
func (s *Server) answerCallback(is *Interaction, work *request) (int, *refusal) {
	switch {
	case is.answered != 0:
		return 0, newRefusal(badRequest, codeAcknowledged)
	case s.now().Sub(is.Made) > answerWithin:
		return 0, newRefusal(notFound, codeUnknownInteraction)
	}
	body, refused := decode[callbackBody](orEmpty(work.body))
	if refused != nil {
		return 0, refused
	}
	takes := slices.Contains(mayAnswer[is.kind], body.Type) ||
		is.kind == kindModal && is.at != nil && (body.Type == callbackDeferUpdate || body.Type == callbackUpdate)
	if !takes {
		return 0, newFieldError("type", "INTERACTION_CALLBACK_TYPE_INVALID", "This interaction can't be answered by this type.")
	}
	if refused := checkSchema(schemaOf[body.Type], work.body); refused != nil {
		return 0, refused
	}
	if refused := s.applyCallback(is, body, work); refused != nil {
		return 0, refused
	}
	is.answered = body.Type
	return body.Type, nil
}

func (s *Server) applyCallback(is *Interaction, body callbackBody, work *request) *refusal {
	inner := &request{Request: work.Request, is: work.is, body: orEmpty(nonNull(body.Data)), files: work.files}
	switch body.Type {
	case callbackMessage:
		said, refused := s.postResponse(is, inner)
		is.original = said
		return refused
	case callbackDefer:
		return s.deferResponse(is, inner.body)
	case callbackDeferUpdate:
		if nonNull(body.Data) != nil && string(body.Data) != "{}" {
			return newFieldError("data", "BASE_TYPE_NOT_ALLOWED", "A deferred update says nothing.")
		}
		is.original = is.at
	case callbackUpdate:
		is.original = is.at
		return nestErrors("data", s.reviseMessage(inner, is.at, flagSuppressEmbeds|flagComponentsV2))
	case callbackAutocomplete:
		offered, refused := decode[struct {
			Choices []Choice `json:"choices"`
		}](inner.body)
		is.choices = offered.Choices
		return refused
	case callbackModal:
		return is.openModal(inner.body)
	}
	return nil
}

// deferResponse shows "is thinking…"; the only thing that it may say is for whom.
func (s *Server) deferResponse(is *Interaction, data json.RawMessage) *refusal {
	given, refused := decode[map[string]json.RawMessage](data)
	if refused != nil {
		return refused
	}
	body, refused := readMessage(data)
	if refused != nil {
		return refused
	}
	for field := range given {
		if field != "flags" {
			return nestErrors("data", newFieldError(field, "BASE_TYPE_NOT_ALLOWED", "A deferred answer takes flags alone."))
		}
	}
	if body.Flags&^flagEphemeral != 0 {
		return nestErrors("data", newFieldError("flags", "FLAGS_INVALID", "A deferred answer takes the flag EPHEMERAL alone."))
	}
	said := &message{Message: Message{Flags: body.Flags | flagLoading, Thinking: true, Request: data}}
	s.adoptMessage(is, said)
	s.addMessage(said)
	is.original = said
	return nil
}

// adoptMessage makes a message one of the interaction's.
func (s *Server) adoptMessage(is *Interaction, said *message) {
	said.Channel, said.Guild, said.Author, said.interaction = is.Channel, is.Guild, Bot, is
	if is.kind == kindCommand && len(is.made) == 0 {
		said.Type = typeCommand
		if is.menu {
			said.Type = typeContextMenu
		}
	}
	if said.Flags&flagEphemeral != 0 {
		said.Only = is.Person
	}
	is.made = append(is.made, said)
}

// postResponse posts a message by the interaction.
func (s *Server) postResponse(is *Interaction, work *request) (*message, *refusal) {
	body, refused := readMessage(work.body)
	if refused != nil {
		return nil, refused
	}
	said := &message{Message: Message{Channel: is.Channel, Guild: is.Guild, Author: Bot, Request: work.body}}
	if refused := s.applyBody(work, body, said, settableOfInteraction); refused != nil {
		return nil, refused
	}
	s.adoptMessage(is, said)
	s.addMessage(said)
	return said, nil
}

// openModal shows a modal.
func (i *Interaction) openModal(data json.RawMessage) *refusal {
	given, refused := decode[struct {
		CustomID   string          `json:"custom_id"`
		Title      string          `json:"title"`
		Components json.RawMessage `json:"components"`
	}](data)
	if refused != nil {
		return refused
	}
	var form formErrors
	form.checkMax(Length(given.Title), 45, "data", "title")
	checkModal(decodeComponents(given.Components), &form)
	if refused := form.toRefusal(); refused != nil {
		return refused
	}
	i.modal = &Modal{CustomID: given.CustomID, Title: given.Title, Components: given.Components, opened: i}
	return nil
}

// nestErrors moves the errors of a form below a field.
func nestErrors(field string, refused *refusal) *refusal {
	if refused != nil && refused.Errors != nil {
		refused.Errors = &errorNode{fields: map[string]*errorNode{field: refused.Errors}}
	}
	return refused
}

func nonNull(value json.RawMessage) json.RawMessage {
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	return value
}

// findByToken returns the interaction of a webhook request, while its token holds.
func (s *Server) findByToken(work *request) (*Interaction, *refusal) {
	if work.PathValue("webhook") != AppID {
		return nil, newRefusal(notFound, codeUnknownWebhook)
	}
	is := s.interactions[strings.TrimPrefix(work.PathValue("token"), tokenPrefix)]
	switch {
	case is == nil || is.Token != work.PathValue("token") || s.now().Sub(is.Made) > tokenLives:
		return nil, newRefusal(http.StatusUnauthorized, codeWebhookToken)
	case is.answered == 0:
		return nil, newRefusal(notFound, codeUnknownWebhook)
	}
	return is, nil
}

// followUp posts a further message; after a deferred answer the first one is that answer.
func (s *Server) followUp(work *request) (any, *refusal) {
	is, refused := s.findByToken(work)
	if refused != nil {
		return nil, refused
	}
	if is.original != nil && is.original.Thinking && !is.original.Deleted {
		if refused := s.reviseMessage(work, is.original, settableOfInteraction); refused != nil {
			return nil, refused
		}
		return s.wireForIntent(is.original, true), nil
	}
	said, refused := s.postResponse(is, work)
	if refused != nil {
		return nil, refused
	}
	return s.wireForIntent(said, true), nil
}

// findResponse returns the message of a webhook request.
func (s *Server) findResponse(work *request) (*message, *refusal) {
	is, refused := s.findByToken(work)
	if refused != nil {
		return nil, refused
	}
	id := work.PathValue("message")
	if id == "@original" && is.original != nil && !is.original.Deleted {
		return is.original, nil
	}
	for _, said := range is.made {
		if said.ID == id && !said.Deleted {
			return said, nil
		}
	}
	return nil, newRefusal(notFound, codeUnknownMessage)
}

func (s *Server) getResponse(work *request) (any, *refusal) {
	said, refused := s.findResponse(work)
	if refused != nil {
		return nil, refused
	}
	return s.wireForIntent(said, true), nil
}

func (s *Server) editResponse(work *request) (any, *refusal) {
	said, refused := s.findResponse(work)
	if refused != nil {
		return nil, refused
	}
	if refused := s.reviseMessage(work, said, flagSuppressEmbeds|flagComponentsV2); refused != nil {
		return nil, refused
	}
	return s.wireForIntent(said, true), nil
}

func (s *Server) deleteResponse(work *request) (any, *refusal) {
	said, refused := s.findResponse(work)
	if refused != nil {
		return nil, refused
	}
	s.removeMessage(said)
	return nil, nil
}
