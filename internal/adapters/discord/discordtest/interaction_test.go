package discordtest_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

const commands = `[
	{"name":"cairn","description":"Ask Cairn","options":[
		{"type":1,"name":"ask","description":"Ask","options":[
			{"type":3,"name":"question","description":"What","required":true},
			{"type":3,"name":"collection","description":"Where","autocomplete":true},
			{"type":5,"name":"private","description":"Only you"}]}]},
	{"name":"cairn-admin","description":"Settings","default_member_permissions":"32","contexts":[0]},
	{"name":"Ask Cairn about this","type":3}]`

const commandsPath = "/applications/" + discordtest.AppID + "/commands"

func withCommands(t *testing.T) *place {
	t.Helper()
	p := newPlace(t, discordtest.Options{})
	p.want("commands", p.call("PUT", commandsPath, commands), 200, 0)
	return p
}

func (p *place) ask(options ...discordtest.Option) *discordtest.Interaction {
	return p.Slash(p.ann, p.general, "cairn ask", append([]discordtest.Option{{Name: "question", Value: "why?"}}, options...)...)
}

func (p *place) callback(is *discordtest.Interaction, body string) answered {
	p.t.Helper()
	return p.call("POST", "/interactions/"+is.ID+"/"+is.Token+"/callback", body)
}

func webhook(is *discordtest.Interaction) string {
	return "/webhooks/" + discordtest.AppID + "/" + is.Token
}

func TestADeferredAnswerIsFilledByTheFirstFollowUp(t *testing.T) {
	p := withCommands(t)
	is := p.ask(discordtest.Option{Name: "private", Value: "true"})
	if !strings.Contains(string(is.Payload), `"options":[{"name":"ask","type":1,"options":[{"name":"question","type":3,"value":"why?"},{"name":"private","type":5,"value":true}]}]`) {
		t.Errorf("payload: %s", is.Payload)
	}
	p.want("a follow-up before the answer", p.call("POST", webhook(is), `{"content":"x"}`), 404, 10015)
	p.want("a deferral with content", p.callback(is, `{"type":5,"data":{"content":"x"}}`), 400, 50035)
	p.want("a deferral with another flag", p.callback(is, `{"type":5,"data":{"flags":4}}`), 400, 50035)
	p.want("deferred", p.callback(is, `{"type":5,"data":{"flags":64}}`), 204, 0)
	p.want("twice", p.callback(is, `{"type":5}`), 400, 40060)
	if err := is.Wait(t.Context()); err != nil || is.Callback() != 5 {
		t.Errorf("answered by %d, %v", is.Callback(), err)
	}
	want := "== #general ==\n09:00:00 Cairn (Ann used /cairn ask) (only to Ann):\n  … is thinking\n"
	if got := p.Show(p.general); got != want {
		t.Errorf("thinking reads\n%s\nwant\n%s", got, want)
	}
	first := p.want("the first follow-up", p.call("POST", webhook(is), `{"content":"because"}`), 200, 0)
	if original, ok := is.Original(); !ok || original.ID != first.ID || original.Only != p.ann || original.Thinking {
		t.Errorf("the original is %+v, want the message %s, for Ann alone", original, first.ID)
	}
	p.want("a second one", p.call("POST", webhook(is), `{"content":"and also","flags":64}`), 200, 0)
	p.want("an edit", p.call("PATCH", webhook(is)+"/messages/@original", `{"content":"so"}`), 200, 0)
	p.want("an ephemeral message by the channel", p.call("GET", "/channels/"+p.general+"/messages/"+first.ID, ""), 404, 10008)
	p.clock.Advance(15*time.Minute + time.Second)
	p.want("after 15 minutes", p.call("POST", webhook(is), `{"content":"late"}`), 401, 50027)
	p.want("an edit after 15 minutes", p.call("PATCH", webhook(is)+"/messages/@original", `{"content":"late"}`), 401, 50027)
}

func TestAnInteractionWaitsThreeSeconds(t *testing.T) {
	p := withCommands(t)
	is := p.ask()
	p.clock.Advance(3 * time.Second)
	if is.Failed() {
		t.Error("failed at 3 s")
	}
	p.clock.Advance(time.Millisecond)
	if !is.Failed() {
		t.Error("not failed after 3 s")
	}
	p.want("late", p.callback(is, `{"type":4,"data":{"content":"x"}}`), 404, 10062)
}

