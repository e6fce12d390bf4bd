package slacktest

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Limits of a stream. Slack does not say after how long an idle one dies; users saw it
// after some minutes.
const (
	streamIdle  = 5 * time.Minute
	streamTotal = totalLimit
)

const errNotStreaming = "message_not_in_streaming_state"

// isStreaming reports whether a message may still be appended to.
func (s *Server) isStreaming(message *Message) bool {
	return message.Streaming && s.clock.Now().Before(message.lastAppend.Add(streamIdle))
}

func (s *Server) startStream(work *request) (any, *apiError) {
	to, refused := s.writableChannel(work, work.args["channel"])
	if refused != nil {
		return nil, refused
	}
	if refused := s.checkThread(work); refused != nil {
		return nil, refused
	}
	if to.kind != "im" {
		switch {
		case work.args["recipient_team_id"] == "":
			return nil, newAPIError("missing_recipient_team_id")
		case work.args["recipient_user_id"] == "":
			return nil, newAPIError("missing_recipient_user_id")
		}
	}
	message := &Message{Channel: to.ID, User: work.install.bot, ThreadTS: work.args["thread_ts"], Streaming: true, lastAppend: s.clock.Now()}
	if refused := s.appendContent(work, message); refused != nil {
		return nil, refused
	}
	s.addMessage(message)
	return s.newStreamedMessage(message), nil
}

type streamedMessage struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
}

func (s *Server) newStreamedMessage(message *Message) streamedMessage {
	return streamedMessage{message.Channel, message.TS}
}

// openStream returns the app's message that is being streamed.
func (s *Server) openStream(work *request) (*Message, *apiError) {
	message, refused := s.ownMessage(work, "message_not_owned_by_app")
	if refused != nil {
		return nil, refused
	}
	if !s.isStreaming(message) {
		return nil, newAPIError(errNotStreaming)
	}
	return message, nil
}

func (s *Server) appendStream(work *request) (any, *apiError) {
	message, refused := s.openStream(work)
	if refused != nil {
		return nil, refused
	}
	if work.args["markdown_text"] == "" && work.args["chunks"] == "" {
		return nil, newAPIError("invalid_arguments", "[ERROR] missing required field: markdown_text")
	}
	if refused := s.appendContent(work, message); refused != nil {
		return nil, refused
	}
	return s.newStreamedMessage(message), nil
}

func (s *Server) stopStream(work *request) (any, *apiError) {
	message, refused := s.openStream(work)
	if refused != nil {
		return nil, refused
	}
	changed := *message
	if refused := s.appendContent(work, &changed); refused != nil {
		return nil, refused
	}
	if refused := checkMetadata(work.args["metadata"], &changed); refused != nil {
		return nil, refused
	}
	if blocks := work.args["blocks"]; blocks != "" && blocks != "[]" {
		if refused := blockError(json.RawMessage(blocks)); refused != nil {
			return nil, refused
		}
		changed.Blocks = json.RawMessage(blocks)
	}
	changed.Streaming = false
	*message = changed
	return s.newStreamedMessage(message), nil
}

type chunk struct {
	Type    string            `json:"type"`
	Text    string            `json:"text"`
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Status  string            `json:"status"`
	Details string            `json:"details"`
	Output  string            `json:"output"`
	Sources []json.RawMessage `json:"sources"`
	Blocks  json.RawMessage   `json:"blocks"`
}

// appendContent adds a call's text and chunks to a message.
func (s *Server) appendContent(work *request, message *Message) *apiError {
	added, tasks, blocks := work.args["markdown_text"], message.Tasks, message.Blocks
	if raw := work.args["chunks"]; raw != "" {
		if added != "" {
			return newAPIError("markdown_text_conflict")
		}
		chunks, err := decodeStrict[[]chunk](json.RawMessage(raw))
		if err != nil {
			return newAPIError("invalid_chunks", "[ERROR] "+err.Error())
		}
		var text strings.Builder
		for i, piece := range chunks {
			if problem := piece.checkFields(); problem != "" {
				return newAPIError("invalid_chunks", "[ERROR] "+problem+" [json-pointer:/chunks/"+strconv.Itoa(i)+"]")
			}
			text.WriteString(piece.Text)
			switch piece.Type {
			case "task_update":
				tasks = append(tasks, piece.Status+": "+piece.Title)
			case "blocks":
				blocks = joinBlocks(blocks, piece.Blocks)
			}
		}
		added = text.String()
	}
	if Length(added) > maxMarkdownText || Length(message.Streamed)+Length(added) > streamTotal {
		return newAPIError("msg_too_long")
	}
	message.Streamed += added
	message.Text = message.Streamed
	message.Tasks, message.Blocks = tasks, blocks
	message.lastAppend = s.clock.Now()
	return nil
}

func (c chunk) checkFields() string {
	switch c.Type {
	case "markdown_text":
		if c.Text == "" {
			return "missing required field: text"
		}
	case "task_update":
		switch {
		case c.ID == "" || c.Title == "":
			return "missing required field: id, title"
		case Length(c.Title) > 256 || Length(c.Details) > 256 || Length(c.Output) > 256:
			return "must be less than 257 characters"
		}
		switch c.Status {
		case "", "pending", "in_progress", "complete", "error":
		default:
			return "unsupported status: " + c.Status
		}
	case "plan_update":
		if c.Title == "" {
			return "missing required field: title"
		}
	case "blocks":
		problems, _ := CheckMessage(c.Blocks)
		if len(problems) > 0 {
			return problems[0].String()
		}
	default:
		return "unsupported type: " + c.Type
	}
	return ""
}

// joinBlocks puts lists of blocks behind one another.
func joinBlocks(blocks, more json.RawMessage) json.RawMessage {
	var all, next []json.RawMessage
	for _, list := range []struct {
		raw  json.RawMessage
		into *[]json.RawMessage
	}{{blocks, &all}, {more, &next}} {
		if len(list.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(list.raw, list.into); err != nil {
			panic("slacktest: kept blocks that can't be read: " + err.Error())
		}
	}
	return mustJSON(append(all, next...))
}
