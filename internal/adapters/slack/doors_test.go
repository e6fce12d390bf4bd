package slack

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// TestUnlistedWorkspacesAreRefused has workspaces install the app of which none, one and every is
// listed.
func TestUnlistedWorkspacesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		teams []string
		says  string
		kept  int
	}{
		"another is listed":        {[]string{"T0OTHER"}, "This workspace is not listed", 0},
		"it is listed":             {[]string{"T0NEW"}, "Cairn was added", 1},
		"its enterprise is listed": {[]string{"E0BIG"}, "Cairn was added", 1},
		"everybody may":            {[]string{AnyTeam}, "Cairn was added", 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket(t)
			m.many.options.Teams = test.teams
			browser := m.browser(t)
			state := m.opens(t, browser).Get("state")
			status, page := m.get(t, browser, "/slack/oauth?"+url.Values{"state": {state}, "code": {m.Approve("T0NEW", "E0BIG")}}.Encode())
			if !strings.Contains(page, test.says) || (status == 200) != (test.kept > 0) {
				t.Errorf("%d %s", status, page)
			}
			m.store.mu.Lock()
			defer m.store.mu.Unlock()
			if len(m.store.kept) != test.kept {
				t.Errorf("%d installs are kept", len(m.store.kept))
			}
			if revoked := len(m.Calls("auth.revoke")); revoked != 1-test.kept {
				t.Errorf("%d tokens were given back", revoked)
			}
		})
	}
}