func TestButtonsMenusAndWindows(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	said := p.post(p.general, body(false, row(button("b1"), `{"type":2,"style":1,"label":"Off","custom_id":"off","disabled":true}`)+","+row(menu("m1", 3))))
	pressed := p.Press(p.ann, said.ID, "L")
	if !strings.Contains(string(pressed.Payload), `"data":{"id":2,"custom_id":"b1","component_type":2}`) {
		t.Errorf("payload: %s", pressed.Payload)
	}
	p.want("choices for a button", p.callback(pressed, `{"type":8,"data":{"choices":[]}}`), 400, 50035)
	window := `{"type":9,"data":{"custom_id":"w","title":"Your answer","components":[{"type":18,"label":"Answer","component":{"type":4,"custom_id":"text","style":2,"max_length":10}}]}}`
	p.want("a title of 46", p.callback(pressed, strings.Replace(window, "Your answer", strings.Repeat("t", 46), 1)), 400, 50035)
	p.want("six rows", p.callback(pressed, `{"type":9,"data":{"custom_id":"w","title":"T","components":[`+repeat(6, func(int) string { return display("t") })+`]}}`), 400, 50035)
	p.want("a window", p.callback(pressed, window), 204, 0)
	if got, want := pressed.Modal().Show(), "== window: Your answer ==\nAnswer\n✎ \n"; got != want {
		t.Errorf("the window reads %q, want %q", got, want)
	}
	sent := p.Submit(pressed.Modal(), map[string]string{"text": "staging"})
	if !strings.Contains(string(sent.Payload), `"components":[{"type":18,"id":1,"component":{"type":4,"id":1,"custom_id":"text","value":"staging"}}]`) {
		t.Errorf("payload: %s", sent.Payload)
	}
	p.want("a window by a window", p.callback(sent, window), 400, 50035)
	p.want("an update", p.callback(sent, `{"type":7,"data":{"content":"Answered.","components":[]}}`), 204, 0)
	if now, _ := p.Last(p.general); now.Content != "Answered." || now.Components != nil || now.Edits != 1 {
		t.Errorf("the message is %+v", now)
	}
	other := p.post(p.general, body(false, row(menu("m1", 3))))
	picked := p.Select(p.ben, other.ID, "o2")
	if !strings.Contains(string(picked.Payload), `"data":{"id":2,"custom_id":"m1","component_type":3,"values":["v2"]}`) {
		t.Errorf("payload: %s", picked.Payload)
	}
	p.want("a deferred update", p.callback(picked, `{"type":6}`), 204, 0)
	p.want("the message by its interaction", p.call("PATCH", webhook(picked)+"/messages/@original", `{"content":"Picked."}`), 200, 0)
	p.want("a private hint", p.call("POST", webhook(picked), `{"content":"psst","flags":64}`), 200, 0)
	if now, _ := p.Last(p.general); now.Only != p.ben {
		t.Errorf("the hint is for %q", now.Only)
	}
}

func TestCompletionAndTheMessageMenu(t *testing.T) {
	p := withCommands(t)
	typing := p.Complete(p.ann, p.general, "cairn ask", discordtest.Option{Name: "collection", Value: "hand"})
	p.want("a message for somebody who types", p.callback(typing, `{"type":4,"data":{"content":"x"}}`), 400, 50035)
	many := repeat(26, func(int) string { return `{"name":"n","value":"v"}` })
	p.want("26 choices", p.callback(typing, `{"type":8,"data":{"choices":[`+many+`]}}`), 400, 50035)
	p.want("choices", p.callback(typing, `{"type":8,"data":{"choices":[{"name":"Handbook","value":"handbook"}]}}`), 204, 0)
	if got := typing.Choices(); len(got) != 1 || got[0].Name != "Handbook" {
		t.Errorf("choices: %+v", got)
	}
	said := p.Say(p.ben, p.general, "nobody told the bot of this")
	asked := p.Menu(p.ann, said.ID, "Ask Cairn about this")
	if !strings.Contains(string(asked.Payload), "nobody told the bot of this") {
		t.Error("the target of a message command is shown whole")
	}
	if !p.Offered(p.ann, p.general, "cairn") || !p.Offered(p.ann, p.DM(p.ann), "cairn") || p.Offered(p.ann, p.DM(p.ann), "cairn-admin") {
		t.Error("a command is offered where its contexts say, and everywhere without any")
	}
	if p.Offered(p.ann, p.general, "cairn-admin") {
		t.Error("Ann may not manage the server, and is offered the command that needs it")
	}
	p.team.Join(p.ann, p.team.Role("admins", discordtest.ManageGuild))
	if !p.Offered(p.ann, p.general, "cairn-admin") {
		t.Error("Ann manages the server, and is not offered its command")
	}
}

