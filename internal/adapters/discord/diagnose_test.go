package discord

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

func findings(found []Finding) string {
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%s: %s%v -> %s\n", f.What, f.Told, f.Problem, f.Remedy)
	}
	return out.String()
}

func TestDiagnosis(t *testing.T) {
	w := newTeam(t, nil)
	quiet := w.guild.Channel("quiet")
	w.Overwrite(quiet, w.guild.ID, 0, discordtest.Permissions(discordgo.PermissionSendMessagesInThreads|discordgo.PermissionAttachFiles))
	hidden := w.guild.Channel("hidden")
	w.Overwrite(hidden, w.guild.ID, 0, discordtest.Permissions(discordgo.PermissionViewChannel))
	got := findings(Diagnose(t.Context(), Diagnosis{Token: discordtest.Token, HearsAll: true, Gateway: true, Client: w.Client()}))
	golden(t, "diagnosis", got)
	got = findings(Diagnose(t.Context(), Diagnosis{Token: "wrong", Client: w.Client()}))
	golden(t, "diagnosis-token", got)
}

// TestTheIntentIsReviewedInManyServers adds the app to one server after another.
func TestTheIntentIsReviewedInManyServers(t *testing.T) {
	for name, test := range map[string]struct {
		granted, asked bool
		servers        int
		want           string
	}{
		"few servers":  {true, true, reviewFrom - 1, "message content: follow-ups need no mention"},
		"many servers": {true, true, reviewFrom, "from 100 on Discord grants the intent after a review alone"},
		"not asked":    {true, false, reviewFrom, "from 100 on Discord grants the intent after a review alone"},
		"not granted":  {false, true, reviewFrom, "the app lacks the MESSAGE CONTENT intent"},
	} {
		server := discordtest.New(t, discordtest.Options{MessageContent: test.granted, Limits: discordtest.NoLimits()})
		for range test.servers {
			server.Guild("Team")
		}
		found := Diagnose(t.Context(), Diagnosis{Token: discordtest.Token, HearsAll: test.asked, Client: server.Client()})
		at := slices.IndexFunc(found, func(f Finding) bool { return f.What == "message content" })
		if at < 0 || !strings.Contains(findings(found[at:at+1]), test.want) {
			t.Errorf("%s: %s", name, findings(found))
		}
	}
}

func TestEndpointDiagnosis(t *testing.T) {
	w := newTeam(t, nil)
	options := w.adapter.options
	options.Gateway, options.PublicKey = nil, w.PublicKey()
	for name, test := range map[string]struct {
		handler http.Handler
		well    bool
	}{
		"Cairn":          {w.process(t, options).Handler(), true},
		"something else": {http.NotFoundHandler(), false},
	} {
		app := httptest.NewServer(test.handler)
		found := Diagnose(t.Context(), Diagnosis{Token: discordtest.Token, URL: app.URL, Client: w.Client()})
		app.Close()
		at := slices.IndexFunc(found, func(f Finding) bool { return f.What == "interactions endpoint" })
		if at < 0 || (found[at].Problem == nil) != test.well {
			t.Errorf("%s: %s", name, findings(found))
		}
	}
}

func TestInvite(t *testing.T) {
	to, err := url.Parse(Invite("123"))
	if err != nil || to.Query().Get("client_id") != "123" || to.Query().Get("permissions") != "309237763136" || to.Query().Get("scope") != "bot applications.commands" {
		t.Errorf("the link is %s, %v", to, err)
	}
}

func TestCommandsAreRegisteredOnce(t *testing.T) {
	w := newTeam(t, nil)
	if changed, err := Register(t.Context(), w.Client(), discordtest.Token); changed || err != nil {
		t.Errorf("registered again: %v, %v", changed, err)
	}
	names, current, err := Registered(t.Context(), w.Client(), discordtest.Token)
	if len(names) != 4 || !current || err != nil {
		t.Errorf("registered are %v, %v, %v", names, current, err)
	}
}
