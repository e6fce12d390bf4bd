package slacktest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Limits of a message's text and metadata.
const (
	maxText         = 40000
	maxMetadata     = 8000 // Slack refuses metadata "too large"; the size is not documented
	maxMarkdownText = 12000
)

type wireMetadata struct {
	EventType    string                     `json:"event_type"`
	EventPayload map[string]json.RawMessage `json:"event_payload"`
}

// readContent returns what a message says, checked.
func (s *Server) readContent(work *request, into *Message) *apiError {
	if attachments := work.args["attachments"]; attachments != "" && attachments != "null" && attachments != "[]" {
		return newAPIError("invalid_attachments", "[ERROR] this server knows no attachments")
	}
	into.Text = work.args["text"]
	if Length(into.Text) > maxText {
		return newAPIError("msg_too_long")
	}
	if markdown := work.args["markdown_text"]; markdown != "" {
		if work.args["text"] != "" || work.args["blocks"] != "" {
			return newAPIError("markdown_text_conflict")
		}
		if Length(markdown) > maxMarkdownText {
			return newAPIError("msg_too_long")
		}
		into.Text = markdown
	}
	into.Blocks = nil
	if blocks := work.args["blocks"]; blocks != "" && blocks != "[]" {
		if refused := blockError(json.RawMessage(blocks)); refused != nil {
			return refused
		}
		into.Blocks = json.RawMessage(blocks)
	}
	if strings.TrimSpace(into.Text) == "" && into.Blocks == nil {
		return newAPIError("no_text")
	}
	return checkMetadata(work.args["metadata"], into)
}

// blockError returns how Slack refuses blocks.
func blockError(blocks json.RawMessage) *apiError {
	var list []json.RawMessage
	if json.Unmarshal(blocks, &list) != nil {
		return newAPIError("invalid_blocks_format")
	}
	problems, tooLong := CheckMessage(blocks)
	if slices.ContainsFunc(problems, func(p Problem) bool { return p.Message == errOneTable }) {
		return newAPIError("invalid_attachments", asMessages(problems)...)
	}
	if len(problems) > 0 {
		return newAPIError("invalid_blocks", asMessages(problems)...)
	}
	if tooLong {
		return newAPIError("msg_blocks_too_long")
	}
	return nil
}

func asMessages(problems []Problem) []string {
	var messages []string
	for _, problem := range problems {
		messages = append(messages, "[ERROR] "+problem.String())
	}
	return messages
}

func checkMetadata(raw string, into *Message) *apiError {
	if raw == "" {
		return nil
	}
	value, err := decodeStrict[wireMetadata](json.RawMessage(raw))
	switch {
	case err != nil:
		return newAPIError("invalid_metadata_format")
	case value.EventType == "" || value.EventPayload == nil:
		return newAPIError("invalid_metadata_schema")
	case len(raw) > maxMetadata:
		return newAPIError("metadata_too_large")
	}
	into.Metadata = json.RawMessage(raw)
	return nil
}

// checkThread checks that thread_ts is the root of a thread.
func (s *Server) checkThread(work *request) *apiError {
	ts := work.args["thread_ts"]
	if ts == "" {
		return nil
	}
	root := s.findRoot(work.args["channel"], ts)
	if root == nil {
		return newAPIError("thread_not_found")
	}
	if root.ThreadTS != "" && root.ThreadTS != root.TS {
		return newAPIError("invalid_thread_ts", "[ERROR] thread_ts must be that of the thread's first message")
	}
	return nil
}

func (s *Server) postMessage(work *request) (any, *apiError) {
	channelID := work.args["channel"]
	if strings.HasPrefix(channelID, "U") { // to a person is to their direct conversation
		channelID = "D" + strings.TrimPrefix(channelID, "U")
		s.addDirect(channelID, work.args["channel"])
		work.args["channel"] = channelID
	}
	if _, refused := s.writableChannel(work, channelID); refused != nil {
		return nil, refused
	}
	message := &Message{Channel: channelID, User: work.install.bot, ThreadTS: work.args["thread_ts"]}
	if refused := s.readContent(work, message); refused != nil {
		return nil, refused
	}
	if refused := s.checkThread(work); refused != nil {
		return nil, refused
	}
	s.addMessage(message)
	return s.newPostedMessage(message), nil
}

// addMessage puts a message of the app's into its channel, clears the thread's status line, and
// tells the app of it, as Slack does.
func (s *Server) addMessage(message *Message) {
	message.TS = s.newTimestamp()
	s.messages = append(s.messages, message)
	s.clearStatus(message.Channel, message.ThreadTS)
	s.echoMessage(message)
}

