package discordtest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

func button(id string) string {
	return `{"type":2,"style":1,"label":"L","custom_id":"` + id + `"}`
}

func row(inside ...string) string {
	return `{"type":1,"components":[` + strings.Join(inside, ",") + `]}`
}

func menu(id string, options int) string {
	var all []string
	for i := range options {
		all = append(all, fmt.Sprintf(`{"label":"o%d","value":"v%d"}`, i, i))
	}
	return `{"type":3,"custom_id":"` + id + `","options":[` + strings.Join(all, ",") + `]}`
}

func repeat(n int, part func(int) string) string {
	var all []string
	for i := range n {
		all = append(all, part(i))
	}
	return strings.Join(all, ",")
}

func display(text string) string { return `{"type":10,"content":"` + text + `"}` }

// body is a message of components; modern ones have the flag of Components V2.
func body(modern bool, parts string) string {
	if modern {
		return `{"flags":32768,"components":[` + parts + `]}`
	}
	return `{"content":"x","components":[` + parts + `]}`
}

func TestWhatAMessageMayBe(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	rows := func(n int) string {
		return repeat(n, func(i int) string { return row(button(fmt.Sprint(i))) })
	}
	fields := func(n int) string {
		return `{"embeds":[{"title":"t","fields":[` + repeat(n, func(int) string { return `{"name":"n","value":"v"}` }) + `]}]}`
	}
	big := func(n int) string {
		return `{"embeds":[` + repeat(n, func(int) string { return `{"description":"` + strings.Repeat("d", 3000) + `"}` }) + `]}`
	}
	for _, taken := range []string{
		`{"content":"` + strings.Repeat("x", 2000) + `"}`, fields(25), big(2), body(false, rows(5)), body(false, row(menu("m", 25))),
		body(false, row(button("a"), button("b"), button("c"), button("d"), button("e"))),
		body(true, repeat(40, func(int) string { return display("t") })), body(true, display(strings.Repeat("t", 4000))),
		body(true, `{"type":17,"components":[`+display("in")+`,{"type":14},`+row(button("a"))+`]}`),
		body(true, `{"type":9,"components":[`+display("in")+`],"accessory":`+button("a")+`}`),
		`{"embeds":[{"title":"t"}],"flags":4}`,
	} {
		p.want(taken[:min(60, len(taken))], p.post(p.general, taken), 200, 0)
	}
	for name, refused := range map[string]struct{ body, at string }{
		"content of 2,001":         {`{"content":"` + strings.Repeat("x", 2001) + `"}`, `"content"`},
		"2,000 runes of two units": {`{"content":"` + strings.Repeat("😀", 1001) + `"}`, `"content"`},
		"26 fields":                {fields(26), `"fields"`},
		"6,001 in embeds":          {big(3), `"embeds"`},
		"11 embeds":                {`{"embeds":[` + repeat(11, func(int) string { return `{"title":"t"}` }) + `]}`, `"embeds"`},
		"a title of 257":           {`{"embeds":[{"title":"` + strings.Repeat("t", 257) + `"}]}`, `"title"`},
		"a description of 4,097":   {`{"embeds":[{"description":"` + strings.Repeat("t", 4097) + `"}]}`, `"description"`},
		"an embed of nothing":      {`{"embeds":[{}]}`, `"embeds"`},
		"a field without value":    {`{"embeds":[{"fields":[{"name":"n","value":" "}]}]}`, `"value"`},
		"6 rows":                   {body(false, rows(6)), `"components"`},
		"6 buttons":                {body(false, row(button("a"), button("b"), button("c"), button("d"), button("e"), button("f"))), `"components"`},
		"26 options":               {body(false, row(menu("m", 26))), `"options"`},
		"a menu beside a button":   {body(false, row(button("a"), menu("m", 2))), `"components"`},
		"a custom id of 101":       {body(false, row(button(strings.Repeat("i", 101)))), `"custom_id"`},
		"a custom id twice":        {body(false, row(button("a"), button("a"))), `"custom_id"`},
		"a label of 81":            {body(false, row(`{"type":2,"style":1,"label":"`+strings.Repeat("l", 81)+`","custom_id":"a"}`)), `"label"`},
		"a button without label":   {body(false, row(`{"type":2,"style":1,"custom_id":"a"}`)), `"label"`},
		"a button without id":      {body(false, row(`{"type":2,"style":1,"label":"l"}`)), `"custom_id"`},
		"a link with an id":        {body(false, row(`{"type":2,"style":5,"label":"l","url":"https://a.example","custom_id":"a"}`)), `"url"`},
		"a text without the flag":  {body(false, display("t")), `"type"`},
		"41 components":            {body(true, repeat(41, func(int) string { return display("t") })), `"components"`},
		"41 components, nested": {body(true, repeat(11, func(int) string {
			return `{"type":17,"components":[` + repeat(3, func(int) string { return display("t") }) + `]}`
		})), `"components"`},
		"4,001 characters displayed": {body(true, display(strings.Repeat("t", 2001))+","+display(strings.Repeat("t", 2000))), `"components"`},
		"content with the flag":      {`{"flags":32768,"content":"c","components":[` + display("t") + `]}`, `"content"`},
		"embeds with the flag":       {`{"flags":32768,"embeds":[{"title":"t"}],"components":[` + display("t") + `]}`, `"embeds"`},
		"an unknown component":       {body(true, `{"type":99}`), `"components"`},
		"another's flag":             {`{"content":"x","flags":64}`, `"flags"`},
		"users twice":                {`{"content":"x","allowed_mentions":{"parse":["users"],"users":["1"]}}`, `"users"`},
		"content that is a number":   {`{"content":1}`, `"content"`},
		"a reply to nothing":         {`{"content":"x","message_reference":{"message_id":"1"}}`, `"message_reference"`},
	} {
		got := p.want(name, p.post(p.general, refused.body), 400, 50035)
		if !strings.Contains(string(got.Errors), refused.at) {
			t.Errorf("%s: the errors %s are not at %s", name, got.Errors, refused.at)
		}
	}
	p.want("nothing", p.post(p.general, `{"content":" "}`), 400, 50006)
	p.want("no body", p.post(p.general, ""), 400, 50006)
	p.want("broken", p.post(p.general, "{"), 400, 50109)
}

