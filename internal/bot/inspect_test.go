package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
	"github.com/cairn-bot/cairn/internal/inspect/session"
	"github.com/cairn-bot/cairn/internal/repository"
)

// TestAQuestionAboutAScreen has a person ask what a button does: they are asked which page is
// open, name one that isn't there, press one of those that are, and ask on.
func TestAQuestionAboutAScreen(t *testing.T) {
	for name, open := range map[string]func(*testing.T, flows.Flow) (chattest.Team, func(*testing.T) []chat.Rating){
		"Slack": openSlackTeam, "Discord": openDiscordTeam,
	} {
		t.Run(name, func(t *testing.T) {
			opener := repository.NewOpener(repository.Options{Roots: []string{inspecttest.Write(t, 0)}})
			flow, err := inspect.New(inspect.Options{Open: opener.Open})
			if err != nil {
				t.Fatal(err)
			}
			team, _ := open(t, flow)
			await := awaitSeen(t, team)
			team.Mention(t, chattest.Ann, "inspect: ./shop what does button1 do?")
			await("Which page is open?", "[Checkout]", "[Main]")
			team.Say(t, chattest.Ann, "Chekout2")
			await("There is no page")
			if !team.Press(t, chattest.Ann, "Main") {
				t.Fatal("there is no button Main")
			}
			await("/api/orders", "Main.script.js:21", "createOrder of shop")
			team.Say(t, chattest.Ann, "inspect: ./shop and its styles?")
			await("How it looks", "#4263eb", "Main.style.js:4")
		})
	}
}

// awaitSeen gives what waits until Ann sees all of some texts.
func awaitSeen(t *testing.T, team chattest.Team) func(wants ...string) {
	return func(wants ...string) {
		t.Helper()
		waiting, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		err := team.Await(waiting, func() bool {
			seen := team.Seen(t, chattest.Ann)
			return !slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(seen, want) })
		})
		if err != nil {
			t.Fatalf("%v: %q is not in\n%s", err, wants, team.Seen(t, chattest.Ann))
		}
	}
}

// readRecording reads files that come with messages: what was recorded of an app, and text.
func readRecording(ctx context.Context, name string, content []byte) (string, error) {
	if !session.IsName(name) {
		return readText(ctx, name, content)
	}
	recorded, err := session.Read(content)
	if err != nil {
		return "", err
	}
	return recorded.Encode()
}

// TestARecordingComesWithAMessage has a person attach what was recorded of an app: it tells the page
// and the selected widget. One that is broken is told of.
func TestARecordingComesWithAMessage(t *testing.T) {
	for name, open := range map[string]func(*testing.T, flows.Flow) (chattest.Team, func(*testing.T) []chat.Rating){
		"Slack": openSlackTeam, "Discord": openDiscordTeam,
	} {
		t.Run(name, func(t *testing.T) {
			opener := repository.NewOpener(repository.Options{Roots: []string{inspecttest.Write(t, 0)}})
			flow, err := inspect.New(inspect.Options{Open: opener.Open})
			if err != nil {
				t.Fatal(err)
			}
			team, _ := open(t, flow)
			await := awaitSeen(t, team)
			share, ok := team.(interface {
				mentionWithFile(who chattest.Person, text, name string, content []byte)
			})
			if !ok {
				t.Fatal("the team shares no files")
			}
			share.mentionWithFile(chattest.Ann, "inspect: ./shop why is the selected widget grey?", "shop"+session.Ending, inspecttest.Session(t, "button2"))
			await("on page", "In the app", "#888888", "Main.component.js:64")
			if seen := team.Seen(t, chattest.Ann); strings.Contains(seen, "s3cret") {
				t.Errorf("a secret is shown:\n%s", seen)
			}
			share.mentionWithFile(chattest.Ann, "inspect: ./shop what does button1 do on Main?", "broken"+session.Ending, []byte("no zip"))
			await("broken"+session.Ending, "/api/orders")
		})
	}
}
