package discord

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// doors is a world of strangers beside a team of which one role may ask.
type doors struct {
	*team
	bot      *posttest.Recorder
	earlier  *Adapter // from before the list of servers was made: it posts everywhere
	answered map[string][3]string
	posts    int
}

const teamRole = "the team's role"

func newDoors(t *testing.T) *doors {
	t.Helper()
	w := newTeam(t, func(options *Options) { options.Catalog = catalog{"handbook"} })
	d := &doors{team: w, bot: posttest.NewRecorder(), answered: map[string][3]string{}}
	d.bot.Through(w.adapter)
	d.bot.On("how do I roll back?", chattest.Asks(chattest.Question()))
	hears, err := interact.NewHandler("Discord", d.bot)
	if err != nil {
		t.Fatal(err)
	}
	w.adapter.running.Fill(hears)
	role := w.guild.Role(teamRole, 0)
	w.guild.Join(w.ann, role)
	if err := w.store.Put(t.Context(), settings.NewSpace(Name, w.guild.ID), "", settings.Setting{Askers: []string{role}}); err != nil {
		t.Fatal(err)
	}
	w.adapter.control = w.adapter.newController() // which has read no setting yet
	return d
}

// furnish posts an answer, a failure and a question in a channel, with all their buttons, as if the
// bot had answered there before.
func (d *doors) furnish(t *testing.T, channel, guild, person string) {
	t.Helper()
	if d.earlier == nil {
		options := d.adapter.options
		options.Servers = map[string][]string{d.guild.ID: nil, guild: nil}
		d.earlier = d.process(t, options)
	}
	answer, failure := posttest.AnswerWithManySources(), posttest.FailedReply()
	question := chattest.Question()
	question.Asker = ""
	thread := place{guild: guildOr(guild), channel: channel}.threadID()
	if guild != "" {
		thread = place{guild: guild, channel: channel, root: "1"}.threadID()
	}
	// The runs are of the place, so that nothing but who presses keeps them from being shown.
	for _, text := range []string{"answer " + channel, "failure " + channel, "ask " + channel} {
		script := map[string]chattest.Script{"a": chattest.Says(answer), "f": chattest.Says(failure), "q": chattest.Asks(question)}[text[:1]]
		if strings.HasPrefix(text, "ask") {
			script = chattest.Asks(question)
		}
		d.bot.On(text, script)
		message := chat.Message{ID: chat.MessageID(text), Thread: thread, Author: chat.UserID(person), Text: text}
		if err := d.bot.Bot.Bot.Handle(t.Context(), message, silent{}); err != nil {
			t.Fatal(err)
		}
	}
	var made [3]string
	for i, post := range []chat.Post{{Reply: &answer}, {Reply: &failure}, {Question: &question}} {
		d.posts++
		id, err := d.earlier.Post(t.Context(), thread, chat.PostKey(fmt.Sprintf("doors%019d", d.posts)), post)
		if err != nil {
			t.Fatal(err)
		}
		made[i] = string(id)
	}
	d.answered[channel] = made
}

// silent is a conversation that nobody sees.
type silent struct{}

func (silent) Progress(context.Context, chat.Progress) error { return nil }
func (silent) Reply(context.Context, chat.Reply) error       { return nil }
func (silent) Ask(context.Context, chat.Question) error      { return nil }

// attempt is something that somebody does, in a channel of theirs.
type attempt func(t *testing.T, d *doors, who, channel string) *discordtest.Interaction

func pressing(at int, label string) attempt {
	return func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		return d.Press(who, d.answered[channel][at], label)
	}
}

func using(words string, options ...discordtest.Option) attempt {
	return func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		return d.Slash(who, channel, words, options...)
	}
}

var question = discordtest.Option{Name: "question", Value: "what do you know?"}

// entries are all the ways by which somebody reaches the bot in Discord.
var entries = map[string]attempt{
	"a mention": func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		d.Say(who, channel, bot+"what do you know?")
		return nil
	},
	"a reply to the bot": func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		d.Reply(who, d.answered[channel][0], "and on staging?")
		return nil
	},
	"a message that is edited to mention it": func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		d.Edit(who, d.Say(who, channel, "<@2>").ID, bot+"what do you know?")
		return nil
	},
	"a file": func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		d.Upload(who, channel, bot+"what is in it?", discordtest.File{Name: "a.md", Content: []byte("# A\n")})
		return nil
	},
	"/cairn ask":         using("cairn ask", question),
	"/cairn ask private": using("cairn ask", question, discordtest.Option{Name: "private", Value: "true"}),
	"/ask":               using("ask", question),
	"/cairn analyze":     using("cairn analyze", discordtest.Option{Name: "question", Value: "what?"}, discordtest.Option{Name: "collection", Value: "handbook"}),
	"/cairn sources":     using("cairn sources"),
	"/cairn status":      using("cairn status"),
	"/cairn stop":        using("cairn stop"),
	"completing a field": func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		return d.Complete(who, channel, "cairn analyze", discordtest.Option{Name: "collection", Value: "hand"}, discordtest.Option{Name: "question", Value: "what?"})
	},
	"a command on a message": func(_ *testing.T, d *doors, who, channel string) *discordtest.Interaction {
		return d.Menu(who, d.Say(who, channel, "<@2> what about this?").ID, "Ask Cairn about this")
	},
	"Helpful":       pressing(0, "Helpful"),
	"Not helpful":   pressing(0, "Not helpful"),
	"Why":           pressing(0, "Why"),
	"All sources":   pressing(0, "All sources"),
	"What happened": pressing(1, "What happened"),
	"Retry":         pressing(1, "Retry"),
	"a choice":      pressing(2, "The API"),
	"own words":     pressing(2, "In my own words"),
	"Stop":          pressing(2, "Stop"),
}

