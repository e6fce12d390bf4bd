package slack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// doors is a world in which strangers are beside a team.
type doors struct {
	*team
	bot     *posttest.Recorder
	channel string   // that is shared with another company
	roots   []string // of an answer, a failure and a question
	t       *testing.T
}

func newDoors(t *testing.T) *doors {
	t.Helper()
	w := newTeam(t, false)
	d := &doors{t: t, team: w, bot: posttest.NewRecorder(), channel: w.Channel("C0SHARED", "shared")}
	w.Share(d.channel)
	w.adapter.options.Catalog = shelf{{Name: "handbook"}}
	w.adapter.options.Humans = func(string, string) []string { return []string{"U0BEN"} }
	w.adapter.control = w.adapter.newController()
	d.bot.Through(w.adapter)
	hears, err := interact.NewHandler("Slack", d.bot)
	if err != nil {
		t.Fatal(err)
	}
	w.adapter.running.Fill(hears)
	return d
}

// furnish has the bot say an answer, a failure and a question in a channel to somebody, as it may
// have before they lost the right to ask.
func (d *doors) furnish(t *testing.T, channel, who string) {
	t.Helper()
	d.bot.On("an answer", chattest.Says(posttest.AnswerWithManySources()))
	d.bot.On("a failure", chattest.Says(posttest.FailedReply()))
	d.bot.On("a question", chattest.Asks(chattest.Question()))
	for _, text := range []string{"an answer", "a failure", "a question"} {
		ts := d.ben.Says(channel, "", "<@U0ANN> between us")
		d.roots = append(d.roots, ts)
		thread := place{team: slacktest.Team, channel: channel, root: ts}.threadID()
		message := chat.Message{ID: chat.MessageID(ts), Thread: thread, Author: chat.UserID(who), Text: text}
		if err := d.bot.Bot.Handle(t.Context(), message, nil); err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(2 * time.Second)
	}
}

// attempt is something that somebody does in a channel.
type attempt func(d *doors, who *slacktest.Person, channel string)

func pressing(label string) attempt {
	return func(d *doors, who *slacktest.Person, channel string) {
		if who.Presses(channel, label) == nil {
			d.t.Errorf("%s sees no button %s", who.Name, label)
		}
	}
}

func typing(text string) attempt {
	return func(_ *doors, who *slacktest.Person, channel string) { who.Command(channel, "/cairn", text) }
}

const mentioning = "<@" + slacktest.Bot + "> "

