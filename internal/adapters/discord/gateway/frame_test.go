package gateway

import (
	"encoding/json"
	"testing"
)

func TestSalvage(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want frame
	}{
		{`{"t":"MESSAGE_CREATE","s":7,"op":0,"d":{"id":"1`, frame{Op: opDispatch, Seq: 7, Type: "MESSAGE_CREATE"}},
		{`{"op":0,"s":7,"d":nonsense,"t":"X"}`, frame{Op: opDispatch, Seq: 7}},
		{`{"op":"0","s":7}`, frame{Op: -1}},
		{`{"op":0,"s":-7,"t":"X"}`, frame{Op: -1}},
		{`[0]`, frame{Op: -1}},
		{``, frame{Op: -1}},
	} {
		got, err := parseFrame([]byte(test.raw))
		if err == nil || got.Op != test.want.Op || got.Seq != test.want.Seq || got.Type != test.want.Type {
			t.Errorf("%s: %+v, %v", test.raw, got, err)
		}
	}
}

func TestOrder(t *testing.T) {
	for _, test := range []struct{ eventType, data, want string }{
		{"MESSAGE_CREATE", `{"id":"1","channel_id":"2","guild_id":"3"}`, "2"},
		{"THREAD_CREATE", `{"id":"1","guild_id":"3"}`, "1"},
		{"CHANNEL_DELETE", `{"id":"1","guild_id":"3"}`, "1"},
		{"GUILD_ROLE_UPDATE", `{"guild_id":"3"}`, "3"},
		{"GUILD_CREATE", `{"id":"3"}`, "3"},
		{"READY", `{}`, ""},
		{"MESSAGE_CREATE", `[]`, ""},
		{"MESSAGE_CREATE", `{"id":1,"channel_id":"2"}`, "2"},
	} {
		if got := orderKey(test.eventType, placeOf(json.RawMessage(test.data))); got != test.want {
			t.Errorf("%s %s: %q", test.eventType, test.data, got)
		}
	}
}

func TestSafe(t *testing.T) {
	for _, test := range []struct {
		address, first string
		want           bool
	}{
		{"wss://us-east1.discord.gg", "wss://gateway.discord.gg", true},
		{"ws://us-east1.discord.gg", "wss://gateway.discord.gg", false},
		{"ws://127.0.0.1:2", "ws://127.0.0.1:1", true},
		{"", "wss://gateway.discord.gg", false},
		{"wss://", "wss://gateway.discord.gg", false},
		{"http://a", "ws://b", false},
	} {
		if got := isSafeAddress(test.address, test.first); got != test.want {
			t.Errorf("%q after %q: %v", test.address, test.first, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"t":"MESSAGE_CREATE","s":7,"op":0,"d":{"id":"1","channel_id":"2"}}`))
	f.Add([]byte(`{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250}}`))
	f.Add([]byte(`{"op":0,"s":7,"t":"X","d":[{"channel_id":[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parseFrame(raw)
		if got.Seq < 0 {
			t.Errorf("number %d", got.Seq)
		}
		if err == nil && len(got.Data) > 0 && !json.Valid(got.Data) {
			t.Errorf("data that is not JSON: %q", got.Data)
		}
		if at := placeOf(got.Data); at.ChannelID != "" && orderKey(got.Type, at) != at.ChannelID {
			t.Errorf("what happens in channel %q is not in its order", at.ChannelID)
		}
	})
}
