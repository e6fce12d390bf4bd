package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
)

// serveResponse takes a post to a response_url.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	problem := s.applyResponse(s.responses[r.PathValue("id")], body)
	s.mu.Unlock()
	if problem != "" {
		w.WriteHeader(http.StatusNotFound)
		writeAnswer(w, nil, newAPIError(problem))
		return
	}
	io.WriteString(w, "ok") //nolint:errcheck // the app may have hung up
}

func (s *Server) applyResponse(to *responseURL, body []byte) (problem string) {
	if to == nil || to.left == 0 || s.clock.Now().After(to.until) {
		return "used_url"
	}
	var told struct {
		ResponseType    string          `json:"response_type"`
		Text            string          `json:"text"`
		Blocks          json.RawMessage `json:"blocks"`
		ThreadTS        string          `json:"thread_ts"`
		ReplaceOriginal bool            `json:"replace_original"`
		DeleteOriginal  bool            `json:"delete_original"`
	}
	if json.Unmarshal(body, &told) != nil {
		return "invalid_payload"
	}
	if told.Blocks != nil && string(told.Blocks) != "null" {
		if refused := blockError(told.Blocks); refused != nil {
			return refused.Name
		}
	}
	to.left--
	original := s.findAnyMessage(to.channel, to.message)
	switch {
	case told.DeleteOriginal && original != nil:
		original.Deleted = true
		return ""
	case told.ReplaceOriginal && original != nil:
		original.Text, original.Blocks = told.Text, told.Blocks
		original.Edits++
		return ""
	case told.Text == "" && told.Blocks == nil:
		return "no_text"
	}
	message := &Message{Channel: to.channel, ThreadTS: told.ThreadTS, User: Bot, Text: told.Text, Blocks: told.Blocks, Only: to.user}
	if told.ResponseType == "in_channel" {
		message.Only = ""
	}
	message.TS = s.newTimestamp()
	s.messages = append(s.messages, message)
	return ""
}

// findAnyMessage finds a message, also one for one person alone.
func (s *Server) findAnyMessage(channelID, ts string) *Message {
	for _, message := range s.messages {
		if message.Channel == channelID && message.TS == ts && !message.Deleted {
			return message
		}
	}
	return nil
}