type postedMessage struct {
	Channel string      `json:"channel"`
	TS      string      `json:"ts"`
	Text    string      `json:"text,omitempty"`
	Message wireMessage `json:"message"`
}

func (s *Server) newPostedMessage(message *Message) postedMessage {
	return postedMessage{message.Channel, message.TS, message.Text, s.messageToWire(message, true)}
}

// ownMessage returns a message of the app's that may be changed.
func (s *Server) ownMessage(work *request, unknown string) (*Message, *apiError) {
	if s.channels[work.args["channel"]] == nil {
		return nil, newAPIError("channel_not_found")
	}
	message := s.findMessage(work.args["channel"], work.args["ts"])
	if message == nil {
		return nil, newAPIError("message_not_found")
	}
	if message.User != work.install.bot {
		return nil, newAPIError(unknown)
	}
	return message, nil
}

func (s *Server) updateMessage(work *request) (any, *apiError) {
	message, refused := s.ownMessage(work, "cant_update_message")
	if refused != nil {
		return nil, refused
	}
	if s.isStreaming(message) {
		return nil, newAPIError("streaming_state_conflict")
	}
	changed := *message
	if refused := s.readContent(work, &changed); refused != nil {
		return nil, refused
	}
	changed.Edits++
	changed.Streamed, changed.Tasks = "", nil
	*message = changed
	return s.newPostedMessage(message), nil
}

func (s *Server) deleteMessage(work *request) (any, *apiError) {
	message, refused := s.ownMessage(work, "cant_delete_message")
	if refused != nil {
		return nil, refused
	}
	message.Deleted = true
	return struct {
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	}{message.Channel, message.TS}, nil
}

func (s *Server) postEphemeral(work *request) (any, *apiError) {
	to, refused := s.writableChannel(work, work.args["channel"])
	if refused != nil {
		return nil, refused
	}
	if s.people[work.args["user"]] == nil {
		return nil, newAPIError("user_not_in_channel")
	}
	message := &Message{Channel: to.ID, User: work.install.bot, ThreadTS: work.args["thread_ts"], Only: work.args["user"]}
	if refused := s.readContent(work, message); refused != nil {
		return nil, refused
	}
	if refused := s.checkThread(work); refused != nil {
		return nil, refused
	}
	message.TS = s.newTimestamp()
	s.messages = append(s.messages, message)
	return struct {
		TS string `json:"message_ts"`
	}{message.TS}, nil
}

func (s *Server) getPermalink(work *request) (any, *apiError) {
	message := s.findMessage(work.args["channel"], work.args["message_ts"])
	if message == nil {
		return nil, newAPIError("message_not_found")
	}
	return struct {
		Channel   string `json:"channel"`
		Permalink string `json:"permalink"`
	}{message.Channel, s.messageLink(message)}, nil
}

func (s *Server) messageLink(message *Message) string {
	return "https://cairn.slack.example/archives/" + message.Channel + "/p" + strings.ReplaceAll(message.TS, ".", "")
}

func (s *Server) authTest(work *request) (any, *apiError) {
	return struct {
		URL        string `json:"url"`
		Team       string `json:"team"`
		User       string `json:"user"`
		TeamID     string `json:"team_id"`
		UserID     string `json:"user_id"`
		BotID      string `json:"bot_id"`
		Enterprise string `json:"enterprise_id,omitempty"`
	}{"https://cairn.slack.example/", "Cairn", "cairn", work.install.team, work.install.bot, botID, work.install.enterprise}, nil
}

func (s *Server) addReaction(work *request) (any, *apiError) {
	message := s.findMessage(work.args["channel"], work.args["timestamp"])
	if message == nil {
		return nil, newAPIError("message_not_found")
	}
	if slices.Contains(message.Reactions, work.args["name"]) {
		return nil, newAPIError("already_reacted")
	}
	message.Reactions = append(message.Reactions, work.args["name"])
	return nil, nil
}

func (s *Server) removeReaction(work *request) (any, *apiError) {
	message := s.findMessage(work.args["channel"], work.args["timestamp"])
	if message == nil {
		return nil, newAPIError("message_not_found")
	}
	at := slices.Index(message.Reactions, work.args["name"])
	if at < 0 {
		return nil, newAPIError("no_reaction")
	}
	message.Reactions = slices.Delete(message.Reactions, at, at+1)
	return nil, nil
}
