package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// guild is a team that talks to the real program in a fake Discord, with Redis and
// PostgreSQL beside it.
type guild struct {
	*discordtest.Server
	program
	ann, ben string
	general  string
}

// newGuild has the documents read. mode is how events come.
func newGuild(t *testing.T, mode string) *guild {
	t.Helper()
	t.Parallel() // it waits more than it works
	g := &guild{Server: discordtest.New(t, discordtest.Options{MessageContent: true, Limits: discordtest.NoLimits()}), program: program{t: t}}
	team := g.Guild("Team")
	g.ann, g.ben, g.general = team.Member("Ann"), team.Member("Ben"), team.Channel("general")
	g.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(),
		"CAIRN_REDIS_URL="+servertest.Redis(t), "CAIRN_POSTGRES_URL="+servertest.Postgres(t), "CAIRN_LOG_LEVEL=debug",
		"CAIRN_DISCORD_MODE="+mode, "CAIRN_DISCORD_LISTEN=127.0.0.1:0", "CAIRN_DISCORD_API_URL="+g.URL(),
		"CAIRN_DISCORD_TOKEN="+discordtest.Token, "CAIRN_DISCORD_PUBLIC_KEY="+g.PublicKey(), "CAIRN_DISCORD_MESSAGE_CONTENT=true",
		"CAIRN_DISCORD_HUMANS="+g.ben)
	g.readHandbook()
	return g
}

// toldOfDiscord are the lines by which the program says that it takes events.
var toldOfDiscord = regexp.MustCompile(`(?:Listening to Discord at (\S+)|Connecting to Discord)`)

// serve starts `cairn serve` and waits until Discord reaches it.
func (g *guild) serve(args ...string) *process {
	g.t.Helper()
	p := g.start(toldOfDiscord, args...)
	if p.address != "" {
		if err := g.Endpoint(p.address); err != nil {
			g.t.Fatal(err)
		}
		return p
	}
	g.until(g.general, "a connection to the gateway", func() bool { return len(g.Gateway().State().Connected) > 0 })
	return p
}

func (g *guild) until(channel, what string, seen func() bool) {
	g.t.Helper()
	if !g.wait(seen) {
		g.t.Fatalf("never seen in %s: %s\n%s", channel, what, g.Show(g.general))
	}
}

// messages are those of a channel, or of a thread once it is there.
func (g *guild) messages(channel string) []discordtest.Message {
	if channel != g.general && !slices.Contains(g.Threads(g.general), channel) {
		return nil
	}
	return g.Messages(channel)
}

// shows waits until the bot's last message in a channel or thread holds a text.
func (g *guild) shows(channel, text string) {
	g.t.Helper()
	g.until(channel, text, func() bool { return strings.Contains(g.last(channel), text) })
}

func (g *guild) last(channel string) string {
	said := ""
	for _, message := range g.messages(channel) {
		if message.Author == discordtest.Bot && !message.Deleted {
			said = message.Content + string(message.Embeds) + string(message.Components)
		}
	}
	return said
}

// answers counts what the bot said and did not take back.
func (g *guild) answers(channel string) int {
	said := 0
	for _, message := range g.messages(channel) {
		if message.Author == discordtest.Bot && !message.Deleted && message.Only == "" {
			said++
		}
	}
	return said
}

const calledInDiscord = "<@" + discordtest.Bot + "> "

// TestDiscordEndToEnd is a working day: what people do in Discord, and what becomes of it.
func TestDiscordEndToEnd(t *testing.T) {
	g := newGuild(t, "gateway")
	g.Overwrite(g.general, discordtest.Bot, discordtest.ManageThreads, 0) // the thread of what is deleted goes
	first := g.serve()
	root := g.Say(g.ann, g.general, calledInDiscord+"where do I get a laptop?").ID
	g.shows(root, room12)

	// A question needs an answer, which is given to another process.
	g.Say(g.ann, root, "how long do we keep invoices of this vendor?")
	g.shows(root, "this vendor")
	first.end(syscall.SIGTERM)
	second := g.serve()
	g.Say(g.ann, root, "the vendor of phones")
	g.shows(root, "kept for ten years")

	// A follow-up needs no mention; what people say to each other is not answered.
	said := g.answers(root)
	g.Say(g.ben, root, "<@"+g.ann+"> lunch?")
	g.Say(g.ann, root, "and how many days of leave do I get?")
	g.shows(root, "28 days of leave")
	if now := g.answers(root); now != said+1 {
		t.Errorf("%d answers to one question\n%s", now-said, g.Show(g.general))
	}

	// An edit changes the answer in its place, a deletion takes it back.
	asked := g.Say(g.ann, g.general, calledInDiscord+"where do I get a laptop?").ID
	g.shows(asked, room12)
	g.Edit(g.ann, asked, calledInDiscord+"how many days of leave do I get?")
	g.shows(asked, "28 days of leave")
	g.Delete(g.ann, asked)
	g.until(asked, "the answer is taken back", func() bool { return g.answers(asked) == 0 })

	// What is stopped while it waits is over.
	again := g.Say(g.ann, g.general, calledInDiscord+"where do I get a laptop?").ID
	g.shows(again, room12)
	g.Say(g.ann, again, "how long do we keep invoices of this vendor?")
	g.shows(again, "this vendor")
	g.Say(g.ann, again, "never mind")
	g.shows(again, "leave it there")

	// A command may be answered to one person.
	private := g.Slash(g.ann, g.general, "cairn ask", discordtest.Option{Name: "question", Value: "where do I get a laptop?"},
		discordtest.Option{Name: "private", Value: "true"})
	g.until(g.general, "the command's answer", func() bool {
		answer, ok := private.Original()
		return ok && answer.Only == g.ann && strings.Contains(answer.Content, room12)
	})
	second.end(syscall.SIGTERM)
	for _, request := range g.Refused() {
		t.Errorf("%s %s was refused with %d: %s", request.Method, request.Path, request.Status, request.Reason)
	}
	g.isUnsaid([]*process{first, second}, discordtest.Token)
}

