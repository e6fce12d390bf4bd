package bot_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// slackTeam is a chattest.Team in Slack.
type slackTeam struct {
	*slacktest.Server
	people  map[chattest.Person]*slacktest.Person
	general string

	mu   sync.Mutex
	root string // of the conversation that goes on
	last map[chattest.Person]string
	// label and seen are the button that somebody pressed last, and what they saw then.
	label string
	seen  []slacktest.Message
}

const slackMention = "<@" + slacktest.Bot + "> "

func (w *slackTeam) remember(who chattest.Person, ts string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[who] = ts
}

func (w *slackTeam) conversation() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.root
}

func (w *slackTeam) Mention(_ *testing.T, who chattest.Person, text string) {
	ts := w.people[who].Says(w.general, "", slackMention+text)
	w.remember(who, ts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.root = ts
}

// mentionWithFile is Mention with a file.
func (w *slackTeam) mentionWithFile(who chattest.Person, text, name string, content []byte) {
	ts := w.people[who].Shares(w.general, "", slackMention+text, slacktest.File{Name: name, Title: name, Content: content})
	w.remember(who, ts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.root = ts
}

func (w *slackTeam) Say(_ *testing.T, who chattest.Person, text string) {
	w.remember(who, w.people[who].Says(w.general, w.conversation(), text))
}

func (w *slackTeam) Command(_ *testing.T, who chattest.Person, text string) {
	w.people[who].Command(w.general, "/cairn", text)
}

// Press presses a button of the app's, or Slack's own Stop.
func (w *slackTeam) Press(_ *testing.T, who chattest.Person, label string) bool {
	w.mu.Lock()
	w.label, w.seen = label, w.Messages(w.general)
	w.mu.Unlock()
	return w.people[who].Presses(w.general, label) != nil || label == "Stop" && w.people[who].StopsSession(w.general, w.conversation())
}

func (w *slackTeam) PressAgain(t *testing.T, who chattest.Person) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, said := range slices.Backward(w.seen) {
		if w.people[who].PressesOld(said, w.label) != nil {
			return
		}
	}
	t.Fatalf("%s pressed nothing", who)
}

// slackEmoji are Slack's names of emoji.
var slackEmoji = map[string]string{"👍": "+1::skin-tone-3", "👎": "-1", "👀": "eyes"}

func (w *slackTeam) React(t *testing.T, who chattest.Person, emoji string, on bool) {
	t.Helper()
	root := w.conversation()
	for _, said := range slices.Backward(w.Messages(w.general)) {
		if said.User == slacktest.Bot && said.ThreadTS == root && said.Only == "" && !said.Deleted {
			w.people[who].Reacts(w.general, said.TS, slackEmoji[emoji], on)
			return
		}
	}
	t.Fatalf("%s sees nothing to react to", who)
}

func (w *slackTeam) Fill(t *testing.T, who chattest.Person, text string) {
	t.Helper()
	form := w.people[who].Open()
	if form == nil {
		t.Fatalf("no form is open to %s", who)
	}
	w.people[who].Submits(form, map[string]string{"reason": text})
}

func (w *slackTeam) Edit(_ *testing.T, who chattest.Person, text string) {
	w.mu.Lock()
	ts := w.last[who]
	w.mu.Unlock()
	if text == "" {
		w.people[who].Deletes(w.general, ts)
		return
	}
	w.people[who].Edits(w.general, ts, slackMention+text)
}

func (w *slackTeam) Seen(_ *testing.T, who chattest.Person) string {
	seen := w.ShowTo(w.general, w.people[who].ID)
	if open := w.people[who].Open(); open != nil {
		seen += string(open.JSON)
	}
	return seen
}

// TestATeamInSlack has Slack's adapter pass the suite of all platforms, at Slack's own pace.
func TestATeamInSlack(t *testing.T) {
	chattest.TestTeam(t, func(t *testing.T) (chattest.Team, func(*testing.T) []chat.Rating) {
		t.Helper()
		return openSlackTeam(t, newPlaying(t))
	})
}

// openSlackTeam makes a team in Slack with a bot that has a flow, and gives what it keeps of ratings.
func openSlackTeam(t *testing.T, flow flows.Flow) (chattest.Team, func(*testing.T) []chat.Rating) {
	t.Helper()
	team, _, ratings := openSlackOffice(t, flow)
	return team, ratings
}

// openSlackOffice is openSlackTeam whose bot has other options, too.
func openSlackOffice(t *testing.T, flow flows.Flow, change ...func(*bot.Options)) (*slackTeam, *office, func(*testing.T) []chat.Rating) {
	t.Helper()
	server := slacktest.New(slacktest.Options{})
	t.Cleanup(server.Close)
	ann, ben := server.Person("U0ANN", "Ann"), server.Person("U0BEN", "Ben")
	ben.MakeAdmin()
	adapter, err := slack.New(slack.Options{
		Workspaces: slack.NewSingle(slacktest.BotToken, server.APIURL(), nil), APIURL: server.APIURL(), SigningSecret: slacktest.SigningSecret,
		Logger: slog.New(slog.DiscardHandler), Settings: openSettings(t),
		Humans: func(string, string) []string { return []string{ben.ID} },
	})
	if err != nil {
		t.Fatal(err)
	}
	o, ratings := openTeamBot(t, adapter, flow, change...)
	app := httptest.NewServer(http.StripPrefix("/slack", adapter.Handler()))
	t.Cleanup(app.Close)
	server.Subscribe(app.URL+"/slack/events", app.URL+"/slack/interactive", app.URL+"/slack/commands")
	return &slackTeam{
		Server: server, people: map[chattest.Person]*slacktest.Person{chattest.Ann: ann, chattest.Ben: ben},
		general: server.Channel("C0GENERAL", "general"), last: map[chattest.Person]string{},
	}, o, ratings
}
