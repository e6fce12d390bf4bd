package bot_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/adapters/discord/tickets"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// discordTeam is a chattest.Team in Discord.
type discordTeam struct {
	*discordtest.Server
	people  map[chattest.Person]string
	general string
	guild   string

	mu     sync.Mutex
	thread string // of the conversation that goes on
	last   map[chattest.Person]string
	forms  map[chattest.Person]*discordtest.Interaction
}

const discordMention = "<@" + discordtest.Bot + "> "

func (w *discordTeam) Mention(_ *testing.T, who chattest.Person, text string) {
	said := w.Server.Say(w.people[who], w.general, discordMention+text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.thread, w.last[who] = said.ID, said.ID // a thread has the id of the message that it begins at
}

// mentionWithFile is Mention with a file.
func (w *discordTeam) mentionWithFile(who chattest.Person, text, name string, content []byte) {
	said := w.Upload(w.people[who], w.general, discordMention+text, discordtest.File{Name: name, Media: "application/zip", Content: content})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.thread, w.last[who] = said.ID, said.ID
}

func (w *discordTeam) Say(_ *testing.T, who chattest.Person, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[who] = w.Server.Say(w.people[who], w.thread, text).ID
}

// Command uses a slash command: "admin off" is /cairn-admin off, all else a question.
func (w *discordTeam) Command(_ *testing.T, who chattest.Person, text string) {
	if does, ok := strings.CutPrefix(text, "admin "); ok {
		w.Slash(w.people[who], w.general, "cairn-admin "+does)
		return
	}
	w.Slash(w.people[who], w.general, "cairn ask", discordtest.Option{Name: "question", Value: text}, discordtest.Option{Name: "private", Value: "true"})
}

// messages are those that a person sees, in order: of the conversation behind those of the channel.
func (w *discordTeam) messages(who chattest.Person) []discordtest.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.Messages(w.general)
	if slices.ContainsFunc(found, func(said discordtest.Message) bool { return said.Thread != "" && said.Thread == w.thread }) {
		found = append(found, w.Messages(w.thread)...)
	}
	found = append(found, w.Messages(w.DM(w.people[who]))...)
	return slices.DeleteFunc(found, func(said discordtest.Message) bool {
		return said.Deleted || said.Only != "" && said.Only != w.people[who]
	})
}

func (w *discordTeam) Press(_ *testing.T, who chattest.Person, label string) bool {
	for _, said := range slices.Backward(w.messages(who)) {
		if said.HasButton(label) || said.HasOption(label) {
			pressed := w.Server.Press(w.people[who], said.ID, label)
			w.mu.Lock()
			w.forms[who] = pressed
			w.mu.Unlock()
			return true
		}
	}
	return false
}

func (w *discordTeam) PressAgain(_ *testing.T, who chattest.Person) {
	w.mu.Lock()
	pressed := w.forms[who]
	w.mu.Unlock()
	w.Server.PressAgain(pressed)
}

func (w *discordTeam) React(t *testing.T, who chattest.Person, emoji string, on bool) {
	t.Helper()
	w.mu.Lock()
	thread := w.thread
	w.mu.Unlock()
	for _, said := range slices.Backward(w.Messages(thread)) {
		if said.Author == discordtest.Bot && said.Only == "" && !said.Deleted {
			w.Server.React(w.people[who], said.ID, emoji, on)
			return
		}
	}
	t.Fatalf("%s sees nothing to react to", who)
}

func (w *discordTeam) Fill(t *testing.T, who chattest.Person, text string) {
	t.Helper()
	w.mu.Lock()
	form := w.forms[who]
	w.mu.Unlock()
	if err := w.Await(t.Context(), func() bool { return form.Modal() != nil }); err != nil {
		t.Fatalf("no form is open to %s", who)
	}
	w.Submit(form.Modal(), map[string]string{"text": text})
}

func (w *discordTeam) Edit(_ *testing.T, who chattest.Person, text string) {
	w.mu.Lock()
	id := w.last[who]
	w.mu.Unlock()
	if text == "" {
		w.Delete(w.people[who], id)
		return
	}
	w.Server.Edit(w.people[who], id, discordMention+text)
}

// Await implements chattest.TeamView. What comes of a reaction is kept, and changes nothing in Discord:
// it is looked for every now and then.
func (w *discordTeam) Await(ctx context.Context, holds func() bool) error {
	for {
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := w.Server.Await(soon, holds)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (w *discordTeam) Seen(_ *testing.T, who chattest.Person) string {
	return w.ShowTo(w.general, w.people[who]) + w.ShowTo(w.DM(w.people[who]), w.people[who])
}

// TestATeamInDiscord has Discord's adapter pass the suite of all platforms.
func TestATeamInDiscord(t *testing.T) {
	chattest.TestTeam(t, func(t *testing.T) (chattest.Team, func(*testing.T) []chat.Rating) {
		t.Helper()
		return openDiscordTeam(t, newPlaying(t))
	})
}

// openDiscordTeam makes a team in Discord with a bot that has a flow, and gives what it keeps of
// ratings.
func openDiscordTeam(t *testing.T, flow flows.Flow) (chattest.Team, func(*testing.T) []chat.Rating) {
	t.Helper()
	team, _, ratings := openDiscordOffice(t, flow)
	return team, ratings
}

// openDiscordOffice is openDiscordTeam whose bot has other options, too.
func openDiscordOffice(t *testing.T, flow flows.Flow, change ...func(*bot.Options)) (*discordTeam, *office, func(*testing.T) []chat.Rating) {
	t.Helper()
	server := discordtest.New(t, discordtest.Options{MessageContent: true, Limits: discordtest.NoLimits()})
	guild := server.Guild("Team")
	ann, ben := guild.Member("Ann"), guild.Member("Ben", guild.Role("boss", discordtest.Administrator))
	shards := fleet.NewMemory()
	client, err := gateway.New(gateway.Options{
		Token: discordtest.Token, Intents: discord.Intents(true), Discover: discord.Discover(server.Client(), discordtest.Token),
		Shards: shards, Starts: shards, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := discord.Register(t.Context(), server.Client(), discordtest.Token); err != nil {
		t.Fatal(err)
	}
	adapter, err := discord.New(discord.Options{
		Token: discordtest.Token, Settings: openSettings(t), Tickets: tickets.OpenSQLite(sqlitetest.Open(t, t.TempDir())), Gateway: client, HearsAll: true,
		Client: server.Client(), Logger: slog.New(slog.DiscardHandler), Humans: func(string, string) []string { return []string{ben} },
	})
	if err != nil {
		t.Fatal(err)
	}
	o, ratings := openTeamBot(t, adapter, flow, change...)
	server.Gateway().Await("a connection", func(state gatewaytest.State) bool { return len(state.Connected) > 0 })
	return &discordTeam{
		Server: server, people: map[chattest.Person]string{chattest.Ann: ann, chattest.Ben: ben}, general: guild.Channel("general"), guild: guild.ID,
		last: map[chattest.Person]string{}, forms: map[chattest.Person]*discordtest.Interaction{},
	}, o, ratings
}
