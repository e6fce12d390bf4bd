package discordtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
)

const (
	intentGuilds   = 1 << 0
	intentMessages = 1 << 9
	intentDirect   = 1 << 12
	intentContent  = 1 << 15
)

// shard is a connection of one shard's.
type shard struct {
	t      testing.TB
	socket *websocket.Conn
}

func (p *place) connect(number, of, intents int) shard {
	p.t.Helper()
	socket, response, err := websocket.DefaultDialer.DialContext(p.t.Context(), p.Gateway().URL()+"/?v=10&encoding=json", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := socket.Close(); err != nil {
			p.t.Error(err)
		}
	})
	identify := fmt.Sprintf(`{"op":2,"d":{"token":%q,"intents":%d,"shard":[%d,%d],"properties":{"os":"o","browser":"b","device":"d"}}}`,
		discordtest.Token, intents, number, of)
	if err := socket.WriteMessage(websocket.TextMessage, []byte(identify)); err != nil {
		p.t.Fatal(err)
	}
	return shard{p.t, socket}
}

// next gives the data of the next event of a type; others are passed over.
func (s shard) next(eventType string) string {
	s.t.Helper()
	if err := s.socket.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	for {
		var event struct {
			Type string          `json:"t"`
			Data json.RawMessage `json:"d"`
		}
		if err := s.socket.ReadJSON(&event); err != nil {
			s.t.Fatalf("waiting for a %s: %v", eventType, err)
		}
		if event.Type == eventType {
			return string(event.Data)
		}
	}
}

func TestEventsGoToTheShardOfTheirGuild(t *testing.T) {
	p := newPlace(t, discordtest.Options{Shards: 2, Gateway: gatewaytest.Options{MaxConcurrency: 2}})
	second := p.Guild("Second")
	cara := second.Member("Cara")
	lobby := second.Channel("lobby")
	shards := []shard{p.connect(0, 2, intentGuilds|intentMessages|intentDirect), p.connect(1, 2, intentGuilds|intentMessages|intentDirect)}
	for i, guild := range []string{p.team.ID, second.ID} {
		if got := shards[i].next("GUILD_CREATE"); !strings.Contains(got, guild) {
			t.Errorf("shard %d was told of another guild: %s", i, got)
		}
	}
	p.Say(p.ann, p.general, "<@"+discordtest.Bot+"> in the first")
	p.Say(cara, lobby, "<@"+discordtest.Bot+"> in the second")
	p.Say(cara, p.DM(cara), "directly")
	for _, want := range []struct {
		shard int
		text  string
	}{{0, "in the first"}, {0, "directly"}, {1, "in the second"}} {
		if got := shards[want.shard].next("MESSAGE_CREATE"); !strings.Contains(got, want.text) {
			t.Errorf("shard %d got %s, want %q", want.shard, got, want.text)
		}
	}
	if got := p.call("GET", "/gateway/bot", ""); !strings.Contains(got.Body, `"shards":2`) || !strings.Contains(got.Body, `"remaining":998`) {
		t.Errorf("gateway: %s", got.Body)
	}
}

func TestContentIsForThoseWhoAskForIt(t *testing.T) {
	p := newPlace(t, discordtest.Options{MessageContent: true})
	modest := p.connect(0, 1, intentMessages)
	modest.next("READY")
	p.Say(p.ann, p.general, "plain")
	if got := modest.next("MESSAGE_CREATE"); !strings.Contains(got, `"content":""`) {
		t.Errorf("an app that did not ask for content got %s", got)
	}
	p.Say(p.ann, p.general, "<@"+discordtest.Bot+"> mention")
	if got := modest.next("MESSAGE_CREATE"); !strings.Contains(got, "mention\"") {
		t.Errorf("an app that was mentioned got %s", got)
	}
	other := newPlace(t, discordtest.Options{MessageContent: true})
	greedy := other.connect(0, 1, intentMessages|intentContent)
	greedy.next("READY")
	other.Say(other.ann, other.general, "plain")
	if got := greedy.next("MESSAGE_CREATE"); !strings.Contains(got, `"content":"plain"`) {
		t.Errorf("an app that asked for content got %s", got)
	}
}

func TestTheContentIntentMustBeGranted(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	refused := p.connect(0, 1, intentMessages|intentContent)
	for {
		_, _, err := refused.socket.ReadMessage()
		if err == nil {
			continue // hello
		}
		if !websocket.IsCloseError(err, 4014) {
			t.Errorf("closed by %v, want 4014", err)
		}
		return
	}
}