// TestDiscordOverHTTP asks by commands, which are all that comes over HTTP.
func TestDiscordOverHTTP(t *testing.T) {
	g := newGuild(t, "http")
	p := g.serve()
	asked := g.Slash(g.ann, g.general, "cairn ask", discordtest.Option{Name: "question", Value: "where do I get a laptop?"})
	g.until(g.general, "an answer", func() bool {
		answer, ok := asked.Original()
		return ok && strings.Contains(answer.Content, room12)
	})
	p.end(syscall.SIGTERM)
	g.isUnsaid([]*process{p}, discordtest.Token)
}

// TestAKilledProcessAnswersOnceInDiscord kills the program between a post and its
// confirmation.
func TestAKilledProcessAnswersOnceInDiscord(t *testing.T) {
	g := newGuild(t, "gateway")
	first := g.serve()
	root := g.Say(g.ann, g.general, calledInDiscord+"echo one").ID
	g.shows(root, "Helpful") // before, the answer is a draft
	g.Fail("POST /channels/{channel}/messages", discordtest.Fault{Done: true, Hang: true})
	g.Say(g.ann, root, "echo first words")
	g.shows(root, "first words") // it is there, and the program does not know
	first.end(syscall.SIGKILL)
	second := g.serve()
	g.Say(g.ann, root, "echo next words")
	g.shows(root, "next words")
	second.end(syscall.SIGTERM)
	if got := g.answers(root); got != 3 {
		t.Errorf("%d answers to three messages\n%s", got, g.Show(g.general))
	}
}

// TestAReplicaTakesOver kills the replica that has the gateway: the other one goes on with
// its session, and answers what was said meanwhile.
func TestAReplicaTakesOver(t *testing.T) {
	g := newGuild(t, "gateway")
	first := g.serve()
	root := g.Say(g.ann, g.general, calledInDiscord+"echo one").ID
	g.shows(root, "one")
	second := g.start(toldOfDiscord)
	first.end(syscall.SIGKILL)
	killed := time.Now()
	g.Say(g.ann, root, "echo two")
	g.Say(g.ann, root, "echo three")
	g.shows(root, "three")
	t.Logf("answered %s after the kill", time.Since(killed).Round(time.Millisecond))
	second.end(syscall.SIGTERM)
	if got := g.answers(root); got != 3 {
		t.Errorf("%d answers to three messages\n%s", got, g.Show(g.general))
	}
	if state := g.Gateway().State(); len(state.Identify) != 1 || len(state.Resume) != 1 || len(state.Refused) > 0 {
		t.Errorf("the gateway saw %+v", state)
	}
}

// TestDoctorKnowsDiscord has the doctor look at an app that lacks an intent, and at a wrong
// token.
func TestDoctorKnowsDiscord(t *testing.T) {
	g := newGuild(t, "gateway")
	p := g.serve()
	said := g.examines(false)
	for _, want := range []string{"✓ bot token: Cairn", "✓ message content", "✓ commands: /", "✓ gateway", "✓ permissions"} {
		if !strings.Contains(said, want) {
			t.Errorf("all is well, and %q is not said:\n%s", want, said)
		}
	}
	p.end(syscall.SIGTERM)
	out, err := g.command("discord", "commands").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "They are this program's.") {
		t.Errorf("commands: %v\n%s", err, out)
	}
	out, err = g.command("discord", "invite").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "client_id="+discordtest.AppID) {
		t.Errorf("invite: %v\n%s", err, out)
	}
	g.env = append(g.env, "CAIRN_DISCORD_TOKEN=very-wrong")
	if said = g.examines(true); !strings.Contains(said, "Reset Token") || strings.Contains(said, "very-wrong") {
		t.Errorf("a wrong token:\n%s", said)
	}
}

// TestAnOverviewComesAsAFile has Ann ask for an overview of what stands in a file that she
// sent before.
func TestAnOverviewComesAsAFile(t *testing.T) {
	g := newGuild(t, "gateway")
	p := g.serve()
	root := g.Upload(g.ann, g.general, calledInDiscord+"echo keep this", discordtest.File{
		Name: "ledger.md", Content: []byte("# Ledger\n\nThe ledger is a service that keeps every booking. It writes each booking to PostgreSQL.\n"),
	}).ID
	g.shows(root, "keep this")
	g.Say(g.ann, root, "build_context: Ledger")
	g.shows(root, "ledger_context.md")
	// An analysis that was made before is part of the next overview.
	g.Say(g.ann, root, "analyze: what is missing?")
	g.shows(root, "Draft 1 of the analysis")
	g.Say(g.ann, root, "looks good")
	g.shows(root, "missing_analysis.md")
	g.Say(g.ann, root, "build_context: Ledger")
	g.until(root, "an overview of what was made, too", func() bool {
		return strings.Count(g.Show(root), "ledger_context.md") > 1 && strings.Contains(g.last(root), "missing_analysis.md")
	})
	p.end(syscall.SIGTERM)
	found := false
	for _, message := range g.Messages(root) {
		for _, file := range message.Attachments {
			found = found || strings.Contains(string(g.Content(file.ID)), "The ledger is a service that keeps every booking.")
		}
	}
	if !found {
		t.Errorf("no file has the overview\n%s", g.Show(g.general))
	}
}