// TestAWorkspaceThatIsNotListedAnyMore has one that installed the app be taken off the list.
func TestAWorkspaceThatIsNotListedAnyMore(t *testing.T) {
	m := newMarket(t)
	if err := m.many.saveInstall(t.Context(), "T0OLD", install{Token: "xoxb-1", Bot: "U0BOT"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.many.Workspace(t.Context(), "T0OLD", ""); err != nil {
		t.Error(err)
	}
	m.many.options.Teams = []string{"T0NEW"}
	if _, err := m.many.Workspace(t.Context(), "T0OLD", ""); err == nil || !strings.Contains(err.Error(), "slack.teams") {
		t.Errorf("error %v", err)
	}
}

// TestAPressIsForRunsOfItsPlace presses buttons about runs of other channels and teams.
func TestAPressIsForRunsOfItsPlace(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("how do I roll back a release?", answers(chattest.Answer()))
	w.ann.Says(w.general, "", mentioning+"how do I roll back a release?")
	thread, err := w.bot.ThreadOf(t.Context(), "run-7f3a")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		at    place
		shown bool
	}{
		"there":           {place{team: slacktest.Team, channel: w.general, root: "1.2"}, true},
		"another channel": {place{team: slacktest.Team, channel: "C0SECRET", root: "1.2"}, false},
		"another team":    {place{team: "T0OTHER", channel: w.general, root: "1.2"}, false},
	} {
		if got := (signal{place: test.at, by: "U0BEN"}).isHere(thread); got != test.shown {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAdminsSetAChannel has an admin and somebody else use /cairn admin.
func TestAdminsSetAChannel(t *testing.T) {
	w := newTeam(t, false)
	w.adapter.options.Teams = map[string][]string{slacktest.Team: {"handbook", "legal"}}
	w.ben.MakeAdmin()
	w.Group("S0LEGAL", "U0ANN")
	w.ann.Command(w.general, "/cairn", "admin off")
	for _, command := range []string{"admin", "admin nonsense", "admin collections legal, secrets &amp; more", "admin askers <!subteam^S0LEGAL|@legal>", "admin mode loud", "admin show", "admin show workspace"} {
		w.ben.Command(w.general, "/cairn", command)
	}
	w.clock.Advance(10 * time.Second)
	w.ann.Says(w.general, "", mentioning+"one")
	w.clock.Advance(10 * time.Second)
	w.ben.Says(w.general, "", mentioning+"two")
	w.clock.Advance(10 * time.Second)
	if heard := w.bot.Messages(); len(heard) != 1 || !slices.Equal(heard[0].Collections, []string{"legal"}) {
		t.Errorf("heard %+v", heard)
	}
	got, err := w.store.Get(t.Context(), settings.NewSpace(Name, slacktest.Team), w.general)
	want := settings.Setting{Collections: []string{"legal", "secrets & more"}, Askers: []string{"S0LEGAL"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("put is %+v, %v", got, err)
	}
	w.clean(t)
	golden(t, "admin", w.Show(w.general))
}

// TestPlacesAreAsDocumented holds the page about access against what Slack's places are.
func TestPlacesAreAsDocumented(t *testing.T) {
	w := newTeam(t, false)
	secret, common := w.Private("G0SECRET", "secret"), w.Private("G0COMMON", "common")
	shared := w.Channel("C0SHARED", "shared")
	w.Share(shared)
	w.Share(common)
	for _, who := range []string{"U0ANN", "U0BEN"} {
		w.Invite(secret, who)
		w.Invite(common, who)
	}
	describe := func(at place) chat.Place {
		at.team = slacktest.Team
		found, err := w.adapter.Place(t.Context(), at.threadID())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	chattest.CheckPlaceTable(t, "../../../docs/access.md", "Slack", map[string][]chat.Place{
		"public channel":                              {describe(place{channel: w.general, root: "1.2"})},
		"private channel, group conversation":         {describe(place{channel: secret, root: "1.2"})},
		"public channel shared with another company":  {describe(place{channel: shared, root: "1.2"})},
		"private channel shared with another company": {describe(place{channel: common, root: "1.2"})},
		"direct conversation, answer to a command": {
			describe(place{channel: w.ann.DM(), root: "1.2"}), describe(place{channel: w.general, private: "U0BEN", request: "7"}),
		},
	})
}

// TestPlacesAndPeople tells who sees places, and who people are.
func TestPlacesAndPeople(t *testing.T) {
	w := newTeam(t, false)
	secret, shared := w.Private("G0SECRET", "secret"), w.Channel("C0SHARED", "shared")
	w.Share(shared)
	w.ann.Confirm("ann@example.com")
	w.Group("S0LEGAL", "U0ANN")
	gus, eve := w.Person("U0GUS", "Gus").MakeGuest(), w.Person("U0EVE", "Eve").From("T0OTHER")
	for _, who := range []string{"U0ANN", gus.ID} {
		w.Invite(secret, who)
	}
	for name, test := range map[string]struct {
		at   place
		want chat.Place
	}{
		"a public channel": {place{team: slacktest.Team, channel: w.general, root: "1.2"}, chat.Place{Channel: w.general, Team: slacktest.Team, Open: true}},
		"a shared channel": {place{team: slacktest.Team, channel: shared, root: "1.2"}, chat.Place{Channel: shared}},
		"a private channel": {place{team: slacktest.Team, channel: secret, root: "1.2"},
			chat.Place{Channel: secret, Team: slacktest.Team, Members: []chat.UserID{"U0ANN", "U0GUS"}, Complete: true}},
		"a direct one":       {place{team: slacktest.Team, channel: w.ann.DM(), root: "1.2"}, chat.Place{Members: []chat.UserID{"U0ANN"}, Complete: true}},
		"a command's answer": {place{team: slacktest.Team, channel: w.general, private: "U0BEN", request: "7"}, chat.Place{Members: []chat.UserID{"U0BEN"}, Complete: true}},
	} {
		got, err := w.adapter.Place(t.Context(), test.at.threadID())
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, test.want)
		}
	}
	thread := place{team: slacktest.Team, channel: w.general, root: "1.2"}.threadID()
	got, err := w.adapter.Identify(t.Context(), thread, []chat.UserID{"U0ANN", chat.UserID(gus.ID), chat.UserID(eve.ID), "U0NOBODY"})
	want := []chat.Identity{
		{Name: "Ann", Email: "ann@example.com", Groups: []string{"S0LEGAL"}, Team: slacktest.Team}, {Name: "Gus", Team: slacktest.Team, Guest: true},
		{Name: "Eve", Team: "T0OTHER", External: true}, {External: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, err = w.adapter.Identify(t.Context(), thread, []chat.UserID{"U0ANN"}); err != nil || !slices.Equal(got[0].Channels, []string{secret}) {
		t.Errorf("alone: got %+v, %v", got, err)
	}
}

// TestPeopleAreKnownWithoutOptionalScopes has a workspace refuse Cairn its user groups.
func TestPeopleAreKnownWithoutOptionalScopes(t *testing.T) {
	w := newTeam(t, false)
	w.ann.Confirm("ann@example.com")
	w.Group("S0LEGAL", "U0ANN")
	w.Fail("usergroups.list", slacktest.Fault{Error: "missing_scope"})
	thread := place{team: slacktest.Team, channel: w.general, root: "1.2"}.threadID()
	got, err := w.adapter.Identify(t.Context(), thread, []chat.UserID{"U0ANN", "U0BEN"})
	if err != nil || got[0].Email != "ann@example.com" || len(got[0].Groups) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
