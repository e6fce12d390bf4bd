package slack

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat/webhook/wiretest"
)

// odd is a message with files, blocks and metadata, as conversations.replies gives it.
const odd = `{"type":"message","user":"U1","text":"hello","ts":"1.000002","thread_ts":"1.000001","reply_count":2,
	"edited":{"user":"U1","ts":"1.000003"},"files":[{"id":"F1","name":"a.md","size":12}],"reactions":[{"name":"eyes","count":1,"users":["U1"]}],
	"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"hello"}}],
	"metadata":{"event_type":"cairn","event_payload":{"key":"K","part":0,"parts":1}}}`

// TestOneOddMessageSpoilsNoHistory has a message among others whose values have each other
// type in turn.
func TestOneOddMessageSpoilsNoHistory(t *testing.T) {
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	api := slack.New("xoxb-1", slack.OptionAPIURL(server.URL+"/"), slack.OptionHTTPClient(historyClient{server.Client()}))
	for _, m := range wiretest.Mutate(t, json.RawMessage(odd)) {
		body = `{"ok":true,"messages":[{"ts":"1.000001","text":"first"},` + string(m.Payload) + `,7,{"ts":"1.000009","text":"last"}],"has_more":false}`
		messages, _, _, err := api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{ChannelID: "C1", Timestamp: "1.000001"})
		if err != nil || len(messages) != 3 || messages[0].Text != "first" || messages[2].Text != "last" {
			t.Errorf("%s: %d messages, %v", m.Where, len(messages), err)
			continue
		}
		if got := messages[1]; got.Timestamp == "" && got.Text == "" && got.User == "" {
			t.Errorf("%s: nothing is left of %+v", m.Where, got)
		}
		history, err := api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: "C1"})
		if err != nil || history.Messages[0].Text != "first" || history.Messages[len(history.Messages)-1].Text != "last" {
			t.Errorf("%s: the history is %+v, %v", m.Where, history, err)
		}
	}
}

func TestAnOddSizeLeavesTheFile(t *testing.T) {
	cleaned, ok := withoutOddValues(json.RawMessage(`{"ts":"1.1","edited":true,"files":[{"id":"F1","size":"12"},{"id":"F2","size":3}]}`))
	if want := `{"files":[{"id":"F1"},{"id":"F2","size":3}],"ts":"1.1"}`; !ok || string(cleaned) != want {
		t.Errorf("%s, %v, want %s", cleaned, ok, want)
	}
}
