package web

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

func TestABrowserIsAPerson(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	mine, other := newVisitor(t, w), newVisitor(t, w)
	mine.Say(t, "Roll it back")
	other.page = mine.page

	page := other.get(t)
	if !strings.Contains(page, "Which <strong>rollback</strong>") || !strings.Contains(page, "another person’s") {
		t.Error("who has the address can't read along")
	}
	for _, offer := range []string{`id="composer"`, `name="choice"`, "Never mind", "/ratings", mine.page[strings.LastIndex(mine.page, "/")+1:] + `"><span`} {
		if strings.Contains(page, offer) {
			t.Errorf("who reads along is offered %s", offer)
		}
	}
	for action, form := range map[string]url.Values{
		"messages": {"text": {"hello"}}, "stop": nil, "ratings": {"said": {"m-x-0"}}, "retries": {"said": {"m-x-0"}},
	} {
		response, err := other.client.PostForm(other.page+"/"+action, form)
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, response); response.StatusCode != http.StatusForbidden || !strings.Contains(body, "another person") {
			t.Errorf("%s of somebody else answers %d", action, response.StatusCode)
		}
	}
	if got := len(bot.Messages()); got != 1 {
		t.Errorf("%d messages arrived, want 1", got)
	}
	again := serve(t, bot) // another process, which knows the owner from the transcript
	other.page = again.URL() + "t/" + after(mine.page, "/t/")
	if shown := other.get(t); !strings.Contains(shown, "another person’s") {
		t.Error("after a restart the conversation is anybody's")
	}
}

func TestTheListHoldsOnesOwnConversations(t *testing.T) {
	w := serve(t, sampleBot())
	first := newVisitor(t, w)
	first.Say(t, "How do I roll back a release?")
	second := first
	second.page = w.URL() + "t/" + newThreadID()
	second.Say(t, "Roll it back")
	newVisitor(t, w).Say(t, "Who owns the billing dashboard?")
	list, _, _ := strings.Cut(after(first.get(t), `<nav id="list"`), "</nav>")
	if strings.Count(list, "<li>") != 2 || !strings.Contains(list, "Waits for your answer") || strings.Contains(list, "billing") {
		t.Errorf("the list is %s", list)
	}
	if current := after(list, `aria-current="page"`); !strings.HasPrefix(current, `><span class="name" dir="auto">How do I roll back`) {
		t.Errorf("current is %s", current)
	}
}

func TestASecretIsGivenOnceAndKept(t *testing.T) {
	w := serve(t, &chattest.Bot{})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, w)
	v.client.Jar = jar
	get := func(site string) []*http.Cookie {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.page, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Sec-Fetch-Site", site)
		response, err := v.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if sentOn := strings.Contains(read(t, response), "?arrived"); sentOn != (site == "cross-site") {
			t.Errorf("a visit from %s is sent on: %v", site, sentOn)
		}
		return response.Cookies()
	}
	// A strict cookie does not come with a visit from elsewhere: a new one must not
	// replace it.
	if cookies := get("cross-site"); len(cookies) != 0 {
		t.Errorf("a visit from elsewhere is given %v", cookies)
	}
	given := get("same-origin")
	if len(given) != 1 || !given[0].HttpOnly || given[0].SameSite != http.SameSiteStrictMode || given[0].Path != "/" || given[0].MaxAge <= 0 {
		t.Fatalf("given %v", given)
	}
	if again := get("same-origin"); len(again) != 0 {
		t.Errorf("given again: %v", again)
	}
	if strings.Contains(string(personOf(given[0].Value)), given[0].Value) {
		t.Error("the person's id tells the secret")
	}
}

func TestHosts(t *testing.T) {
	for _, test := range []struct {
		host     string
		loopback bool
		hosts    []string
		want     bool
	}{
		{"127.0.0.1:8080", true, nil, true},
		{"localhost:8080", true, nil, true},
		{"LOCALHOST", true, nil, true},
		{"[::1]:8080", true, nil, true},
		{"192.168.0.7:8080", true, nil, false},
		{"evil.example:8080", true, nil, false},
		{"localhost.evil.example", true, nil, false},
		{"", true, nil, false},
		{"cairn.example", true, []string{"cairn.example"}, true},
		{"Cairn.Example:443", true, []string{"cairn.example"}, true},
		{"evil.example", true, []string{"cairn.example"}, false},
		{"evil.example", false, []string{"cairn.example"}, false},
		{"192.168.0.7:8080", false, []string{"cairn.example"}, true},
		{"anything.example", false, nil, true},
	} {
		w := &Web{loopback: test.loopback, options: Options{Hosts: test.hosts}}
		if got := w.hostAllowed(test.host); got != test.want {
			t.Errorf("host %q with names %q, loopback %v: %v", test.host, test.hosts, test.loopback, got)
		}
	}
}

func TestFormsNeedACookie(t *testing.T) {
	v := newVisitor(t, serve(t, &chattest.Bot{}))
	v.client.Jar = nil
	response, err := v.client.PostForm(v.page+"/messages", url.Values{"text": {"hello"}})
	if err != nil {
		t.Fatal(err)
	}
	if body := read(t, response); response.StatusCode != http.StatusForbidden || !strings.Contains(body, "no cookie") {
		t.Errorf("answers %d: %s", response.StatusCode, body)
	}
}
