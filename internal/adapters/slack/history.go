package slack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/slack-go/slack"
)

// historyClient makes what Slack tells of messages fit for the SDK, which reads no message
// at all where a value of one has an unexpected type.
type historyClient struct{ *http.Client }

// Do sends a request of the SDK's.
func (c historyClient) Do(request *http.Request) (*http.Response, error) {
	response, err := c.Client.Do(request)
	if err != nil {
		return response, err
	}
	clean := func(json.RawMessage) (json.RawMessage, bool) { return nil, false }
	switch method(request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:]) {
	case readReplies:
		clean = withoutOddValues
	case readHistory: // what is left out is looked for in its thread
	default:
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("read what Slack tells of messages: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(repairMessages(body, clean)))
	response.ContentLength = -1
	return response, nil
}

// repairMessages gives an answer of Slack's whose messages the SDK can read; clean is asked for
// those that it can't.
func repairMessages(body []byte, clean func(json.RawMessage) (json.RawMessage, bool)) []byte {
	var answer map[string]json.RawMessage
	var messages []json.RawMessage
	if isMessages(body) || json.Unmarshal(body, &answer) != nil || json.Unmarshal(answer["messages"], &messages) != nil {
		return body
	}
	kept := []json.RawMessage{}
	for _, message := range messages {
		ok := isMessage(message)
		if !ok {
			message, ok = clean(message)
		}
		if ok {
			kept = append(kept, message)
		}
	}
	list, err := json.Marshal(kept)
	if err != nil {
		return body
	}
	answer["messages"] = list
	if cleaned, err := json.Marshal(answer); err == nil {
		return cleaned
	}
	return body
}

func isMessages(body []byte) bool {
	return json.Unmarshal(body, &slack.GetConversationHistoryResponse{}) == nil
}

func isMessage(raw []byte) bool { return json.Unmarshal(raw, &slack.Message{}) == nil }

// withoutOddValues gives a message without the values that the SDK can't read; false where
// it is no message.
func withoutOddValues(raw json.RawMessage) (json.RawMessage, bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	pruned, ok := pruneValue(value, func(value any) bool {
		raw, err := json.Marshal(value)
		return err == nil && isMessage(raw)
	})
	if !ok {
		return nil, false
	}
	raw, err := json.Marshal(pruned)
	return raw, err == nil
}

// pruneValue gives a value without what in it does not fit; false where it does not fit itself.
func pruneValue(value any, fits func(any) bool) (any, bool) {
	if fits(value) {
		return value, true
	}
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, inner := range value {
			if pruned, ok := pruneValue(inner, func(inner any) bool { return fits(map[string]any{name: inner}) }); ok {
				kept[name] = pruned
			}
		}
		return kept, fits(kept)
	case []any:
		kept := []any{}
		for _, inner := range value {
			if pruned, ok := pruneValue(inner, func(inner any) bool { return fits([]any{inner}) }); ok {
				kept = append(kept, pruned)
			}
		}
		return kept, fits(kept)
	}
	return nil, false
}
