package discordtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

func TestWhatPeopleDoIsToldOnce(t *testing.T) {
	p := newPlace(t, discordtest.Options{MessageContent: true})
	said := p.Say(p.ann, p.general, "one")
	p.Edit(p.ann, said.ID, "<@"+discordtest.Bot+"> two")
	p.Unfurl(said.ID, `[{"type":"rich","title":"A page"}]`)
	p.Upload(p.ann, p.general, "a file", discordtest.File{Name: "a.txt", Media: "text/plain", Content: []byte("hello")})
	other := p.Say(p.ben, p.general, "three")
	p.Delete(p.ann, said.ID)
	p.Moderate(other.ID)
	first, second := p.Say(p.ann, p.general, "x"), p.Say(p.ann, p.general, "y")
	p.Purge(p.general, first.ID, second.ID)
	robot := p.OtherBot("Robot")
	p.team.Join(robot)
	p.Say(robot, p.general, "beep")
	p.Post(p.ben, p.general, discordtest.Posting{Type: 7})
	started := p.StartThread(p.ann, p.Say(p.ann, p.general, "talk here").ID, "Talk")

	for eventType, want := range map[string]int{
		"MESSAGE_CREATE": 8, "MESSAGE_UPDATE": 2, "MESSAGE_DELETE": 2, "MESSAGE_DELETE_BULK": 1, "THREAD_CREATE": 1,
	} {
		if got := p.Events(eventType); len(got) != want || got[0].Guild != p.team.ID {
			t.Errorf("%d events %s, want %d in the guild", len(got), eventType, want)
		}
	}
	updates := p.Events("MESSAGE_UPDATE")
	if !strings.Contains(string(updates[0].Data), `"edited_timestamp":"2026`) {
		t.Errorf("an edit tells when it was: %s", updates[0].Data)
	}
	creates := p.Events("MESSAGE_CREATE")
	for i, want := range map[int]string{1: `"filename":"a.txt","size":5`, 5: `"bot":true`, 6: `"type":7`} {
		if !strings.Contains(string(creates[i].Data), want) {
			t.Errorf("the message %d lacks %s: %s", i, want, creates[i].Data)
		}
	}
	if !strings.Contains(string(p.Events("THREAD_CREATE")[0].Data), `"newly_created":true`) || len(p.Threads(p.general)) != 1 || p.Threads(p.general)[0] != started {
		t.Errorf("threads: %v", p.Threads(p.general))
	}
}

func TestWhatTheAppDoesNotSeeItIsNotTold(t *testing.T) {
	p := newPlace(t, discordtest.Options{MessageContent: true})
	private := p.team.Channel("private")
	p.team.Join(p.ann, p.team.Role("staff", discordtest.Administrator))
	p.Overwrite(private, p.team.ID, 0, discordtest.ViewChannel)
	p.Say(p.ann, private, "for us alone")
	if got := p.Events("MESSAGE_CREATE"); len(got) != 0 {
		t.Errorf("told: %s", got[0].Data)
	}
}

func TestMistakesOfATestPanicAndLeaveTheServerRunning(t *testing.T) {
	p := withCommands(t)
	said := p.post(p.general, body(false, row(`{"type":2,"style":1,"label":"Off","custom_id":"off","disabled":true}`)))
	secret := p.Person("Dora")
	for name, mistake := range map[string]func(){
		"a button that is off":           func() { p.Press(p.ann, said.ID, "Off") },
		"a menu that isn't there":        func() { p.Select(p.ann, said.ID, "x") },
		"a command that isn't there":     func() { p.Slash(p.ann, p.general, "other") },
		"a subcommand that isn't there":  func() { p.Slash(p.ann, p.general, "cairn sing") },
		"a required option":              func() { p.Slash(p.ann, p.general, "cairn ask") },
		"an option that isn't there":     func() { p.ask(discordtest.Option{Name: "other"}) },
		"an option that isn't completed": func() { p.Complete(p.ann, p.general, "cairn ask", discordtest.Option{Name: "question"}) },
		"a menu command":                 func() { p.Menu(p.ann, said.ID, "Other") },
		"somebody else's message":        func() { p.Edit(p.ann, said.ID, "x") },
		"a message that isn't there":     func() { p.Delete(p.ann, "1") },
		"nobody":                         func() { p.Say("1", p.general, "x") },
		"somebody who is not there":      func() { p.Say(secret, p.general, "x") },
		"a forum":                        func() { p.Say(p.ann, p.team.Forum("help"), "x") },
	} {
		func() {
			defer func() {
				if reason := recover(); reason == nil || !strings.HasPrefix(fmt.Sprint(reason), "discordtest: ") {
					t.Errorf("%s: recovered %v", name, reason)
				}
			}()
			mistake()
		}()
	}
	if p.Say(p.ann, p.general, "still here").ID == "" {
		t.Error("the server does not go on")
	}
}

func TestAwaitGivesUpWithItsContext(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Await(ctx, func() bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("awaiting what never comes: %v", err)
	}
}

// BenchmarkMention is a mention, a thread that is started from it, an answer and its edit.
func BenchmarkMention(b *testing.B) {
	server := discordtest.New(b, discordtest.Options{Limits: discordtest.NoLimits()})
	team := server.Guild("Team")
	p := &place{Server: server, t: b, team: team, ann: team.Member("Ann"), general: team.Channel("general")}
	for b.Loop() {
		said := p.Say(p.ann, p.general, "<@"+discordtest.Bot+"> how?")
		p.call("POST", "/channels/"+p.general+"/messages/"+said.ID+"/threads", `{"name":"how?"}`)
		answer := p.post(said.ID, `{"content":"so","nonce":"`+said.ID+`","enforce_nonce":true}`)
		p.want("an edit", p.call("PATCH", "/channels/"+said.ID+"/messages/"+answer.ID, `{"content":"so, then"}`), 200, 0)
	}
}