// heard gives all that the bot says anywhere.
func (d *doors) heard(channels ...string) []string {
	var said []string
	for _, channel := range channels {
		for _, in := range append([]string{channel}, d.Threads(channel)...) {
			for _, message := range d.Messages(in) {
				if message.Author == discordtest.Bot {
					said = append(said, message.ID+" "+message.Content+string(message.Embeds)+string(message.Components))
				}
			}
		}
	}
	return said
}

// refusals are the lines that a stranger may be told.
var refusals = []string{refusedServer, refusedRole, refusedDirectly}

func isRefusal(said string) bool {
	return slices.ContainsFunc(refusals, func(line string) bool { return strings.Contains(said, escapeText(line, true)) })
}

// try does something, and tells what came of it: what the bot was asked, and what it said.
func (d *doors) try(t *testing.T, do attempt, who, channel string) (asked, said []string) {
	t.Helper()
	before, saidBefore := len(d.bot.Calls()), d.heard(channel)
	did := do(t, d, who, channel)
	d.wait(t)
	asked = d.bot.Calls()[before:]
	for _, line := range d.heard(channel) {
		if !slices.Contains(saidBefore, line) {
			said = append(said, line)
		}
	}
	if did == nil {
		return asked, said
	}
	if form := did.Modal(); form != nil {
		said = append(said, "the form "+form.Title)
	}
	for _, choice := range did.Choices() {
		said = append(said, "the choice "+choice.Name)
	}
	return asked, said
}

// TestStrangersGetNothing has people who may ask nothing try every way in.
func TestStrangersGetNothing(t *testing.T) {
	for name, meet := range map[string]func(t *testing.T, d *doors) (who, channel, guild string){
		"a member without the role": func(_ *testing.T, d *doors) (string, string, string) { return d.ben, d.general, d.guild.ID },
		"somebody of no server": func(_ *testing.T, d *doors) (string, string, string) {
			who := d.Person("Eve")
			return who, d.DM(who), ""
		},
		"a member without the role, directly": func(_ *testing.T, d *doors) (string, string, string) { return d.ben, d.DM(d.ben), "" },
		"a server that is not listed": func(_ *testing.T, d *doors) (string, string, string) {
			// It can't be left, for Discord fails.
			d.Fail("DELETE /users/@me/guilds/{guild}", discordtest.Fault{Status: 500})
			other := d.Guild("Other")
			d.settle(t)
			d.feed.failed = nil
			return other.Member("Mallory"), other.Channel("lobby"), other.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoors(t)
			who, channel, guild := meet(t, d)
			d.furnish(t, channel, guild, who)
			d.wait(t)
			for _, entry := range slices.Sorted(maps.Keys(entries)) {
				asked, said := d.try(t, entries[entry], who, channel)
				if len(asked) > 0 {
					t.Errorf("%s: the bot was asked for %v", entry, asked)
				}
				for _, line := range said {
					if !isRefusal(line) {
						t.Errorf("%s: the bot said %s", entry, line)
					}
				}
			}
			for _, err := range d.feed.failed {
				t.Errorf("an event was not dealt with: %v", err)
			}
			if guild == "" && strings.Count(d.Show(channel), refusedDirectly) == 0 {
				t.Errorf("nobody says why nothing comes:\n%s", d.Show(channel))
			}
		})
	}
}

// TestMembersGetSomething has somebody who may ask try every way in: the test of strangers shows
// nothing where a way leads nowhere.
func TestMembersGetSomething(t *testing.T) {
	for _, direct := range []bool{false, true} {
		for _, entry := range slices.Sorted(maps.Keys(entries)) {
			t.Run(fmt.Sprint(entry, " direct ", direct), func(t *testing.T) {
				t.Parallel()
				d := newDoors(t)
				channel, guild := d.general, d.guild.ID
				if direct {
					channel, guild = d.DM(d.ann), ""
				}
				d.furnish(t, channel, guild, d.ann)
				d.wait(t)
				asked, said := d.try(t, entries[entry], d.ann, channel)
				if len(asked) == 0 && len(said) == 0 || slices.ContainsFunc(said, isRefusal) {
					t.Errorf("the bot was asked for %v, and said %v", asked, said)
				}
			})
		}
	}
}
