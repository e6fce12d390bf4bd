package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/relay"
	"github.com/cairn-bot/cairn/internal/inspect/relay/relaytest"
	"github.com/cairn-bot/cairn/internal/inspect/socketio"
)

// startRelay is Cairn as a relay.
func startRelay(t testing.TB) string {
	t.Helper()
	server := relay.NewServer(relay.ServerOptions{PingInterval: 200 * time.Millisecond})
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		server.Close()
		web.Close()
	})
	return web.URL
}

func newPool(t testing.TB, options relay.Options) *relay.Pool {
	t.Helper()
	pool, err := relay.NewPool(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

func join(t testing.TB, pool *relay.Pool, channel string) inspect.Layer {
	t.Helper()
	layer, err := pool.Join(channel, "")
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// TestRelay asks an app for all that a layer shows, over every relay and with every app at hand.
func TestRelay(t *testing.T) {
	for name, start := range relays(t) {
		for app, startApp := range apps() {
			t.Run(name+", "+app, func(t *testing.T) {
				address, channel := start(t), relay.NewChannelID()
				calls := startApp(t, address, channel)
				layer := join(t, newPool(t, relay.Options{Relays: []string{address}}), channel)
				tree, err := layer.Tree(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				selected, ok := inspect.FindFirst(tree, func(e inspect.Element) bool { return e.Selected })
				if !ok || selected.Name != "button2" || selected.ID != "5" || tree.Tag != "WmPage" {
					t.Errorf("tree %+v", tree)
				}
				detail, err := layer.Detail(t.Context(), "5")
				if err != nil || len(detail.Styles) != 2 || detail.Styles[0].Value != "#888888" || slices.ContainsFunc(detail.Properties, func(p inspect.Property) bool { return p.Name == "token" }) {
					t.Errorf("detail %+v: %v", detail, err)
				}
				events, err := layer.Events(t.Context())
				if err != nil || !slices.Equal(events.Pages, []string{"Main"}) {
					t.Errorf("events %+v: %v", events, err)
				}
				if got := strings.Join(calls(2), " "); got != "GET_WIDGET_TREE GET_PROPERTIES_N_STYLES" {
					t.Errorf("calls %s", got)
				}
			})
		}
	}
}

// TestHostileApps has apps that answer as they should not: each is an error that says so, or a
// tree with what could be read.
func TestHostileApps(t *testing.T) {
	for behaviour, want := range map[relaytest.Behaviour]string{
		relaytest.Silent:  "the app did not answer GET_WIDGET_TREE within 300ms: is it open, and connected to this channel?",
		relaytest.Late:    "the app did not answer GET_WIDGET_TREE within 300ms",
		relaytest.Deep:    "the app did not answer GET_WIDGET_TREE within 300ms", // the relay does not pass it on
		relaytest.Leaving: "",
		relaytest.Cyclic:  "",
		relaytest.Wrong:   "",
		relaytest.Scripts: "",
	} {
		t.Run(string(behaviour), func(t *testing.T) {
			t.Parallel()
			address, channel := startRelay(t), relay.NewChannelID()
			relaytest.StartApp(t, address, channel, behaviour)
			layer := join(t, newPool(t, relay.Options{Relays: []string{address}, CallTimeout: 300 * time.Millisecond}), channel)
			var tree inspect.Element
			var err error
			for range 2 { // what comes late is not taken for the next answer; who left is back
				if tree, err = layer.Tree(t.Context()); err == nil {
					break
				}
			}
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Fatalf("error %v, want %q", err, want)
			}
			inspect.FindFirst(tree, func(e inspect.Element) bool {
				if strings.ContainsAny(e.Name+e.Tag, "\n\u202e") || len([]rune(e.Name)) > 200 {
					t.Errorf("name %q", e.Name)
				}
				return false
			})
		})
	}
}

// TestWhatAppsTell keeps the last of what happened, without headers, bodies and questions.
func TestWhatAppsTell(t *testing.T) {
	address, channel := startRelay(t), relay.NewChannelID()
	app := relaytest.StartApp(t, address, channel, relaytest.Plain)
	layer := join(t, newPool(t, relay.Options{Relays: []string{address}}), channel)
	if _, err := layer.Tree(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := map[string]any{"url": "https://shop.example/api/orders?key=s3cret", "method": "post", "headers": map[string]any{"Authorization": "s3cret"}}
	app.Tell("service_after_call", []any{config, map[string]any{"message": "s3cret", "response": map[string]any{"status": 500, "data": "s3cret"}}})
	app.Tell("service_after_call", []any{map[string]any{"url": "/api/users"}, map[string]any{"status": 200}})
	app.Tell("service_after_call", "nothing")
	app.Tell("console-log", []any{map[string]any{"type": "error", "message": []any{"orders:", 7, map[string]any{}}}})
	for range 300 {
		app.Tell("console-log", []any{map[string]any{"type": "log", "message": []any{"a"}}})
	}
	if _, err := layer.Tree(t.Context()); err != nil { // all of that was taken in before
		t.Fatal(err)
	}
	events, err := layer.Events(t.Context())
	if err != nil || len(events.Requests) != 2 || len(events.Messages) != 200 {
		t.Fatalf("%d requests, %d messages, %v", len(events.Requests), len(events.Messages), err)
	}
	if got := events.Requests[0]; got != (inspect.Request{Method: "POST", Path: "/api/orders", Status: "500"}) || !got.Failed() {
		t.Errorf("request %+v", got)
	}
	if text, err := json.Marshal(events); err != nil || strings.Contains(string(text), "s3cret") {
		t.Errorf("%s %v", text, err)
	}
}

func TestRefusals(t *testing.T) {
	address := startRelay(t)
	pool := newPool(t, relay.Options{Relays: []string{address}})
	for _, test := range []struct{ channel, host, want string }{
		{relay.NewChannelID(), "relay.example", "That relay may not be used here"},
		{"a b", "", "That is no id of a channel"},
		{"../../x", "", "That is no id of a channel"},
	} {
		_, err := pool.Join(test.channel, test.host)
		if refused, ok := errors.AsType[*relay.RefusedError](err); !ok || !strings.Contains(refused.Text, test.want) {
			t.Errorf("%s at %q: %v", test.channel, test.host, err)
		}
	}
	if _, err := newPool(t, relay.Options{}).Join(relay.NewChannelID(), ""); err == nil || !strings.Contains(err.Error(), "No relay may be used here") {
		t.Errorf("%v", err)
	}
	if _, err := relay.NewPool(relay.Options{Relays: []string{"ftp://x"}}); err == nil {
		t.Error("ftp is taken for a relay")
	}
}

// binary is what frames sends as a binary message.
const binary = "\x01"

// frames is a relay that says what a test has it say, and then nothing more.
func frames(t testing.TB, first string, say ...string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, request, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for i, text := range append([]string{first}, say...) {
			kind := websocket.TextMessage
			if text == binary {
				kind = websocket.BinaryMessage
			}
			if ws.WriteMessage(kind, []byte(text)) != nil {
				return
			}
			if i == 0 { // the client's packet of connection
				if _, _, err := ws.ReadMessage(); err != nil {
					return
				}
			}
		}
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
		}
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestHostileRelays(t *testing.T) {
	const open = `0{"sid":"a","pingInterval":100,"pingTimeout":100}`
	for name, test := range map[string]struct {
		address, want string
	}{
		"no server":       {"http://127.0.0.1:1", "connection refused"},
		"another server":  {httptest.NewServer(http.NotFoundHandler()).URL, "the server answered 404 Not Found to a WebSocket"},
		"another wire":    {frames(t, "hello"), "it does not speak Engine.IO 4"},
		"no pings":        {frames(t, `0{"sid":"a"}`), "its pings come every 0 ms"},
		"refusing":        {frames(t, open, `44{"message":"no"}`), `it refused the connection: {"message":"no"}`},
		"nothing said":    {frames(t, open), "no answer within 1s"},
		"silent":          {frames(t, open, `40{"sid":"b"}`), "i/o timeout"},
		"binary":          {frames(t, open, `40{"sid":"b"}`, binary), ""},
		"closing":         {frames(t, open, `40{"sid":"b"}`, "1"), "the server closed the connection"},
		"unknown packets": {frames(t, open, `40{"sid":"b"}`, "9"), `the server sent a packet of the kind "9"`},
		"10 MB":           {frames(t, open, `40{"sid":"b"}`, `42["message",{"data":"`+strings.Repeat("x", 10_000_000)+`"}]`), "a message is larger than the 8 MiB that are read"},
		"deep":            {frames(t, open, `40{"sid":"b"}`, "42"+strings.Repeat("[", 10_000)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layer := join(t, newPool(t, relay.Options{Relays: []string{test.address}, CallTimeout: 500 * time.Millisecond, ConnectTimeout: time.Second}), relay.NewChannelID())
			_, err := layer.Tree(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestOnlyReadingCallsArePassedOn has a client send what a relay has to drop.
func TestOnlyReadingCallsArePassedOn(t *testing.T) {
	address, channel := startRelay(t), relay.NewChannelID()
	app := relaytest.StartApp(t, address, channel, relaytest.Plain)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	dial := func() *socketio.Conn {
		conn, err := socketio.Dial(ctx, socketio.DialOptions{URL: address + relay.Path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	emit := func(conn *socketio.Conn, event string, data any) {
		if err := conn.Emit(event, data); err != nil {
			t.Fatal(err)
		}
	}
	call := func(targets ...string) map[string]any {
		var data []any
		for _, target := range targets {
			data = append(data, map[string]any{"target": target, "args": []any{"1"}})
		}
		return map[string]any{"channelId": channel, "type": "call", "name": "call." + strings.Join(targets, ".") + ".1", "data": data}
	}
	stranger := dial()
	emit(stranger, "message", call("GET_WIDGET_TREE")) // without having joined
	emit(stranger, "join", map[string]any{"channelId": "abc"})
	member := dial()
	emit(member, "join", map[string]any{"channelId": channel})
	emit(member, "message", call("EVAL"))
	emit(member, "message", call("GET_WIDGET_TREE", "EXECUTE_SQL"))
	emit(member, "message", call())
	emit(member, "message", map[string]any{"channelId": channel, "type": "other", "name": "x"})
	emit(member, "message", call("GET_LOCALE"))
	var seen []string
	for len(seen) < 2 { // its own call, and the answer
		_, arguments, err := member.Receive()
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Type, Name string }
		if err := json.Unmarshal(arguments[0], &m); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, m.Type+" "+m.Name)
	}
	slices.Sort(seen) // the answer may be there first
	if want := []string{"call call.GET_LOCALE.1", "event call.GET_LOCALE.1"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
	if got := app.Calls(); !slices.Equal(got, []string{"GET_LOCALE"}) {
		t.Errorf("calls %q", got)
	}
}

// TestReconnection has a relay come back at the same address.
func TestReconnection(t *testing.T) {
	first := relay.NewServer(relay.ServerOptions{})
	second := relay.NewServer(relay.ServerOptions{})
	now := make(chan *relay.Server, 1)
	now <- first
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		server := <-now
		now <- server
		server.ServeHTTP(w, request)
	}))
	t.Cleanup(func() { first.Close(); second.Close(); web.Close() })
	channel := relay.NewChannelID()
	relaytest.StartApp(t, web.URL, channel, relaytest.Plain)
	layer := join(t, newPool(t, relay.Options{Relays: []string{web.URL}}), channel)
	if _, err := layer.Tree(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-now
	now <- second
	first.Close()
	relaytest.StartApp(t, web.URL, channel, relaytest.Plain)
	if _, err := layer.Tree(t.Context()); err != nil {
		t.Fatal(err)
	}
}
