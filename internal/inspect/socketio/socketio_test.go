package socketio_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/inspect/socketio"
)

func TestPackets(t *testing.T) {
	for text, want := range map[string]socketio.Packet{
		`2["message",{"a":1}]`: {Kind: socketio.Event, Data: json.RawMessage(`["message",{"a":1}]`)},
		`0`:                    {Kind: socketio.Connect},
		`0/admin,{}`:           {Kind: socketio.Connect, Namespace: "/admin", Data: json.RawMessage(`{}`)},
		`1/admin`:              {Kind: socketio.Disconnect, Namespace: "/admin"},
		`212["a"]`:             {Kind: socketio.Event, ID: "12", Data: json.RawMessage(`["a"]`)},
	} {
		got, err := socketio.ParsePacket(text)
		if err != nil || got.Kind != want.Kind || got.Namespace != want.Namespace || got.ID != want.ID || string(got.Data) != string(want.Data) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "it is empty", "9": "no kind of packet", `51-["a",{"_placeholder":true}]`: "binary data is not read", `2["a"`: "no JSON",
		`2["a"] 1`: "no JSON", "2" + strings.Repeat("[", 10_000): "nested deeper than",
	} {
		if _, err := socketio.ParsePacket(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func FuzzParsePacket(f *testing.F) {
	for _, seed := range []string{`2["message",{"channelId":"a"}]`, `0{"sid":"a"}`, `44{"message":"x"}`, `2/a,7["b",[]]`, "51-[]", "", "2[null]", `2[["a"]]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := socketio.ParsePacket(text)
		if err != nil {
			return
		}
		again, err := socketio.ParsePacket(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q becomes %q, which becomes %q: %v", text, p, again, err)
		}
		if name, arguments, err := p.Content(); err == nil && len(arguments) > len(p.Data) {
			t.Fatalf("%q has %d arguments", name, len(arguments))
		}
	})
}

// poller is a client over polling alone.
type poller struct {
	t       *testing.T
	address string
	session string
}

func (p *poller) do(method, query, body string) (status int, answer string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.address+"/?"+query, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

func (p *poller) post(body string) int {
	status, _ := p.do(http.MethodPost, "EIO=4&transport=polling&sid="+p.session, body)
	return status
}

func (p *poller) poll() string {
	_, answer := p.do(http.MethodGet, "EIO=4&transport=polling&sid="+p.session, "")
	return answer
}

func TestPolling(t *testing.T) {
	left := make(chan struct{})
	server := socketio.NewServer(socketio.ServerOptions{
		PingInterval: 200 * time.Millisecond, MaxSessions: 1,
		Handle: func(from *socketio.Session, name string, arguments []json.RawMessage) {
			if err := from.EmitRaw("echo "+name, arguments...); err != nil {
				t.Error(err)
			}
		},
		Leave: func(*socketio.Session) { close(left) },
	})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	p := &poller{t: t, address: web.URL}
	for query, want := range map[string]string{
		"EIO=3&transport=polling": `{"code":5,`, "EIO=4&transport=flash": `{"code":0,`, "EIO=4&transport=polling&sid=none": `{"code":1,`,
	} {
		if status, answer := p.do(http.MethodGet, query, ""); status != http.StatusBadRequest || !strings.HasPrefix(answer, want) {
			t.Errorf("%s: %d %s", query, status, answer)
		}
	}
	_, opened := p.do(http.MethodGet, "EIO=4&transport=polling", "")
	var open struct{ SID string }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(opened, "0")), &open); err != nil {
		t.Fatalf("%s: %v", opened, err)
	}
	if status, answer := p.do(http.MethodGet, "EIO=4&transport=polling", ""); status != http.StatusBadRequest || !strings.Contains(answer, "there are 1 clients") {
		t.Errorf("a second client: %d %s", status, answer)
	}
	p.session = open.SID
	p.post("40/other,\x1e40")
	p.post("42[\"a\",1]\x1e42[\"b\"]")
	var all string
	for !strings.Contains(all, "echo b") || !strings.Contains(all, "2\x1e") && !strings.HasSuffix(all, "2") {
		all += p.poll() + "\x1e"
	}
	for _, want := range []string{`44/other,{"message":"Invalid namespace"}`, `40{"sid":`, `42["echo a",1]`, `42["echo b"]`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not in %s", want, all)
		}
	}
	p.post("3")
	if status := p.post("42[\"a\""); status != http.StatusBadRequest {
		t.Errorf("no JSON: %d", status)
	}
	<-left
	if status := p.post("3"); status != http.StatusBadRequest {
		t.Errorf("after its end: %d", status)
	}
}

// TestSilentClients are left out after two pings.
func TestSilentClients(t *testing.T) {
	left := make(chan struct{})
	server := socketio.NewServer(socketio.ServerOptions{
		PingInterval: 20 * time.Millisecond, Handle: func(*socketio.Session, string, []json.RawMessage) {}, Leave: func(*socketio.Session) { close(left) },
	})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	p := &poller{t: t, address: web.URL}
	p.do(http.MethodGet, "EIO=4&transport=polling", "")
	<-left
}
