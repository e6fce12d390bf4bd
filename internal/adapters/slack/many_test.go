package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// memory is an Installs in memory; what was sealed can be looked at.
type memory struct {
	mu   sync.Mutex
	kept map[InstallID][]byte
	held map[InstallID]bool
}

func (m *memory) Load(_ context.Context, id InstallID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sealed, ok := m.kept[id]; ok {
		return sealed, nil
	}
	return nil, ErrNotInstalled
}

func (m *memory) Save(_ context.Context, id InstallID, sealed []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[id] = sealed
	return nil
}

func (m *memory) Delete(_ context.Context, id InstallID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, id)
	return nil
}

func (m *memory) Lock(_ context.Context, id InstallID, _ time.Duration) (bool, func(context.Context) error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[id] {
		return false, nil, nil
	}
	m.held[id] = true
	return true, func(context.Context) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.held[id] = false
		return nil
	}, nil
}

// market is a Slack in which workspaces install the app themselves.
type market struct {
	*slacktest.Server
	clock *slacktest.Manual
	store *memory
	log   logged
	many  *Many
	page  *httptest.Server
}

func newMarket(t *testing.T) *market {
	t.Helper()
	clock := slacktest.NewManual(chattest.Now)
	m := &market{Server: slacktest.New(slacktest.Options{Clock: clock}), clock: clock, store: &memory{kept: map[InstallID][]byte{}, held: map[InstallID]bool{}}}
	t.Cleanup(m.Close)
	m.many = m.process(t)
	m.page = httptest.NewServer(m.many.Handler())
	t.Cleanup(m.page.Close)
	m.many.options.Address = m.page.URL + "/slack"
	return m
}

