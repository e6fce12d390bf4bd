package discordtest

import (
	"slices"
	"time"
)

// nonceFor is how long Discord remembers a nonce: "the past few minutes", of which the
// least is taken.
const nonceFor = 2 * time.Minute

// settableFlags are the flags that the app may set on a message in a channel.
const settableFlags = flagSuppressEmbeds | flagSuppressNotifications | flagComponentsV2

func (s *Server) createMessage(work *request) (any, *refusal) {
	at, refused := s.writableChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	body, refused := readMessage(work.body)
	if refused != nil {
		return nil, refused
	}
	if body.EnforceNonce && body.nonceText() == "" {
		return nil, newFieldError("nonce", requiredField, "enforce_nonce needs a nonce.")
	}
	if body.EnforceNonce {
		if first := s.byNonce(body.nonceText()); first != nil {
			return s.wireNew(first), nil
		}
	}
	said, refused := s.newAppMessage(work, body, at)
	if refused != nil {
		return nil, refused
	}
	s.addMessage(said)
	s.nonces[said.nonce] = said
	return s.wireNew(said), nil
}

// wireNew returns the answer to the request that made a message, or would have made it again.
func (s *Server) wireNew(said *message) wireMessage {
	wired := s.messageToWire(said)
	wired.Nonce = said.nonce
	return wired
}

// byNonce finds a message of the app's that was made with a nonce lately.
func (s *Server) byNonce(nonce string) *message {
	said := s.nonces[nonce]
	if said == nil || s.now().Sub(said.Made) >= nonceFor {
		return nil
	}
	return said
}

// newAppMessage makes a message of the app's for a channel.
func (s *Server) newAppMessage(work *request, body *messageBody, at *channel) (*message, *refusal) {
	said := &message{Message: Message{Channel: at.ID, Author: Bot, Request: work.body}, nonce: body.nonceText()}
	may := s.memberPermissions(Bot, at)
	if is := body.Reference; is != nil {
		if refused := s.setReference(said, at, is.MessageID, is.FailIfNotExists == nil || *is.FailIfNotExists); refused != nil {
			return nil, refused
		}
	}
	if nonEmpty(body.Embeds) != nil && !may.hasAll(EmbedLinks) || len(work.files) > 0 && !may.hasAll(AttachFiles) {
		return nil, newRefusal(forbidden, codeMissingPermissions)
	}
	if refused := s.applyBody(work, body, said, settableFlags); refused != nil {
		return nil, refused
	}
	return said, nil
}

// setReference makes a message a reply.
func (s *Server) setReference(said *message, at *channel, to string, needed bool) *refusal {
	if !s.memberPermissions(Bot, at).hasAll(ReadMessageHistory) {
		return newRefusal(forbidden, codeReplyWithoutHistory)
	}
	if s.findMessage(at.ID, to) == nil {
		if needed {
			return newFieldError("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
		return nil
	}
	said.Type, said.reference = typeReply, to
	return nil
}

// readableMessage returns a message of a channel that the app may read.
func (s *Server) readableMessage(work *request) (*message, *refusal) {
	at, refused := s.readableChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	said := s.findMessage(at.ID, work.PathValue("message"))
	if said == nil || said.Only != "" {
		return nil, newRefusal(notFound, codeUnknownMessage)
	}
	return said, nil
}

func (s *Server) getMessage(work *request) (any, *refusal) {
	said, refused := s.readableMessage(work)
	if refused != nil {
		return nil, refused
	}
	return s.messageToWire(said), nil
}

func (s *Server) listMessages(work *request) (any, *refusal) {
	limit, refused := work.queryInt("limit", 1, 100, 50)
	if refused != nil {
		return nil, refused
	}
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	query := work.URL.Query()
	before, after, around := query.Get("before"), query.Get("after"), query.Get("around")
	if around != "" || before != "" && after != "" {
		return nil, newFieldError("before", "QUERY_UNSUPPORTED", "This server takes one of before and after, and no around.")
	}
	found := []wireMessage{}
	if !s.memberPermissions(Bot, at).hasAll(ReadMessageHistory) {
		return found, nil // Discord says nothing rather than no
	}
	for _, said := range at.said {
		if !said.Deleted && said.Only == "" && (before == "" || compareAge(said.ID, before) < 0) && (after == "" || compareAge(said.ID, after) > 0) {
			found = append(found, s.messageToWire(said))
		}
	}
	if after != "" { // those next to it, newest first like all others
		found = found[:min(limit, len(found))]
	}
	slices.Reverse(found)
	return found[:min(limit, len(found))], nil
}

func (s *Server) editMessage(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	said := s.findMessage(at.ID, work.PathValue("message"))
	switch {
	case said == nil || said.Only != "":
		return nil, newRefusal(notFound, codeUnknownMessage)
	case said.Author != Bot:
		return nil, newRefusal(forbidden, codeOthersMessage)
	case at.thread != nil && at.thread.archived:
		return nil, newRefusal(badRequest, codeArchived)
	}
	if refused := s.reviseMessage(work, said, flagSuppressEmbeds|flagComponentsV2); refused != nil {
		return nil, refused
	}
	return s.messageToWire(said), nil
}

// reviseMessage changes a message as a whole, or not at all.
func (s *Server) reviseMessage(work *request, said *message, flags int) *refusal {
	body, refused := readMessage(work.body)
	if refused != nil {
		return refused
	}
	changed := *said
	changed.Thinking, changed.Flags = false, said.Flags&^flagLoading
	if refused := s.applyBody(work, body, &changed, flags); refused != nil {
		return refused
	}
	changed.Request = work.body
	filled := said.Thinking // what was only announced before is no edit
	*said = changed
	if filled {
		s.changedMessage(said)
	} else {
		s.announceEdit(said)
	}
	return nil
}

func (s *Server) deleteMessage(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	said := s.findMessage(at.ID, work.PathValue("message"))
	switch {
	case said == nil || said.Only != "":
		return nil, newRefusal(notFound, codeUnknownMessage)
	case said.Author != Bot && at.kind == kindDM:
		return nil, newRefusal(forbidden, codeNotInDM)
	case said.Author != Bot && !s.memberPermissions(Bot, at).hasAll(ManageMessages):
		return nil, newRefusal(forbidden, codeMissingPermissions)
	case at.thread != nil && at.thread.archived:
		return nil, newRefusal(badRequest, codeArchived)
	}
	s.removeMessage(said)
	return nil, nil
}

func (s *Server) startTyping(work *request) (any, *refusal) {
	at, refused := s.writableChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	s.typing = append(s.typing, Typing{at.ID, Bot, s.now()})
	return nil, nil
}

func (s *Server) addReaction(work *request) (any, *refusal) {
	said, refused := s.readableMessage(work)
	if refused != nil {
		return nil, refused
	}
	if !s.memberPermissions(Bot, s.channels[said.Channel]).hasAll(AddReactions) {
		return nil, newRefusal(forbidden, codeMissingPermissions)
	}
	if emoji := work.PathValue("emoji"); !slices.Contains(said.Reactions, emoji) {
		said.Reactions = append(said.Reactions, emoji)
	}
	return nil, nil
}

func (s *Server) removeReaction(work *request) (any, *refusal) {
	said, refused := s.readableMessage(work)
	if refused != nil {
		return nil, refused
	}
	said.Reactions = slices.DeleteFunc(said.Reactions, func(emoji string) bool { return emoji == work.PathValue("emoji") })
	return nil, nil
}