func TestRateLimitsAreToldAndKept(t *testing.T) {
	p := newPlace(t, discordtest.Options{Limits: discordtest.DiscordLimits()})
	other := p.team.Channel("other")
	for i := range 5 {
		got := p.want("within", p.post(p.general, `{"content":"x"}`), 200, 0)
		if left := got.Header.Get("X-RateLimit-Remaining"); left != fmt.Sprint(4-i) {
			t.Errorf("%s left after %d", left, i+1)
		}
	}
	p.clock.Advance(time.Second)
	got := p.want("the sixth", p.post(p.general, `{"content":"x"}`), 429, 0)
	if got.Header.Get("Retry-After") != "4" || got.Header.Get("X-RateLimit-Scope") != "user" || !strings.Contains(got.Body, `"retry_after":4,"global":false`) {
		t.Errorf("refused by %v %s", got.Header, got.Body)
	}
	p.want("another channel", p.post(other, `{"content":"x"}`), 200, 0)
	if p.InvalidRequests() != 1 {
		t.Errorf("%d invalid requests", p.InvalidRequests())
	}
	p.clock.Advance(4 * time.Second)
	p.want("after the wait", p.post(p.general, `{"content":"x"}`), 200, 0)
	p.clock.Advance(10 * time.Minute)
	if p.InvalidRequests() != 0 {
		t.Errorf("%d invalid requests after 10 minutes", p.InvalidRequests())
	}
}

