package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/audit"
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

// TestDoctorFindsOpenDoorsOfSlack opens one door after another.
func TestDoctorFindsOpenDoorsOfSlack(t *testing.T) {
	o := newOffice(t, "http")
	p := o.serve()
	o.env = append(o.env, "CAIRN_SLACK_URL="+p.address)
	single := slices.Clone(o.env)
	many := append(slices.Clone(single), "CAIRN_SLACK_BOT_TOKEN=", "CAIRN_SLACK_CLIENT_ID="+slacktest.ClientID,
		"CAIRN_SLACK_CLIENT_SECRET="+slacktest.ClientSecret, "CAIRN_SLACK_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	for name, test := range map[string]struct {
		env   []string
		fails bool
		found []string
	}{
		"all closed": {single, false, []string{"✓ workspaces: the one that the bot token is of", "✓ guests: refused", "✓ external people: refused"}},
		"guests":     {append(slices.Clone(single), "CAIRN_SLACK_GUESTS=true"), false, []string{"! guests: ", "set slack.guests to false"}},
		"external":   {append(slices.Clone(single), "CAIRN_SLACK_EXTERNAL=true"), false, []string{"! external people: ", "set slack.external to false"}},
		"many":       {append(slices.Clone(many), "CAIRN_SLACK_TEAMS="+slacktest.Team), false, []string{"✓ workspaces: 1 are listed"}},
		"no list":    {many, true, []string{"✗ workspaces: slack.teams lists none"}},
		"everybody":  {append(slices.Clone(many), "CAIRN_SLACK_TEAMS=*"), true, []string{"✗ workspaces: everybody can install Cairn"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.env = test.env
			said := o.examines(test.fails)
			for _, want := range test.found {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not said:\n%s", want, said)
				}
			}
		})
	}
	p.end(syscall.SIGTERM)
}

// TestStrangersInSlack has a guest and somebody of another company ask in a channel, twice each;
// then an admin turns a channel to one collection, and off, while the program runs.
func TestStrangersInSlack(t *testing.T) {
	o := newOffice(t, "http")
	o.Share(o.general)
	gus, eve := o.Person("U0GUS", "Gus").MakeGuest(), o.Person("U0EVE", "Eve").From("T0OTHER")
	p := o.serve()
	for range 2 {
		gus.Says(o.general, "", mention+"where do I get a laptop?")
		eve.Says(o.general, "", mention+"where do I get a laptop?")
	}
	gus.Command(o.general, "/cairn", "where do I get a laptop?")
	gus.OpensHome()
	root := o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.shows(root, room12)
	shown := o.Show(o.general)
	for line, want := range map[string]int{"not guests": 2, "not people of other companies": 1} { // a command is answered by itself
		if got := strings.Count(shown, line); got != want {
			t.Errorf("%q is said %d times, want %d\n%s", line, got, want, shown)
		}
	}
	if o.answers(o.general) != 1 {
		t.Errorf("strangers are answered\n%s", shown)
	}
	if home := string(o.Home(gus.ID)); !strings.Contains(home, "not guests") || strings.Contains(home, "What Cairn knows") {
		t.Errorf("a guest's home tab is %s", home)
	}
	// Ann is no admin; Ben is.
	o.ann.Command(o.general, "/cairn", "admin off")
	o.ben.MakeAdmin()
	second := o.serve() // knows Ben as he is now, and what is set from then on
	o.ben.Command(o.general, "/cairn", "admin off")
	o.ann.Command(o.general, "/cairn", "where do I get a laptop?")
	o.until("the command is refused", func() bool { return strings.Contains(o.Show(o.general), "I am off in this channel") })
	if shown := o.Show(o.general); strings.Count(shown, "that takes an admin") != 1 || !strings.Contains(shown, "Cairn is off") {
		t.Errorf("the admin's commands show\n%s", shown)
	}
	p.end(syscall.SIGTERM)
	second.end(syscall.SIGTERM)
	if want := `"action":"` + string(audit.ChangeSetting) + `","target":"slack workspace ` + slacktest.Team + ` channel ` + o.general + `: off"`; strings.Count(p.String()+second.String(), want) != 2 {
		t.Errorf("%s is not twice in the audit log", want)
	}
}