// process is another process on the same store.
func (m *market) process(t *testing.T) *Many {
	t.Helper()
	many, err := NewMany(ManyOptions{
		Installs: m.store, Key: bytes.Repeat([]byte{7}, 32), ClientID: slacktest.ClientID, ClientSecret: slacktest.ClientSecret,
		Address: "https://cairn.example.com/slack", Logger: slog.New(slog.NewTextHandler(&m.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		APIURL: m.APIURL(), Now: m.clock.Now, Teams: []string{AnyTeam},
	})
	if err != nil {
		t.Fatal(err)
	}
	many.wait = func(context.Context, time.Duration) error { return nil }
	return many
}

// browser follows no link by itself.
func (m *market) browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

var addLink = regexp.MustCompile(`href="([^"]+oauth/v2/authorize[^"]+)"`)

// opens opens the install page and gives what the link to Slack says.
func (m *market) opens(t *testing.T, browser *http.Client) url.Values {
	t.Helper()
	_, page := m.get(t, browser, "/slack/install")
	found := addLink.FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no link to Slack:\n%s", page)
	}
	link, err := url.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	return link.Query()
}

func (m *market) get(t *testing.T, browser *http.Client, path string) (int, string) {
	t.Helper()
	response, err := browser.Get(m.page.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body.String()
}

// installs has a workspace, or with team "" an enterprise, add the app.
func (m *market) installs(t *testing.T, team, enterprise string) {
	t.Helper()
	browser := m.browser(t)
	asked := m.opens(t, browser)
	back := url.Values{"code": {m.Approve(team, enterprise)}, "state": {asked.Get("state")}}
	if status, page := m.get(t, browser, "/slack/oauth?"+back.Encode()); status != http.StatusOK || !strings.Contains(page, "was added") {
		t.Fatalf("%d\n%s", status, page)
	}
}

func (m *market) quiet(t *testing.T) {
	t.Helper()
	for _, secret := range []string{"xoxb-", "xoxe-", slacktest.ClientSecret, "code."} {
		if strings.Contains(m.log.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, m.log.String())
		}
		for id, sealed := range m.store.kept {
			if bytes.Contains(sealed, []byte(secret)) {
				t.Errorf("%q can be read in install %s", secret, id)
			}
		}
	}
}

func TestAWorkspaceInstallsTheApp(t *testing.T) {
	m := newMarket(t)
	asked := m.opens(t, m.browser(t))
	if got := asked.Get("scope"); got != strings.Join(scopeNames(), ",") {
		t.Errorf("asked for %s", got)
	}
	m.installs(t, "T0ONE", "")
	found, err := m.many.Workspace(t.Context(), "T0ONE", "")
	if err != nil || !strings.HasPrefix(found.Token, "xoxb-") || found.Bot != "U0BOTT0ONE" || found.URL == "" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := m.many.Workspace(t.Context(), "T0TWO", ""); !errors.Is(err, chat.ErrGone) {
		t.Errorf("a workspace that did not: %v", err)
	}
	other := m.process(t)
	other.sealer, err = newSealer(bytes.Repeat([]byte{8}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Workspace(t.Context(), "T0ONE", ""); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("with another key: %v", err)
	}
	m.store.kept["T0TWO"] = m.store.kept["T0ONE"]
	if _, err := m.many.Workspace(t.Context(), "T0TWO", ""); err == nil || errors.Is(err, chat.ErrGone) {
		t.Errorf("an install was moved to another workspace: %v", err)
	}
	m.quiet(t)
}

func TestNobodyIsInstalledByAForeignLink(t *testing.T) {
	m := newMarket(t)
	mine, theirs := m.browser(t), m.browser(t)
	state := m.opens(t, mine).Get("state")
	m.opens(t, theirs)
	code := m.Approve("T0ONE", "")
	for name, test := range map[string]struct {
		browser *http.Client
		state   string
	}{
		"no state":          {mine, ""},
		"made up":           {mine, "1.2.3"},
		"another browser's": {theirs, state},
		"no cookie":         {m.browser(t), state},
		"changed":           {mine, state[:len(state)-2] + "xx"},
	} {
		status, _ := m.get(t, test.browser, "/slack/oauth?"+url.Values{"code": {code}, "state": {test.state}}.Encode())
		if status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	for _, refused := range []*http.Client{m.browser(t), theirs} { // also without a state
		status, page := m.get(t, refused, "/slack/oauth?"+url.Values{"error": {"access_denied"}, "state": {"1.2.3"}}.Encode())
		if status != http.StatusOK || !strings.Contains(page, "You chose Cancel") || !strings.Contains(page, "/slack/install\"") {
			t.Errorf("cancelled in Slack: %d\n%s", status, page)
		}
	}
	if status, page := m.get(t, mine, "/slack/oauth?"+url.Values{"error": {"<b>broken</b>"}, "state": {state}}.Encode()); status != http.StatusBadRequest || strings.Contains(page, "broken") {
		t.Errorf("another error of Slack's: %d\n%s", status, page)
	}
	if status, _ := m.get(t, mine, "/slack/oauth?"+url.Values{"code": {"code.wrong"}, "state": {state}}.Encode()); status != http.StatusBadGateway {
		t.Errorf("a wrong code: %d", status)
	}
	m.clock.Advance(time.Hour)
	if status, _ := m.get(t, mine, "/slack/oauth?"+url.Values{"code": {code}, "state": {state}}.Encode()); status != http.StatusForbidden {
		t.Errorf("an hour later: %d", status)
	}
	if len(m.store.kept) != 0 {
		t.Errorf("kept: %v", m.store.kept)
	}
	m.quiet(t)
}

func TestTokensAreRotatedByOneProcess(t *testing.T) {
	m := newMarket(t)
	m.Rotate()
	m.installs(t, "T0ONE", "")
	first, err := m.many.Workspace(t.Context(), "T0ONE", "")
	if err != nil {
		t.Fatal(err)
	}
	processes := []*Many{m.many, m.process(t), m.process(t), m.process(t)}
	for range 3 {
		m.clock.Advance(11*time.Hour + 30*time.Minute)
		begun := len(m.Calls("oauth.v2.access"))
		var all sync.WaitGroup
		for _, process := range processes {
			all.Go(func() {
				if _, err := process.Workspace(t.Context(), "T0ONE", ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if calls := len(m.Calls("oauth.v2.access")) - begun; calls != 1 {
			t.Errorf("%d refreshes", calls)
		}
		m.clock.Advance(2 * time.Minute)
		for i, process := range processes {
			now, err := process.Workspace(t.Context(), "T0ONE", "")
			if err != nil || now.Token == first.Token {
				t.Errorf("process %d: the token is the old one, %v", i, err)
			}
		}
	}
	// Long after its end nobody goes on with the old token.
	m.clock.Advance(40 * time.Hour)
	last, err := m.process(t).Workspace(t.Context(), "T0ONE", "")
	if err != nil || last.Token == first.Token {
		t.Errorf("%v", err)
	}
	m.quiet(t)
}

func TestARevokedRefreshTokenSaysWhatToDo(t *testing.T) {
	m := newMarket(t)
	m.Rotate()
	m.installs(t, "T0ONE", "")
	m.clock.Advance(13 * time.Hour)
	m.Fail("oauth.v2.access", slacktest.Fault{Error: "invalid_refresh_token"})
	if _, err := m.many.Workspace(t.Context(), "T0ONE", ""); !errors.Is(err, chat.ErrGone) || !strings.Contains(err.Error(), "install the app there anew") {
		t.Errorf("%v", err)
	}
	m.Fail("oauth.v2.access", slacktest.Fault{Status: 500})
	if _, err := m.many.Workspace(t.Context(), "T0ONE", ""); err == nil || errors.Is(err, chat.ErrGone) {
		t.Errorf("Slack is down: %v", err)
	}
	if _, err := m.many.Workspace(t.Context(), "T0ONE", ""); err != nil {
		t.Errorf("once it is up: %v", err)
	}
	m.quiet(t)
}

// left is an envelope that tells of the end of an install.
func leftEvent(kind, team, enterprise, more string) []byte {
	return []byte(fmt.Sprintf(`{"type":"event_callback","team_id":%q,"enterprise_id":%q,"event_id":"Ev%s%s","event":{"type":%q%s}}`, team, enterprise, kind, team, kind, more))
}

func TestUninstallsEndAnInstall(t *testing.T) {
	m := newMarket(t)
	m.installs(t, "T0ONE", "")
	m.installs(t, "T0TWO", "")
	m.installs(t, "", "E0BIG")
	adapter, err := New(Options{Settings: openSettings(t), Workspaces: m.many, SigningSecret: "s", APIURL: m.APIURL(), Logger: m.many.options.Logger})
	if err != nil {
		t.Fatal(err)
	}
	bot, err := interact.NewHandler("Slack", &quiet{})
	if err != nil {
		t.Fatal(err)
	}
	adapter.running.Fill(bot)
	there := func(team, enterprise string) bool {
		_, err := m.many.Workspace(t.Context(), team, enterprise)
		if err != nil && !errors.Is(err, chat.ErrGone) {
			t.Error(err)
		}
		return err == nil
	}
	if !there("T0PART", "E0BIG") || !there("T0PART", "") {
		t.Error("a team of an enterprise that has the app is not found, or not again")
	}
	for _, step := range []struct {
		event                   []byte
		one, two, part, another bool
	}{
		{leftEvent("tokens_revoked", "T0ONE", "", `,"tokens":{"oauth":["U1"],"bot":[]}`), true, true, true, true},
		{leftEvent("tokens_revoked", "T0ONE", "", `,"tokens":{"bot":["U2"]}`), false, true, true, true},
		{leftEvent("app_uninstalled", "T0TWO", "", ""), false, false, true, true},
		{leftEvent("app_uninstalled", "", "E0BIG", ""), false, false, false, false},
	} {
		if _, err := adapter.receiver.takeEvent(t.Context(), bytes.Replace(step.event, []byte(`"Ev`), []byte(`"Ev`+fmt.Sprint(len(step.event))), 1)); err != nil {
			t.Fatal(err)
		}
		m.clock.Advance(2 * time.Minute)
		got := []bool{there("T0ONE", ""), there("T0TWO", ""), there("T0PART", ""), there("T0OTHER", "E0BIG")}
		if want := []bool{step.one, step.two, step.part, step.another}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %s: %v, want %v", step.event, got, want)
		}
	}
	// What still comes from a workspace that has left is acknowledged.
	body := bytes.ReplaceAll(event(`{"type":"message","user":"U1","text":"x","ts":"1.1","channel":"C1"}`), []byte(`"T1"`), []byte(`"T0ONE"`))
	if _, err := adapter.receiver.takeEvent(t.Context(), body); err != nil {
		t.Errorf("an event of a workspace that has left: %v", err)
	}
}

func TestWhatManyNeeds(t *testing.T) {
	if _, err := NewMany(ManyOptions{}); err == nil {
		t.Error("nothing is enough")
	}
	if _, err := NewMany(ManyOptions{Installs: &memory{}, ClientID: "1", ClientSecret: "2", Address: "3", Logger: slog.New(slog.DiscardHandler), Key: []byte("short")}); err == nil || !strings.Contains(err.Error(), "want 32") {
		t.Errorf("a short key: %v", err)
	}
}

func TestTheManifest(t *testing.T) {
	for name, options := range map[string]ManifestOptions{
		"socket": {Socket: true}, "http": {URL: "https://cairn.example.com"},
		"many": {URL: "https://cairn.example.com", Install: true, Assistant: true}, "mentions": {Socket: true, MentionsOnly: true},
	} {
		text, err := Manifest(options)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "manifest-"+name, text)
	}
	for _, options := range []ManifestOptions{{}, {URL: "http://x"}, {Socket: true, Install: true}} {
		if _, err := Manifest(options); err == nil {
			t.Errorf("%+v: no error", options)
		}
	}
}

func FuzzInstall(f *testing.F) {
	sealer, err := newSealer(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		f.Fatal(err)
	}
	good, err := sealer.sealInstall("T1", install{Token: "xoxb-1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, "T1")
	f.Fuzz(func(t *testing.T, sealed []byte, id string) {
		got, err := sealer.openInstall(InstallID(id), sealed)
		if err == nil && (id != "T1" || got.Token != "xoxb-1") { // each process of the fuzzer seals its own
			t.Errorf("opened %+v", got)
		}
		if err != nil && strings.Contains(err.Error(), "xoxb-") {
			t.Errorf("a token is in an error: %v", err)
		}
	})
}
