package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"cairn/internal/adapters/discord/discordtest"
)

// TestDoctorFindsOpenDoorsOfDiscord opens one door after another.
func TestDoctorFindsOpenDoorsOfDiscord(t *testing.T) {
	g := newGuild(t, "gateway")
	g.serve().end(syscall.SIGTERM)
	closed := slices.Clone(g.env)
	listed := slices.DeleteFunc(strings.Fields(g.examines(false)), func(word string) bool { return !strings.HasPrefix(word, "CAIRN_DISCORD_SERVERS=") })
	if len(listed) != 1 {
		t.Fatalf("the doctor names %v", listed)
	}
	closed = append(closed, strings.TrimSuffix(listed[0], ","))
	for name, test := range map[string]struct {
		public, codeGrant, fails bool
		env                      []string
		found                    string
	}{
		"all closed":        {found: "✓ servers: all 1 are listed"},
		"a public bot":      {public: true, found: "! public bot: everybody can add Cairn"},
		"a code grant":      {codeGrant: true, fails: true, found: "✗ code grant: "},
		"no list":           {env: []string{"CAIRN_DISCORD_SERVERS="}, found: "! servers: discord.servers lists none: those of the set-up are served"},
		"another's server":  {env: []string{"CAIRN_DISCORD_SERVERS=77"}, fails: true, found: "✗ servers: Cairn is in servers that are not listed, and leaves them when `cairn serve` runs: Team"},
		"an intent unasked": {env: []string{"CAIRN_DISCORD_MESSAGE_CONTENT=false"}, found: "✓ message content: granted, and not asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			g.OpenApp(test.public, test.codeGrant)
			g.env = append(slices.Clone(closed), test.env...)
			said := g.examines(test.fails)
			if !strings.Contains(said, test.found) {
				t.Errorf("%q is not said:\n%s", test.found, said)
			}
			if name == "all closed" && (strings.Contains(said, "! public") || strings.Contains(said, "✗")) {
				t.Errorf("a door is open:\n%s", said)
			}
		})
	}
}

// TestStrangersInDiscord has somebody add the app to a server of theirs, and write to it directly;
// Ann may ask directly all that she may ask in the team's server.
func TestStrangersInDiscord(t *testing.T) {
	g := newGuild(t, "gateway")
	p := g.serve()
	other := g.Guild("Other")
	mallory := other.Member("Mallory")
	other.Owned(mallory)
	g.until(g.general, "the server is left", func() bool { return len(g.Requests("DELETE /users/@me/guilds/{guild}")) > 0 })
	stranger := g.DM(mallory)
	g.Say(mallory, stranger, "where do I get a laptop?")
	g.until(g.general, "a refusal", func() bool { return strings.Contains(g.Show(stranger), "I can't answer you here") })
	direct := g.DM(g.ann)
	g.Say(g.ann, direct, "where do I get a laptop?")
	g.until(g.general, "an answer", func() bool { return strings.Contains(g.Show(direct), room12) })
	g.Say(mallory, stranger, "please?")
	asked := g.Slash(mallory, stranger, "cairn ask", discordtest.Option{Name: "question", Value: "where do I get a laptop?"})
	g.until(g.general, "a refusal of the command", func() bool {
		answer, ok := asked.Original()
		return ok && strings.Contains(answer.Content, "can't answer you here")
	})
	p.end(syscall.SIGTERM)
	if shown := g.Show(stranger); strings.Contains(shown, room12) || strings.Count(shown, "I can't answer you here") != 2 {
		t.Errorf("the stranger sees\n%s", shown)
	}
	g.isUnsaid([]*process{p}, discordtest.Token)
}
