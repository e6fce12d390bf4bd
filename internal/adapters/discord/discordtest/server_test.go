package discordtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// place is a server with two people and a channel, and a client of the app's.
type place struct {
	*discordtest.Server
	t        testing.TB
	clock    *discordtest.Clock
	team     *discordtest.Guild
	ann, ben string
	general  string
	late     time.Duration // how long the endpoint takes, on the server's clock
}

func newPlace(t *testing.T, options discordtest.Options) *place {
	t.Helper()
	clock := discordtest.NewClock(start)
	options.Now = clock.Now
	if options.Limits == nil {
		options.Limits = discordtest.NoLimits()
	}
	server := discordtest.New(t, options)
	team := server.Guild("Team")
	return &place{Server: server, t: t, clock: clock, team: team, ann: team.Member("Ann"), ben: team.Member("Ben"), general: team.Channel("general")}
}

// answered is what the API said.
type answered struct {
	Status  int             `json:"-"`
	Header  http.Header     `json:"-"`
	Body    string          `json:"-"`
	Code    int             `json:"code"`
	ID      string          `json:"id"`
	Content string          `json:"content"`
	Errors  json.RawMessage `json:"errors"`
}

// call makes a request of the app's; the body is JSON, "" for none.
func (p *place) call(method, path, body string) answered {
	p.t.Helper()
	header := http.Header{}
	if body != "" {
		header.Set("Content-Type", "application/json")
	}
	return p.send(method, path, strings.NewReader(body), header)
}

// as makes a request with another token.
func (p *place) as(token, method, path string) answered {
	p.t.Helper()
	return p.send(method, path, http.NoBody, http.Header{"Authorization": {"Bot " + token}})
}

func (p *place) send(method, path string, body io.Reader, header http.Header) answered {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, "https://discord.com/api/v10"+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header = header
	if header.Get("Authorization") == "" {
		request.Header.Set("Authorization", "Bot "+discordtest.Token)
	}
	response, err := p.Client().Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	got := answered{Status: response.StatusCode, Header: response.Header, Body: string(raw)}
	if len(raw) > 0 && raw[0] == '{' {
		if err := json.Unmarshal(raw, &got); err != nil {
			p.t.Fatalf("%s: %v", raw, err)
		}
	}
	return got
}

// post posts in a channel.
func (p *place) post(channel, body string) answered {
	p.t.Helper()
	return p.call("POST", "/channels/"+channel+"/messages", body)
}

// want fails the test where an answer is another.
func (p *place) want(what string, got answered, status, code int) answered {
	p.t.Helper()
	if got.Status != status || got.Code != code {
		p.t.Errorf("%s: %d %s, want %d with code %d", what, got.Status, got.Body, status, code)
	}
	return got
}

func TestAConversationReadsLikeOne(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	asked := p.Say(p.ann, p.general, "<@"+discordtest.Bot+"> how do I roll back?")
	p.clock.Advance(time.Second)
	thread := p.want("thread", p.call("POST", "/channels/"+p.general+"/messages/"+asked.ID+"/threads", `{"name":"how do I roll back?"}`), 201, 0)
	if thread.ID != asked.ID {
		t.Errorf("the thread's id is %s, want the message's, %s", thread.ID, asked.ID)
	}
	first := p.want("answer", p.post(thread.ID, `{"content":"Run **undo**, <@`+p.ann+`> or <@`+p.ben+`> @everyone.",
		"allowed_mentions":{"parse":[],"users":["`+p.ann+`"]},
		"embeds":[{"title":"Runbook","url":"https://docs.example/run","description":"Chapter 2","fields":[{"name":"Age","value":"2 days"}]}],
		"components":[{"type":1,"components":[{"type":2,"style":1,"label":"Helpful","custom_id":"yes"},{"type":2,"style":5,"label":"Open","url":"https://docs.example"}]}]}`), 200, 0)
	p.want("edit", p.call("PATCH", "/channels/"+thread.ID+"/messages/"+first.ID, `{"content":"Run **redo**."}`), 200, 0)
	p.Reply(p.ann, first.ID, "thanks")
	gone := p.Say(p.ben, p.general, "never mind")
	p.Delete(p.ben, gone.ID)
	want := `== #general ==
09:00:00 Ann:
  @Cairn! how do I roll back?
    -- thread: how do I roll back? --
    09:00:01 Cairn (edited):
      Run **redo**.
      ▌ # Runbook ⟨https://docs.example/run⟩
      ▌ Chapter 2
      ▌ Age: 2 days
      [Helpful] [Open ⟨https://docs.example⟩]
    09:00:01 Ann:
      ┌ @Cairn!: Run **redo**.
      thanks
09:00:01 Ben: (deleted)
`
	if got := p.Show(p.general); got != want {
		t.Errorf("the channel reads\n%s\nwant\n%s", got, want)
	}
	if got := p.Refused(); len(got) > 0 {
		t.Errorf("refused: %+v", got)
	}
}

