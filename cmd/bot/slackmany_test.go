package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

var installState = regexp.MustCompile(`state=([^"&]+)`)

// TestAWorkspaceInstallsAndAsks has somebody add Cairn to their workspace on its install
// page; a process that started later answers there.
func TestAWorkspaceInstallsAndAsks(t *testing.T) {
	o := newOffice(t, "http")
	o.env = append(o.env, "CAIRN_SLACK_BOT_TOKEN=", "CAIRN_SLACK_URL=https://cairn.example.com",
		"CAIRN_SLACK_TEAMS="+slacktest.Team, "CAIRN_SLACK_CLIENT_ID="+slacktest.ClientID, "CAIRN_SLACK_CLIENT_SECRET="+slacktest.ClientSecret,
		"CAIRN_SLACK_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	first := o.serve()
	address := first.address
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	get := func(path string, cookie *http.Cookie) (int, string, []*http.Cookie) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if cookie != nil { // it is for https alone, where people are
			request.AddCookie(cookie)
		}
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		page, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(page), response.Cookies()
	}
	_, page, cookies := get("/slack/install", nil)
	state := installState.FindStringSubmatch(page)
	if state == nil || len(cookies) != 1 || !cookies[0].Secure {
		t.Fatalf("cookies %v, page:\n%s", cookies, page)
	}
	back := url.Values{"state": {state[1]}, "code": {o.Approve(slacktest.Team, "")}}
	if status, page, _ := get("/slack/oauth?"+back.Encode(), cookies[0]); status != http.StatusOK {
		t.Fatalf("%d\n%s", status, page)
	}
	first.end(syscall.SIGTERM)
	if want := `"action":"workspace.install","target":"slack workspace ` + slacktest.Team + `","outcome":"done","from":"slack"`; !strings.Contains(first.String(), want) {
		t.Errorf("%s is not in the audit log", want)
	}

	const bot = "U0BOT" + slacktest.Team
	o.Invite(o.general, bot)
	second := o.serve()
	o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.until("an answer", func() bool {
		for _, message := range o.Messages(o.general) {
			if message.User == bot && strings.Contains(message.Streamed+string(message.Blocks), room12) && len(message.Metadata) > 0 {
				return true
			}
		}
		return false
	})
	second.end(syscall.SIGTERM)
	o.keepsQuiet(first, second)
	for _, p := range []*process{first, second} {
		if strings.Contains(p.String(), "xoxb-") || strings.Contains(p.String(), slacktest.ClientSecret) {
			t.Errorf("a secret is in the log:\n%s", p)
		}
	}
}
