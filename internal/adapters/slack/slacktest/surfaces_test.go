package slacktest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

func TestOAuthAndRotation(t *testing.T) {
	server, clock, _ := world(t)
	server.Rotate()
	client := server2client{server}
	exchange := func(code string) (*slack.OAuthV2Response, error) {
		return slack.GetOAuthV2Response(client, slacktest.ClientID, slacktest.ClientSecret, code, "https://cairn.example/install")
	}
	if _, err := exchange("stolen"); err == nil || err.Error() != "invalid_code" {
		t.Errorf("a stolen code: %v", err)
	}
	code := server.Approve("T0OTHER", "E0CORP")
	granted, err := exchange(code)
	if err != nil {
		t.Fatal(err)
	}
	if granted.Team.ID != "T0OTHER" || granted.Enterprise.ID != "E0CORP" || granted.ExpiresIn != 43200 {
		t.Errorf("granted: %+v", granted)
	}
	if _, err := exchange(code); err == nil {
		t.Error("a code was good twice")
	}
	whoami := func(token string) error {
		_, err := slack.New(token, slack.OptionAPIURL(server.APIURL())).AuthTest()
		return err
	}
	if err := whoami(granted.AccessToken); err != nil {
		t.Error(err)
	}
	clock.Advance(13 * time.Hour)
	if err := whoami(granted.AccessToken); err == nil || err.Error() != "token_expired" {
		t.Errorf("a token after 13 hours: %v", err)
	}
	refreshed, err := slack.RefreshOAuthV2Token(client, slacktest.ClientID, slacktest.ClientSecret, granted.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	if err := whoami(refreshed.AccessToken); err != nil {
		t.Error(err)
	}
	if _, err := slack.RefreshOAuthV2Token(client, slacktest.ClientID, slacktest.ClientSecret, granted.RefreshToken); err == nil {
		t.Error("a refresh token was good twice")
	}
}

// server2client sends what is for Slack to the server: the SDK's OAuth calls know no
// other address.
type server2client struct{ server *slacktest.Server }

func (c server2client) Do(request *http.Request) (*http.Response, error) {
	address, err := request.URL.Parse(c.server.APIURL() + strings.TrimPrefix(request.URL.Path, "/api/"))
	if err != nil {
		return nil, err
	}
	request.URL, request.Host = address, address.Host
	client := &http.Client{Timeout: 10 * time.Second}
	return client.Do(request)
}

func TestFilesNeedTheToken(t *testing.T) {
	server, _, api := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	root := ann.Says(general, "", "hello")
	if _, err := api.UploadFile(slack.UploadFileParameters{Channel: general, ThreadTimestamp: root, Filename: "a.md", Content: "# A", FileSize: 3, Title: "A"}); err != nil {
		t.Fatal(err)
	}
	messages, _, _, err := api.GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: general, Timestamp: root})
	if err != nil || len(messages) != 2 || len(messages[1].Files) != 1 {
		t.Fatalf("%+v, %v", messages, err)
	}
	var content strings.Builder
	if err := api.GetFile(messages[1].Files[0].URLPrivateDownload, &content); err != nil || content.String() != "# A" {
		t.Errorf("%q, %v", content.String(), err)
	}
	response, err := (&http.Client{Timeout: 10 * time.Second}).Get(messages[1].Files[0].URLPrivateDownload)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "Sign in") {
		t.Errorf("without a token: %q, %v", body, err)
	}
}

func TestResponseURLsTakeFivePosts(t *testing.T) {
	server, clock, _ := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	newApp(t, server)
	address := func() string {
		var command struct {
			ResponseURL string `json:"response_url"`
		}
		if err := json.Unmarshal(ann.Command(general, "/cairn", "help").Body, &command); err != nil {
			t.Fatal(err)
		}
		return command.ResponseURL
	}
	post := func(to string) error {
		return slack.PostWebhook(to, &slack.WebhookMessage{Text: "x"})
	}
	to := address()
	for i := range 5 {
		if err := post(to); err != nil {
			t.Errorf("post %d: %v", i+1, err)
		}
	}
	if post(to) == nil {
		t.Error("a sixth post was taken")
	}
	to = address()
	clock.Advance(31 * time.Minute)
	if post(to) == nil {
		t.Error("a post after 31 minutes was taken")
	}
}

func TestSuggestedPromptsNeedNoThread(t *testing.T) {
	server, _, api := world(t)
	ann := server.Person("U1", "Ann")
	direct := ann.DM()
	ts := ann.Says(direct, "", "hello")
	ask := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: direct, ThreadTS: ts}
	ask.AddPrompt("a", "b")
	if err := api.SetAssistantThreadsSuggestedPrompts(ask); err != nil || server.Prompts(direct) != nil {
		t.Errorf("with a thread: %v, %v", server.Prompts(direct), err)
	}
	ask.ThreadTS = ""
	if err := api.SetAssistantThreadsSuggestedPrompts(ask); err != nil || len(server.Prompts(direct)) != 1 {
		t.Errorf("without: %v, %v", server.Prompts(direct), err)
	}
	for range 4 {
		ask.AddPrompt("a", "b")
	}
	if err := api.SetAssistantThreadsSuggestedPrompts(ask); err == nil {
		t.Error("5 prompts were taken")
	}
}
