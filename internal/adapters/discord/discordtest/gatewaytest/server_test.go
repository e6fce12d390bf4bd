package gatewaytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// client is one connection of a client that does as it is told.
type client struct {
	t  *testing.T
	ws *websocket.Conn
}

// connect waits for the hello.
func connect(t *testing.T, address string) *client {
	t.Helper()
	c := dial(t, address+"/?v=10&encoding=json")
	if hello := c.read(); hello.Op != opHello {
		t.Fatalf("got op %d first", hello.Op)
	}
	return c
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	ws, response, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	t.Cleanup(func() { ws.Close() })
	return &client{t, ws}
}

func (c *client) send(format string, arguments ...any) {
	c.t.Helper()
	if err := c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, arguments...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() payload {
	c.t.Helper()
	var got payload
	if err := c.ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	if err := c.ws.ReadJSON(&got); err != nil {
		c.t.Fatal(err)
	}
	return got
}

// event reads a dispatch of a type.
func (c *client) event(eventType string) payload {
	c.t.Helper()
	got := c.read()
	if got.Op != opDispatch || got.Type == nil || *got.Type != eventType {
		c.t.Fatalf("got %+v instead of %s", got, eventType)
	}
	return got
}

// closed reads until the connection is closed, and wants the code.
func (c *client) closed(code int) {
	c.t.Helper()
	for {
		_, _, err := c.ws.ReadMessage()
		if err == nil {
			continue
		}
		if got, ok := errors.AsType[*websocket.CloseError](err); !ok || got.Code != code {
			c.t.Errorf("got %v instead of code %d", err, code)
		}
		return
	}
}

// identify gives a valid one, with fields replaced or added.
func identify(fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return `{"op":2,"d":{"token":"` + Token + `","intents":513,"properties":{"os":"linux","browser":"b","device":"d"}` + fields + `}}`
}

// ready identifies, and gives the session and where it is resumed.
func (c *client) ready() (id, address string) {
	c.t.Helper()
	c.send("%s", identify(""))
	var ready struct {
		SessionID string `json:"session_id"`
		ResumeURL string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(c.event("READY").Data, &ready); err != nil {
		c.t.Fatal(err)
	}
	return ready.SessionID, ready.ResumeURL
}

func resume(id string, seq int) string {
	return fmt.Sprintf(`{"op":6,"d":{"token":%q,"session_id":%q,"seq":%d}}`, Token, id, seq)
}

func TestWhatClosesAConnection(t *testing.T) {
	for _, test := range []struct {
		name string
		code int
		send []string
	}{
		{"an unknown opcode", 4001, []string{`{"op":77}`}},
		{"no JSON", 4002, []string{`hello`}},
		{"a payload too large", 4002, []string{`{"op":1,"d":null,"x":"` + strings.Repeat("x", maxPayload) + `"}`}},
		{"no identify first", 4003, []string{`{"op":3,"d":{}}`}},
		{"a wrong token", 4004, []string{`{"op":2,"d":{"token":"x","intents":0,"properties":{"os":"o","browser":"b","device":"d"}}}`}},
		{"two identifies", 4005, []string{identify(""), identify("")}},
		{"a heartbeat ahead", 4007, []string{identify(""), `{"op":1,"d":99}`}},
		{"too much", 4008, slices.Repeat([]string{`{"op":1,"d":null}`}, 121)},
		{"a shard that is none", 4010, []string{identify(`"shard":[2,2]`)}},
		{"unknown intents", 4013, []string{identify(`"intents":1073741824`)}},
		{"disallowed intents", 4014, []string{identify(`"intents":32768`)}},
		{"an odd presence", 4002, []string{identify(`"presence":{"status":"sleepy","activities":[],"afk":false}`)}},
		{"no properties", 4002, []string{`{"op":2,"d":{"token":"` + Token + `","intents":0}}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := NewWith(t, Options{Refused: 1 << 15})
			c := connect(t, server.URL())
			for _, text := range test.send {
				c.send("%s", text)
			}
			c.closed(test.code)
			if state := server.State(); len(state.Refused) != 1 {
				t.Errorf("it tells of %q", state.Refused)
			}
		})
	}
	dial(t, New(t).URL()+"/?v=9&encoding=json").closed(4012)
}

func TestReplay(t *testing.T) {
	server := New(t)
	c := connect(t, server.URL())
	id, address := c.ready()
	if address == server.URL() {
		t.Error("one resumes where one identified")
	}
	for i := range 4 {
		server.Dispatch("", "INTERACTION_CREATE", json.RawMessage(fmt.Sprint(i)))
	}
	c.send(`{"op":1,"d":2}`) // READY and the first are dealt with
	for range 4 {
		c.event("INTERACTION_CREATE")
	}
	if got := c.read(); got.Op != opAck {
		t.Fatalf("got %+v", got)
	}
	server.Cut(0)
	server.Dispatch("", "INTERACTION_CREATE", json.RawMessage("4"))

	wrong := connect(t, server.URL())
	wrong.send("%s", resume(id, 3))
	if got := wrong.read(); got.Op != opInvalidSession || string(got.Data) != "false" {
		t.Errorf("a resume at the first address: %+v", got)
	}
	old := connect(t, address)
	old.send("%s", resume(id, 1))
	if got := old.read(); got.Op != opInvalidSession || string(got.Data) != "false" {
		t.Errorf("a resume from what was said to be dealt with: %+v", got)
	}
	next := connect(t, address)
	next.send("%s", resume(id, 3))
	for i := int64(4); i <= 6; i++ {
		if got := next.event("INTERACTION_CREATE"); *got.Seq != i || string(got.Data) != fmt.Sprint(i-2) {
			t.Errorf("replayed %d %s as %d", *got.Seq, got.Data, i)
		}
	}
	next.event("RESUMED")

	if err := next.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	server.Await("the end", func(s State) bool { return len(s.Connected) == 0 && slices.Contains(s.Closed, 1000) })
	late := connect(t, address)
	late.send("%s", resume(id, 3))
	if got := late.read(); got.Op != opInvalidSession || string(got.Data) != "false" {
		t.Errorf("a resume of a session that its client ended: %+v", got)
	}
}

func TestShardsAndIntents(t *testing.T) {
	even, odd := fmt.Sprint(2<<22), fmt.Sprint(3<<22)
	server := NewWith(t, Options{MaxConcurrency: 2, Greeting: func() Greeting {
		return Greeting{User: json.RawMessage(`{"id":"1"}`), Application: json.RawMessage(`{"id":"1","flags":0}`), Guilds: []Guild{
			{even, json.RawMessage(`"even"`)}, {odd, json.RawMessage(`"odd"`)},
		}}
	}})
	for shard, own := range []string{"even", "odd"} {
		c := connect(t, server.URL())
		c.send("%s", identify(fmt.Sprintf(`"shard":[%d,2]`, shard)))
		c.event("READY")
		if got := c.event("GUILD_CREATE"); string(got.Data) != `"`+own+`"` {
			t.Errorf("shard %d is in %s", shard, got.Data)
		}
	}
	for _, test := range []struct {
		guild, eventType string
		want             int
	}{
		{even, "MESSAGE_CREATE", 1}, {odd, "MESSAGE_CREATE", 1}, {"", "MESSAGE_CREATE", 0}, {"", "INTERACTION_CREATE", 1},
		{even, "TYPING_START", 0}, {even, "MESSAGE_REACTION_ADD", 0}, {even, "THREAD_CREATE", 1},
	} {
		if got := server.Dispatch(test.guild, test.eventType, json.RawMessage("{}")); got != test.want {
			t.Errorf("%s in %q went to %d", test.eventType, test.guild, got)
		}
	}
	if got := server.Intents(odd); got != 513 {
		t.Errorf("intents %d", got)
	}
}

func TestIdentifiesAreLimited(t *testing.T) {
	server := NewWith(t, Options{Identifies: 2, MaxConcurrency: 2})
	one := connect(t, server.URL())
	one.send("%s", identify(`"shard":[0,4]`))
	one.event("READY")
	two := connect(t, server.URL())
	two.send("%s", identify(`"shard":[2,4]`)) // the same bucket
	if got := two.read(); got.Op != opInvalidSession || string(got.Data) != "false" {
		t.Fatalf("got %+v", got)
	}
	two.send("%s", identify(`"shard":[2,4]`))
	two.closed(4003)
	if limit := server.Limit(); limit.Remaining != 0 || limit.Total != 2 || limit.ResetAfter <= 0 {
		t.Errorf("limit %+v", limit)
	}
	three := connect(t, server.URL())
	three.send("%s", identify(`"shard":[1,4]`))
	three.closed(4004)
	one.closed(4004)
}

func TestSilenceIsNoticed(t *testing.T) {
	server := NewWith(t, Options{HeartbeatInterval: 20 * time.Millisecond})
	connect(t, server.URL()).closed(4009)
}
