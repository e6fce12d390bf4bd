package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/chattest"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/inspect"
	"cairn/internal/inspect/inspecttest"
	"cairn/internal/repository"
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
			await := func(wants ...string) {
				t.Helper()
				waiting, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				err := team.Await(waiting, func() bool {
					seen := team.Seen(t, chattest.Ann)
					for _, want := range wants {
						if !strings.Contains(seen, want) {
							return false
						}
					}
					return true
				})
				if err != nil {
					t.Fatalf("%v: %q is not in\n%s", err, wants, team.Seen(t, chattest.Ann))
				}
			}
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