func TestCommandsAreChecked(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	one := func(fields string) string { return `[{"name":"a","description":"d"` + fields + `}]` }
	for name, refused := range map[string]string{
		"a name in capitals":        `[{"name":"Ask","description":"d"}]`,
		"a name of 33":              `[{"name":"` + strings.Repeat("n", 33) + `","description":"d"}]`,
		"no description":            `[{"name":"a"}]`,
		"a description of 101":      `[{"name":"a","description":"` + strings.Repeat("d", 101) + `"}]`,
		"a name twice":              `[{"name":"a","description":"d"},{"name":"a","description":"d"}]`,
		"26 options":                one(`,"options":[` + repeat(26, func(i int) string { return `{"type":3,"name":"o` + string(rune('a'+i)) + `","description":"d"}` }) + `]`),
		"required after optional":   one(`,"options":[{"type":3,"name":"o","description":"d"},{"type":3,"name":"p","description":"d","required":true}]`),
		"choices and completion":    one(`,"options":[{"type":3,"name":"o","description":"d","autocomplete":true,"choices":[{"name":"n","value":"v"}]}]`),
		"subcommands beside others": one(`,"options":[{"type":1,"name":"o","description":"d"},{"type":3,"name":"p","description":"d"}]`),
		"a menu with a description": `[{"name":"m","type":3,"description":"d"}]`,
		"101 commands": `[` + repeat(101, func(i int) string {
			return `{"name":"n` + strings.Repeat("x", i%30) + string(rune('a'+i/30)) + `","description":"d"}`
		}) + `]`,
		"9,000 characters": `[{"name":"a","description":"d","options":[` + repeat(25, func(i int) string {
			return `{"type":3,"name":"o` + string(rune('a'+i)) + `","description":"d","choices":[` + repeat(4, func(int) string {
				return `{"name":"n","value":"` + strings.Repeat("v", 90) + `"}`
			}) + `]}`
		}) + `]}]`,
	} {
		p.want(name, p.call("PUT", commandsPath, refused), 400, 50035)
	}
	p.want("commands", p.call("PUT", commandsPath, commands), 200, 0)
	listed := p.call("GET", commandsPath, "")
	if !strings.Contains(listed.Body, `"default_member_permissions":"32"`) || strings.Count(listed.Body, `"version"`) != 3 {
		t.Errorf("listed: %s", listed.Body)
	}
	again := p.call("PUT", commandsPath, commands)
	if again.Body != listed.Body {
		t.Error("registering the same commands gives them other ids")
	}
}

// endpoint is an app that is reached by HTTP: it checks signatures and answers with what
// it is told to.
func endpoint(t *testing.T, p *place, answer string) string {
	t.Helper()
	key, err := hex.DecodeString(p.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		signature, err := hex.DecodeString(r.Header.Get("X-Signature-Ed25519"))
		if err != nil || !ed25519.Verify(key, append([]byte(r.Header.Get("X-Signature-Timestamp")), body...), signature) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var got struct {
			Type int `json:"type"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		says := answer
		p.clock.Advance(p.late)
		if got.Type == 1 {
			says = `{"type":1}`
		}
		if _, err := io.WriteString(w, says); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAnEndpointIsTestedAndAnswers(t *testing.T) {
	p := withCommands(t)
	careless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.WriteString(w, `{"type":1}`); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(careless.Close)
	if err := p.Endpoint(careless.URL); err == nil || !strings.Contains(err.Error(), "want 401") {
		t.Errorf("an endpoint that checks nothing: %v", err)
	}
	for _, answer := range []struct{ body, problem string }{
		{`{"type":4,"data":{"content":"here"}}`, ""},
		{`{"type":4,"data":{"content":"` + strings.Repeat("x", 2001) + `"}}`, "50035"},
		{`{"type":6}`, "50035"},
	} {
		address := endpoint(t, p, answer.body)
		if err := p.Endpoint(address); err != nil {
			t.Fatal(err)
		}
		is := p.ask()
		if got := is.Problem(); !strings.Contains(got, answer.problem) || is.Failed() != (answer.problem != "") || is.Failed() != (got != "") {
			t.Errorf("%.40s: failed %v, problem %q, want %q", answer.body, is.Failed(), got, answer.problem)
		}
	}
	if got := len(p.Events("INTERACTION_CREATE")); got != 0 {
		t.Errorf("%d interactions went by the gateway as well", got)
	}
	if status, err := p.Redeliver(endpoint(t, p, "{}"), json.RawMessage(`{"type":2}`), http.Header{}); err != nil || status != http.StatusUnauthorized {
		t.Errorf("an unsigned delivery: %d, %v", status, err)
	}
}

func TestAnEndpointHasThreeSeconds(t *testing.T) {
	p := newPlace(t, discordtest.Options{AnswerWithin: time.Second})
	p.want("commands", p.call("PUT", commandsPath, commands), 200, 0)
	address := endpoint(t, p, `{"type":4,"data":{"content":"late"}}`)
	if err := p.Endpoint(address); err != nil {
		t.Fatal(err)
	}
	p.late = 3*time.Second + time.Millisecond
	if is := p.ask(); !is.Failed() || !strings.Contains(is.Problem(), "10062") {
		t.Errorf("an answer after 3 s of the server's clock: %q", is.Problem())
	}
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // until then nothing tells that the client is gone
			t.Error(err)
		}
		<-r.Context().Done()
	}))
	t.Cleanup(hanging.Close)
	if err := p.Endpoint(hanging.URL); err == nil || !strings.Contains(err.Error(), "Timeout") {
		t.Errorf("an endpoint that never answers: %v", err)
	}
}
