package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	sdktest "github.com/slack-go/slack/slacktest"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// TestTheSDKsOwnServer has the adapter hear by Socket Mode from the server that comes with
// the SDK.
func TestTheSDKsOwnServer(t *testing.T) {
	server := sdktest.NewTestServer()
	server.Start()
	t.Cleanup(server.Stop)
	adapter, err := New(Options{
		Settings:   openSettings(t),
		Workspaces: NewSingle("xoxb-test", server.GetAPIURL(), nil), APIURL: server.GetAPIURL(), AppToken: "xapp-test", Sockets: 1,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	bot := &quiet{}
	heard := make(chan string, 4)
	bot.heard = heard
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- adapter.Run(ctx, bot) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for i, text := range []string{"one", "two"} {
		inner := fmt.Sprintf(`{"type":"message","user":"U1","text":%q,"ts":"1.%d","channel":"D1"}`, text, i)
		envelope, err := json.Marshal(map[string]json.RawMessage{
			"type": json.RawMessage(`"events_api"`), "envelope_id": json.RawMessage(`"envelope-` + text + `"`),
			"payload": bytes.Replace(event(inner), []byte("Ev1"), []byte("Ev"+text), 1),
		})
		if err != nil {
			t.Fatal(err)
		}
		server.SendToWebsocket(string(envelope))
		for _, wanted := range []struct {
			what string
			from <-chan string
			want string
		}{{"heard", heard, text}, {"acknowledged", server.SeenFeed, `{"envelope_id":"envelope-` + text + `"}`}} {
			select {
			case got := <-wanted.from:
				if got != wanted.want {
					t.Errorf("%s %s, want %s", wanted.what, got, wanted.want)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%q was not %s", text, wanted.what)
			}
		}
	}
}

// TestConnectionsThatSlackEnds has Slack end connections for each of its reasons, while
// there are several: all that is said arrives, once.
func TestConnectionsThatSlackEnds(t *testing.T) {
	w := newTeam(t, true)
	within(t, "two connections", func() bool { return w.Connections() == 2 })
	for i, reason := range []string{"warning", "refresh_requested", "link_disabled", "too_many_websockets", "refresh_requested"} {
		opened := len(w.Calls("apps.connections.open"))
		w.Disconnect(reason)
		within(t, "new connections after "+reason, func() bool {
			return w.Connections() == 2 && len(w.Calls("apps.connections.open")) >= opened+2
		})
		w.ann.Says(w.general, "", fmt.Sprintf("<@%s> message %d", slacktest.Bot, i))
		w.clock.Advance(time.Minute)
		within(t, "the message after "+reason, func() bool { return len(w.bot.Messages()) == i+1 })
	}
	seen := map[string]bool{}
	for _, message := range w.bot.Messages() {
		if seen[message.Text] {
			t.Errorf("%q was heard twice", message.Text)
		}
		seen[message.Text] = true
	}
}