// entries are all the ways by which somebody reaches the bot in Slack.
var entries = map[string]attempt{
	"a mention": func(_ *doors, who *slacktest.Person, channel string) {
		who.Says(channel, "", mentioning+"what do you know?")
	},
	"a reply in its thread": func(d *doors, who *slacktest.Person, channel string) {
		who.Says(channel, d.roots[0], "what about staging?")
	},
	"an answer to its question": func(d *doors, who *slacktest.Person, channel string) {
		who.Says(channel, d.roots[2], "the API")
	},
	"a message that is edited to mention it": func(_ *doors, who *slacktest.Person, channel string) {
		who.Edits(channel, who.Says(channel, "", "<@U0BEN> hello"), mentioning+"what do you know?")
	},
	"a file": func(_ *doors, who *slacktest.Person, channel string) {
		who.Shares(channel, "", mentioning+"what is in it?", slacktest.File{Name: "a.md", Content: []byte("# A\n")})
	},
	"directly": func(_ *doors, who *slacktest.Person, _ string) { who.Says(who.DM(), "", "what do you know?") },
	"/cairn":   typing("what do you know?"), "/cairn sources": typing("sources"), "/cairn status": typing("status"), "/cairn stop": typing("stop"),
	"/cairn admin": typing("admin show"),
	"the shortcut": func(_ *doors, who *slacktest.Person, channel string) {
		who.Shortcut(askShortcut, channel, who.Says(channel, "", "<@U0BEN> what about this?"))
	},
	"the home tab":            func(_ *doors, who *slacktest.Person, _ string) { who.OpensHome() },
	"the home tab's examples": func(d *doors, who *slacktest.Person, _ string) { d.interact(homePress, who, "what do you know?") },
	"the home tab's button":   func(d *doors, who *slacktest.Person, _ string) { d.interact(homePress, who, "") },
	"the home tab's form":     func(d *doors, who *slacktest.Person, _ string) { d.interact(homeForm, who, "what do you know?") },
	"the messages tab":        func(_ *doors, who *slacktest.Person, _ string) { who.OpensDM() },
	"Slack's own Stop": func(d *doors, who *slacktest.Person, channel string) {
		d.Event(map[string]any{
			"type": "agent_session_stopped", "user": who.ID, "channel": channel, "thread_ts": d.roots[2], "streaming_message_ts": []string{},
		})
	},
	"Helpful": pressing("Helpful"), "Not helpful": pressing("Not helpful"), "Why": pressing("Why"),
	"All sources": pressing("All sources"), "What happened": pressing("What happened"), "Retry": pressing("Retry"),
	"Ask a human": pressing("Ask a human"), "a choice": pressing("The API"),
	"own words": func(_ *doors, who *slacktest.Person, channel string) { who.Types(channel, "the API") },
	"the form of a rating": func(d *doors, who *slacktest.Person, channel string) {
		about := formAbout("run-7f3a", place{team: slacktest.Team, channel: channel, root: d.roots[0]}.threadID())
		payload := fmt.Sprintf(`{"type":"view_submission","team":{"id":%q},"user":{"id":%q,"team_id":%q},"view":{"callback_id":%q,"private_metadata":%q,
			"state":{"values":{%q:{%q:{"value":"it is wrong"}}}}}}`, slacktest.Team, who.ID, slacktest.Team, reasonForm, about, reasonBlock, reasonField)
		if _, err := d.adapter.receiver.handleInteraction(context.Background(), []byte(payload)); err != nil {
			d.t.Error(err)
		}
	},
}

// Payloads of the home tab: by the team, the person, a question and a trigger.
const (
	homePress = `{"type":"block_actions","team":{"id":%[1]q},"user":{"id":%[2]q,"team_id":%[1]q},"container":{"type":"view"},"trigger_id":%[4]q,
		"actions":[{"action_id":"ask:1","value":%[3]q,"action_ts":"1773500000.000000"}]}`
	homeForm = `{"type":"view_submission","team":{"id":%[1]q},"user":{"id":%[2]q,"team_id":%[1]q},"trigger_id":%[4]q,
		"view":{"id":"V1","callback_id":"ask","state":{"values":{"question":{"words":{"value":%[3]q}}}}}}`
)

func (d *doors) interact(payload string, who *slacktest.Person, question string) {
	d.t.Helper()
	if _, err := d.adapter.receiver.handleInteraction(context.Background(), fmt.Appendf(nil, payload, slacktest.Team, who.ID, question, who.NewTrigger())); err != nil {
		d.t.Error(err)
	}
}

// heard gives all that the bot says to somebody, and shows them.
func (d *doors) heard(who *slacktest.Person, channel string) []string {
	var said []string
	for _, in := range []string{channel, who.DM()} {
		for _, message := range d.Messages(in) {
			if message.User == slacktest.Bot && (message.Only == "" || message.Only == who.ID) {
				said = append(said, message.TS+" "+message.Text+string(message.Blocks)+fmt.Sprint(message.Reactions))
			}
		}
		for _, prompt := range d.Prompts(in) {
			said = append(said, "the prompt "+prompt.Title)
		}
	}
	said = append(said, "the home tab "+string(d.Home(who.ID)))
	if open := who.Open(); open != nil {
		said = append(said, "the modal "+string(open.JSON))
	}
	return said
}

// refusals are the lines that a stranger may be told.
var refusals = []string{refusedOutside, refusedGuest, refusedUnknown, refusedAsker}

func isRefusal(said string) bool {
	return slices.ContainsFunc(refusals, func(line string) bool { return strings.Contains(said, line) })
}

// try does something, and tells what came of it: what the bot was asked, and what it said.
func (d *doors) try(do attempt, who *slacktest.Person, channel string) (asked, said []string) {
	before, saidBefore := len(d.bot.Calls()), d.heard(who, channel)
	do(d, who, channel)
	d.Settle()
	d.clock.Advance(20 * time.Second)
	for _, line := range d.heard(who, channel) {
		if !slices.Contains(saidBefore, line) {
			said = append(said, line)
		}
	}
	return d.bot.Calls()[before:], said
}