func TestTheGlobalLimitSparesInteractions(t *testing.T) {
	p := newPlace(t, discordtest.Options{Limits: &discordtest.Limits{Global: discordtest.Limit{Most: 2, In: time.Second}}})
	p.call("GET", "/users/@me", "")
	p.call("GET", "/users/@me", "")
	got := p.want("the third", p.call("GET", "/users/@me", ""), 429, 0)
	if got.Header.Get("X-RateLimit-Global") != "true" || got.Header.Get("X-RateLimit-Scope") != "global" {
		t.Errorf("headers: %v", got.Header)
	}
	p.want("a callback", p.call("POST", "/interactions/1/t/callback", `{"type":1}`), 404, 10062)
}

func TestFaultsComeWhenTheyAreToldTo(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	p.Fail("POST /channels/{channel}/messages", discordtest.Fault{Status: 500, Done: true}, discordtest.Fault{Status: 429, RetryAfter: 2 * time.Second})
	p.want("done, and lost", p.post(p.general, `{"content":"x"}`), 500, 0)
	p.want("refused", p.post(p.general, `{"content":"x"}`), 429, 0)
	p.want("granted", p.post(p.general, `{"content":"x"}`), 200, 0)
	if got := len(p.Messages(p.general)); got != 2 {
		t.Errorf("%d messages, want the one whose answer was lost, and the last", got)
	}
	if got := p.Refused(); len(got) > 0 {
		t.Errorf("faults count as the app's doing: %+v", got)
	}
}

func TestWhoIsRefusedTooOftenIsBanned(t *testing.T) {
	p := newPlace(t, discordtest.Options{Limits: &discordtest.Limits{Invalid: discordtest.Limit{Most: 3, In: time.Minute}}})
	for range 3 {
		p.want("a wrong token", p.as("somebody else's", "GET", "/users/@me"), 401, 0)
	}
	got := p.want("the right token", p.call("GET", "/users/@me", ""), 429, 0)
	if got.Body != "error code: 1015" || got.Header.Get("Retry-After") != "60" {
		t.Errorf("banned by %v %s", got.Header, got.Body)
	}
	if p.InvalidRequests() != 3 {
		t.Errorf("%d invalid requests", p.InvalidRequests())
	}
	p.clock.Advance(time.Minute)
	p.want("a minute later", p.call("GET", "/users/@me", ""), 200, 0)
}

func TestAFaultCanBeSilence(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	p.Fail("POST /channels/{channel}/messages", discordtest.Fault{Cut: true}, discordtest.Fault{Hang: true})
	client := p.Client()
	client.Timeout = time.Second
	for _, fault := range []string{"cut", "hang"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://discord.com/api/v10/channels/"+p.general+"/messages", strings.NewReader(`{"content":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			t.Errorf("%s: answered %d", fault, response.StatusCode)
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if got := len(p.Messages(p.general)); got != 0 {
		t.Errorf("%d messages", got)
	}
}

func TestAFaultCanBeDoneLate(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	const late = 50 * time.Millisecond
	p.Fail("POST /channels/{channel}/messages", discordtest.Fault{Late: late, Status: 504}, discordtest.Fault{Late: late})
	p.want("told that it failed", p.post(p.general, `{"content":"first"}`), 504, 0)
	p.want("told late", p.post(p.general, `{"content":"second"}`), 200, 0)
	if err := p.Await(t.Context(), func() bool { return len(p.Standing(p.general)) == 2 }); err != nil {
		t.Errorf("%v\n%s", err, p.Show(p.general))
	}
}

func TestTroubleIsChosenByTheTest(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	down := true
	p.Disturb(func(route string) *discordtest.Fault {
		if !down || route != "POST /channels/{channel}/messages" {
			return nil
		}
		return &discordtest.Fault{Status: 500}
	})
	p.want("down", p.post(p.general, `{"content":"x"}`), 500, 0)
	p.want("another route", p.call("GET", "/users/@me", ""), 200, 0)
	down = false
	p.want("up again", p.post(p.general, `{"content":"x"}`), 200, 0)
}
