package slack

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

var (
	emulateURL   = flag.String("emulate", "", "the Web API of an emulator that TestSecondOpinion asks; empty: slacktest's")
	emulateToken = flag.String("emulate.token", slacktest.BotToken, "a token of its bot")
)

// bearing puts the token where the emulator looks for it (Slack takes it in the form, too),
// and says of methods that it lacks what Slack says.
type bearing struct{}

func (bearing) RoundTrip(request *http.Request) (*http.Response, error) {
	asked := request.Clone(request.Context())
	asked.Header.Set("Authorization", "Bearer "+*emulateToken)
	response, err := http.DefaultTransport.RoundTrip(asked)
	if err != nil || response.StatusCode != http.StatusNotFound {
		return response, err
	}
	defer response.Body.Close()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(`{"ok":false,"error":"unknown_method"}`)),
	}, nil
}

// TestSecondOpinion has the adapter work against somebody else's idea of Slack. make
// slack-emulate does so; without that it works against our own.
func TestSecondOpinion(t *testing.T) {
	address := *emulateURL
	if address == "" {
		server := slacktest.New(slacktest.Options{Unlimited: true})
		t.Cleanup(server.Close)
		server.Channel("C0GENERAL", "general")
		address = server.APIURL()
	}
	client := &http.Client{Transport: bearing{}}
	single := NewSingle(*emulateToken, address, client)
	clock := slacktest.NewManual(chattest.Now) // neither has limits to wait for
	adapter, err := New(Options{Settings: openSettings(t), Workspaces: single, SigningSecret: "s", APIURL: address, Client: client,
		Turns: pace.NewLocal(clock.Now), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	adapter.clock.now = clock.Now
	adapter.clock.wait = func(_ context.Context, d time.Duration) error { clock.Advance(d); return nil }
	api := adapter.newClient(*emulateToken)
	told, err := api.AuthTestContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	channel := "C0GENERAL"
	if *emulateURL != "" {
		channels, _, err := api.GetConversationsContext(t.Context(), &slack.GetConversationsParameters{Limit: 10})
		if err != nil || len(channels) == 0 {
			t.Fatalf("%d channels, %v", len(channels), err)
		}
		channel = channels[0].ID
	}
	_, root, err := api.PostMessageContext(t.Context(), channel, slack.MsgOptionText("how do I roll back a release?", false))
	if err != nil {
		t.Fatal(err)
	}
	story{t, adapter, place{team: told.TeamID, channel: channel, root: root}.threadID(), func() { clock.Advance(time.Minute) }}.tell()
}

// story is what is done in a thread.
type story struct {
	*testing.T
	adapter *Adapter
	thread  chat.ThreadID
	rest    func() // lets all limits be as new
}

func (s story) tell() {
	ctx := s.Context()
	answer := chattest.Answer()
	for key, post := range map[chat.PostKey]chat.Post{
		"short": room1("One line."), "rich": {Reply: &answer}, "parts": room1(strings.Repeat(chattest.Long(3000)+"\n\n", 5)),
		"file": room1(chattest.Long(30000)), "question": {Question: &chat.Question{ID: "q", Text: "Which?", FreeText: true, Choices: []chat.Choice{{ID: "a", Label: "A"}}}},
	} {
		s.rest()
		if _, found, err := s.adapter.Find(ctx, s.thread, key); found || err != nil {
			s.Errorf("%s: found before it was posted: %v", key, err)
		}
		id, err := s.adapter.Post(ctx, s.thread, key, post)
		if err != nil {
			s.Errorf("%s: post: %v", key, err)
			continue
		}
		if got, found, err := s.adapter.Find(ctx, s.thread, key); !found || got != id || err != nil {
			s.Errorf("%s: found %q %v %v, want %q", key, got, found, err, id)
		}
		if err := s.adapter.Edit(ctx, s.thread, id, room1("Edited.")); err != nil {
			s.Errorf("%s: edit: %v", key, err)
		}
		if _, found, err := s.adapter.Find(ctx, s.thread, key); !found || err != nil {
			s.Errorf("%s: after the edit: %v %v", key, found, err)
		}
		if err := s.adapter.Retract(ctx, s.thread, id); err != nil {
			s.Errorf("%s: retract: %v", key, err)
		}
		if _, found, err := s.adapter.Find(ctx, s.thread, key); found || err != nil {
			s.Errorf("%s: after it was retracted: %v %v", key, found, err)
		}
	}
	s.rest()
	draft, err := s.adapter.Draft(ctx, chat.Work{Run: "run-1", Thread: s.thread, Asker: "U0ANN"})
	if err != nil {
		s.Fatal(err)
	}
	for _, text := range []string{"Half ", "an answer"} {
		if err := draft.Stream(ctx, chat.Token{Run: "run-1", Text: text}); err != nil {
			s.Error(err)
		}
	}
	if _, err := draft.Finish(ctx, "drafted", room1("The whole answer.")); err != nil {
		s.Error(err)
	}
	if _, found, err := s.adapter.Find(ctx, s.thread, "drafted"); !found || err != nil {
		s.Errorf("a draft that was finished: %v %v", found, err)
	}
}