func TestNobodyIsNotifiedByAccident(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	text := `"content":"<@` + p.ann + `> @everyone"`
	for allowed, want := range map[string]string{
		"":                                 p.ann,
		`,"allowed_mentions":{"parse":[]}`: "",
		`,"allowed_mentions":{"parse":["everyone"]}`:           "",
		`,"allowed_mentions":{"users":["` + p.ben + `"]}`:      "",
		"," + `"allowed_mentions":{"users":["` + p.ann + `"]}`: p.ann,
	} {
		p.want(allowed, p.post(p.general, "{"+text+allowed+"}"), 200, 0)
		said, _ := p.Last(p.general)
		if got := strings.Join(said.Users, " "); got != want || said.Everyone {
			t.Errorf("%s: notified %q, everyone %v; want %q", allowed, got, said.Everyone, want)
		}
	}
	p.Overwrite(p.general, discordtest.Bot, discordtest.MentionEveryone, 0)
	p.post(p.general, "{"+text+"}")
	if said, _ := p.Last(p.general); !said.Everyone {
		t.Error("with the permission and no allowed_mentions everybody is notified")
	}
	p.post(p.general, "{\"content\":\"`<@"+p.ann+">`\"}")
	if said, _ := p.Last(p.general); len(said.Users) > 0 {
		t.Error("a mention in code notifies nobody")
	}
}

func TestNonceIsEnforced(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	body := `{"content":"one","nonce":"n1","enforce_nonce":true}`
	first := p.want("first", p.post(p.general, body), 200, 0)
	again := p.want("again", p.post(p.general, strings.Replace(body, "one", "two", 1)), 200, 0)
	if !strings.Contains(first.Body, `"nonce":"n1"`) || strings.Contains(p.call("GET", "/channels/"+p.general+"/messages/"+first.ID, "").Body, "nonce") {
		t.Error("the nonce is told by the answer that made the message, and by no other")
	}
	if again.ID != first.ID || again.Content != "one" {
		t.Errorf("the second create gave %s, want the first message %s", again.Body, first.ID)
	}
	if other := p.post(p.general, `{"content":"three","nonce":"n1"}`); other.ID == first.ID {
		t.Error("without enforce_nonce a nonce means nothing")
	}
	p.clock.Advance(3 * time.Minute)
	if later := p.post(p.general, body); later.ID == first.ID {
		t.Error("a nonce is remembered for minutes, not for ever")
	}
	p.want("too long", p.post(p.general, `{"content":"x","nonce":"`+strings.Repeat("n", 26)+`"}`), 400, 50035)
	p.want("none", p.post(p.general, `{"content":"x","enforce_nonce":true}`), 400, 50035)
}

func TestFilesGoUpAndComeDown(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	upload := func(payload string, names ...string) answered {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		write := func(header textproto.MIMEHeader, content string) {
			part, err := form.CreatePart(header)
			if err == nil {
				_, err = io.WriteString(part, content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		write(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="payload_json"`}, "Content-Type": {"application/json"}}, payload)
		for _, name := range names {
			write(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + name + `"; filename="notes.txt"`}, "Content-Type": {"text/plain"}}, "hello")
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		return p.send("POST", "/channels/"+p.general+"/messages", &body, http.Header{"Content-Type": {form.FormDataContentType()}})
	}
	p.want("a file", upload(`{"content":"see","attachments":[{"id":"0","description":"notes"}]}`, "files[0]"), 200, 0)
	p.want("a file that didn't come", upload(`{"attachments":[{"id":"1"}]}`, "files[0]"), 400, 50035)
	p.want("a part that is none", upload(`{}`, "file"), 400, 50035)
	p.want("broken JSON", upload(`{`, "files[0]"), 400, 50109)
	said, _ := p.Last(p.general)
	if len(said.Attachments) != 1 || said.Attachments[0].Size != 5 || said.Attachments[0].Description != "notes" {
		t.Fatalf("attachments: %+v", said.Attachments)
	}
	if got := string(p.Content(said.Attachments[0].ID)); got != "hello" {
		t.Errorf("content: %q", got)
	}
	download := func() (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, said.Attachments[0].URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := p.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(content)
	}
	if status, content := download(); status != 200 || content != "hello" {
		t.Errorf("download: %d %q", status, content)
	}
	p.Expire(said.Attachments[0].ID)
	if status, _ := download(); status != 404 {
		t.Errorf("download of what expired: %d", status)
	}
}

func TestOnlyDiscordIsReached(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.Client().Do(request)
	if err == nil {
		response.Body.Close()
		t.Error("another host was reached")
	}
	p.want("an unknown route", p.call("GET", "/nothing", ""), 404, 0)
}