// TestStrangersGetNothing has people who may ask nothing try every way in.
func TestStrangersGetNothing(t *testing.T) {
	const company = "T0OTHER"
	for name, meet := range map[string]func(t *testing.T, d *doors) (who *slacktest.Person, channel string){
		"a guest": func(_ *testing.T, d *doors) (*slacktest.Person, string) {
			return d.Person("U0GUEST", "Gus").MakeGuest(), d.general
		},
		"somebody of another company": func(_ *testing.T, d *doors) (*slacktest.Person, string) {
			return d.Person("U0EVE", "Eve").From(company), d.channel
		},
		"somebody whom the app may not know": func(_ *testing.T, d *doors) (*slacktest.Person, string) {
			return d.Person("U0MAL", "Mallory").From(company), d.channel
		},
		"a member who is not among those who may ask": func(t *testing.T, d *doors) (*slacktest.Person, string) {
			t.Helper()
			if err := d.store.Put(t.Context(), settings.NewSpace(Name, slacktest.Team), "", settings.Setting{Askers: []string{"U0ANN", "S0LEGAL"}}); err != nil {
				t.Fatal(err)
			}
			return d.ben, d.general
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoors(t)
			who, channel := meet(t, d)
			d.furnish(t, channel, who.ID)
			if strings.Contains(name, "may not know") {
				d.Fail("users.info", slices.Repeat([]slacktest.Fault{{Error: "user_not_visible"}}, 100)...)
			}
			for _, entry := range slices.Sorted(maps.Keys(entries)) {
				if who == d.ben && (entry == "/cairn admin") {
					continue // members may see what is set
				}
				asked, said := d.try(entries[entry], who, channel)
				if len(asked) > 0 {
					t.Errorf("%s: the bot was asked for %v", entry, asked)
				}
				for _, line := range said {
					if !isRefusal(line) {
						t.Errorf("%s: the bot said %s", entry, line)
					}
				}
			}
			told := 0
			for _, message := range d.Messages(channel) {
				if message.User == slacktest.Bot && message.Only == who.ID && isRefusal(message.Text) {
					told++
				}
			}
			// One line by itself, and the answers to four or five commands, which show nobody else anything.
			if commands := 5; told > 1+commands || told < 1 {
				t.Errorf("told %d times:\n%s", told, d.Show(channel))
			}
			for _, delivery := range d.Deliveries() {
				if !delivery.Acked {
					t.Errorf("%s was not acknowledged: %+v", delivery.Type, delivery.Attempts)
				}
			}
		})
	}
}

// TestMembersGetSomething has somebody who may ask try every way in: the test of strangers shows
// nothing where a way leads nowhere.
func TestMembersGetSomething(t *testing.T) {
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			d := newDoors(t)
			d.furnish(t, d.general, "U0ANN")
			if asked, said := d.try(entries[entry], d.ann, d.general); len(asked) == 0 && len(said) == 0 || slices.ContainsFunc(said, isRefusal) {
				t.Errorf("the bot was asked for %v, and said %v", asked, said)
			}
		})
	}
}

// TestStrangersAreLetIn opens the doors by their settings.
func TestStrangersAreLetIn(t *testing.T) {
	d := newDoors(t)
	d.adapter.options.External, d.adapter.options.Guests = true, true
	for _, who := range []*slacktest.Person{d.Person("U0GUEST", "Gus").MakeGuest(), d.Person("U0EVE", "Eve").From("T0OTHER")} {
		before := len(d.bot.Calls())
		who.Says(d.channel, "", mentioning+"what do you know?")
		d.clock.Advance(20 * time.Second)
		if len(d.bot.Calls()) != before+1 {
			t.Errorf("%s is not answered", who.Name)
		}
	}
	heard := d.bot.Messages()
	for _, message := range heard {
		if at, err := parseThread(message.Thread); err != nil || at.team != slacktest.Team {
			t.Errorf("a message is heard in %s", message.Thread)
		}
	}
	d.clean(t)
}
