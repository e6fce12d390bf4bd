package discord

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// TestAnotherServerIsLeft has somebody add the app to a server of theirs, twice.
func TestAnotherServerIsLeft(t *testing.T) {
	w := newTeam(t, nil)
	mallory := w.Person("Mallory")
	for range 2 {
		other := w.Guild("Other")
		lobby := other.Channel("lobby")
		other.Join(mallory)
		w.settle(t)
		if w.adapter.servers.remembered.Load() == nil || slices.Contains(*w.adapter.servers.remembered.Load(), other.ID) {
			t.Errorf("the servers of the set-up are %v", w.adapter.servers.remembered.Load())
		}
		if _, err := w.adapter.Post(t.Context(), place{guild: other.ID, channel: lobby}.threadID(), "k", chat.Post{Reply: &chat.Reply{Text: "late"}}); err == nil {
			t.Error("a server that is not served can be posted in")
		}
	}
	left := 0
	for _, request := range w.Requests("DELETE /users/@me/guilds/{guild}") {
		if request.Status == 204 {
			left++
		}
	}
	if left != 2 || strings.Count(w.log.String(), "left a Discord server that is not on the list") != 2 {
		t.Errorf("%d servers were left", left)
	}
	for _, err := range w.feed.failed {
		t.Errorf("an event was not dealt with: %v", err)
	}
	// The team's own is served as before.
	w.Say(w.ann, w.general, bot+"one")
	w.wait(t)
	if len(w.bot.Messages()) != 1 {
		t.Error("the team's own server is not answered any more")
	}
}

// TestTheOwnerIsToldOnce has a server's owner hear why the bot leaves, or where they take no
// messages its channel for notices.
func TestTheOwnerIsToldOnce(t *testing.T) {
	for name, closed := range map[string]bool{"directly": false, "in the server": true} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, nil)
			w.Fail("DELETE /users/@me/guilds/{guild}", discordtest.Fault{Status: 500}, discordtest.Fault{Status: 500})
			other := w.Guild("Other")
			mallory, lobby := other.Member("Mallory"), other.Channel("lobby")
			other.Owned(mallory)
			other.Notices(lobby)
			if closed {
				w.CloseDMs(mallory)
			}
			w.settle(t)
			created := w.Events("GUILD_CREATE")
			for range 2 { // the gateway hands it over again
				if err := w.adapter.dispatcher.takeDispatch(t.Context(), gateway.Dispatch{Type: "GUILD_CREATE", Data: created[len(created)-1].Data}); err != nil {
					t.Log(err)
				}
			}
			if told := strings.Count(w.Show(w.DM(mallory))+w.Show(lobby), "I answer for my own team alone"); told != 1 {
				t.Errorf("told %d times\n%s%s", told, w.Show(w.DM(mallory)), w.Show(lobby))
			}
			if !closed {
				golden(t, "unserved", w.Show(w.DM(mallory)))
			}
		})
	}
}

// TestServersAreListed has the configuration name the servers.
func TestServersAreListed(t *testing.T) {
	w := newTeam(t, nil)
	options := w.adapter.options
	other := w.Guild("Other") // is left by the first process, which lists none
	w.settle(t)
	options.Servers = map[string][]string{w.guild.ID: {"handbook"}, other.ID: nil}
	second := w.process(t, options)
	for guild, want := range map[string]bool{w.guild.ID: true, other.ID: true, "12345": false} {
		if got, err := second.servers.isServed(t.Context(), guild); got != want || err != nil {
			t.Errorf("server %s: served is %v, %v", guild, got, err)
		}
	}
	// What the configuration gives to a server bounds what its people may choose.
	for name, test := range map[string]struct {
		chosen, want []string
		refused      string
	}{
		"nothing chosen": {nil, []string{"handbook"}, ""},
		"some of it":     {[]string{"handbook", "secrets"}, []string{"handbook"}, ""},
		"something else": {[]string{"secrets"}, nil, interact.RefusedCollections},
	} {
		if err := w.store.Put(t.Context(), settings.NewSpace(Name, w.guild.ID), "", settings.Setting{Collections: test.chosen}); err != nil {
			t.Fatal(err)
		}
		second = w.process(t, options) // which has read no setting yet
		got, err := second.dispatcher.admitRoles(t.Context(), w.guild.ID, "", nil)
		if err != nil || !slices.Equal(got.Setting.Collections, test.want) || got.Refusal != test.refused {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestTheFirstServerOfAnAppWithoutOne has an app be set up before it is added anywhere.
func TestTheFirstServerOfAnAppWithoutOne(t *testing.T) {
	w := newTeam(t, nil)
	options := w.adapter.options
	options.Settings, options.Gateway = newKept(t), &feed{}
	fresh := w.process(t, options)
	for guild, want := range map[string]bool{"1": true} {
		if err := fresh.servers.admitServer(t.Context(), guild); err != nil {
			t.Fatal(err)
		}
		if got, err := fresh.servers.isServed(t.Context(), guild); got != want || err != nil {
			t.Errorf("server %s: served is %v, %v", guild, got, err)
		}
	}
	another := w.process(t, options)
	if got, err := another.servers.isServed(t.Context(), "1"); !got || err != nil {
		t.Errorf("another process: served is %v, %v", got, err)
	}
	if got, err := another.servers.isServed(t.Context(), w.guild.ID); got || err != nil {
		t.Errorf("a second server: served is %v, %v", got, err)
	}
}

// TestDirectMessagesAreBoundByServers asks directly what somebody may ask in their servers.
func TestDirectMessagesAreBoundByServers(t *testing.T) {
	w := newTeam(t, nil)
	one, two := w.guild, w.Guild("Two")
	w.settle(t)
	options := w.adapter.options
	options.Servers = map[string][]string{one.ID: nil, two.ID: nil}
	role := one.Role("legal", 0)
	put := func(guild string, setting settings.Setting) {
		t.Helper()
		if err := w.store.Put(t.Context(), settings.NewSpace(Name, guild), "", setting); err != nil {
			t.Fatal(err)
		}
	}
	put(one.ID, settings.Setting{Askers: []string{role}, Collections: []string{"contracts"}})
	put(two.ID, settings.Setting{Collections: []string{"handbook"}})
	both, first, second, nowhere := w.Person("Both"), w.Person("First"), w.Person("Second"), w.Person("Nowhere")
	two.Rejoin()
	one.Join(both, role)
	two.Join(both)
	one.Join(first)
	two.Join(second)
	for name, test := range map[string]struct {
		who     string
		want    []string
		refused bool
	}{
		"of both":             {both, []string{"contracts", "handbook"}, false},
		"without the role":    {first, nil, true},
		"of the second alone": {second, []string{"handbook"}, false},
		"of none":             {nowhere, nil, true},
	} {
		got, err := w.process(t, options).dispatcher.admitDirectly(t.Context(), test.who)
		if err != nil || !slices.Equal(got.Setting.Collections, test.want) || (got.Refusal != "") != test.refused {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	put(two.ID, settings.Setting{Mode: settings.ModeOff})
	if got, err := w.process(t, options).dispatcher.admitDirectly(t.Context(), second); err != nil || got.Refusal == "" {
		t.Errorf("where the server is off: %+v, %v", got, err)
	}
}

// TestAPressIsForRunsOfItsPlace presses a button about a run of another channel, such as
// somebody may forge who has found a way to.
func TestAPressIsForRunsOfItsPlace(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("how do I roll back a release?", chattest.Says(chattest.Answer()))
	secret := w.guild.Channel("secret")
	w.Say(w.ann, secret, bot+"how do I roll back a release?")
	w.wait(t)
	for _, does := range []string{"why", "rate", "retry", "sources", "share", "human", "reason"} {
		thread := place{guild: w.guild.ID, channel: w.general, root: "1"}.threadID()
		reply := chat.Reply{Run: "run-1", Text: "a message with a button"}
		id, err := w.adapter.Post(t.Context(), thread, chat.PostKey("forged"+does), chat.Post{Reply: &reply})
		if err != nil {
			t.Fatal(err)
		}
		press := w.Press(w.ben, string(id), "Why")
		forged := strings.Replace(string(press.Payload), "why:run-1", does+":run-7f3a", 1)
		found, err := parseInteraction([]byte(forged))
		if err != nil || found.kind != kindPressed {
			t.Fatalf("%s: %+v, %v", does, found, err)
		}
		said := ""
		err = w.adapter.dispatcher.handlePress(t.Context(), &interact.Handler{Bot: w.bot}, found, func(_ context.Context, _ signal, first answer) error {
			said += first.Data.Content
			return nil
		})
		if err != nil || !strings.Contains(said, "not remembered") {
			t.Errorf("%s: about a run of another channel it said %q, %v", does, said, err)
		}
		w.wait(t)
	}
}

// TestPlacesAreAsDocumented holds the page about access against what Discord's places are.
func TestPlacesAreAsDocumented(t *testing.T) {
	w := newTeam(t, nil)
	forum := w.guild.Forum("questions")
	asked := w.Say(w.ann, w.general, bot+"one")
	w.wait(t)
	describe := func(at place) chat.Place {
		found, err := w.adapter.Place(t.Context(), at.threadID())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	guild := w.guild.ID
	chattest.CheckPlaceTable(t, "../../../docs/access.md", "Discord", map[string][]chat.Place{
		"channel, thread, forum post": {
			describe(place{guild: guild, channel: w.general, root: "1"}), describe(place{guild: guild, channel: asked.ID}),
			describe(place{guild: guild, channel: forum}),
		},
		"direct conversation, private answer": {
			describe(place{guild: directGuild, channel: w.DM(w.ann)}),
			describe(place{guild: guild, channel: w.general, root: "1", private: chat.UserID(w.ann)}),
		},
	})
}

// TestPlacesAndPeople tells who sees places, and who people are.
func TestPlacesAndPeople(t *testing.T) {
	w := newTeam(t, nil)
	role := w.guild.Role("legal", 0)
	secret := w.guild.Channel("secret")
	w.Overwrite(secret, w.guild.ID, 0, discordtest.ViewChannel)
	w.Overwrite(secret, role, discordtest.ViewChannel, 0)
	w.Overwrite(secret, discordtest.Bot, discordtest.ViewChannel, 0)
	w.guild.Join(w.ann, role)
	asked := w.Say(w.ann, w.general, bot+"one")
	w.wait(t)
	guild := w.guild.ID
	ann := chat.UserID(w.ann)
	for name, test := range map[string]struct {
		at   place
		want chat.Place
	}{
		"a channel":         {place{guild: guild, channel: w.general, root: "1"}, chat.Place{Channel: w.general, Team: guild, Open: true}},
		"a thread":          {place{guild: guild, channel: asked.ID}, chat.Place{Channel: w.general, Team: guild, Open: true}},
		"a closed channel":  {place{guild: guild, channel: secret, root: "1"}, chat.Place{Channel: secret, Team: guild}},
		"a private answer":  {place{guild: guild, channel: w.general, root: "1", private: ann}, chat.Place{Members: []chat.UserID{ann}, Complete: true}},
		"a direct one":      {place{guild: directGuild, channel: w.DM(w.ann)}, chat.Place{Members: []chat.UserID{ann}, Complete: true}},
		"an unknown thread": {place{guild: guild, channel: "77"}, chat.Place{Team: guild}},
		"another server":    {place{guild: "99", channel: w.general}, chat.Place{}},
	} {
		got, err := w.adapter.Place(t.Context(), test.at.threadID())
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, test.want)
		}
	}
	eve := w.Person("Eve")
	for name, at := range map[string]place{"in a channel": {guild: guild, channel: w.general, root: "1"}, "directly": {guild: directGuild, channel: w.DM(w.ann)}} {
		got, err := w.adapter.Identify(t.Context(), at.threadID(), []chat.UserID{ann, chat.UserID(w.ben), chat.UserID(eve)})
		want := []chat.Identity{
			{Name: "Ann", Groups: []string{role}, Channels: []string{w.general, secret}, Team: guild},
			{Name: "Ben", Channels: []string{w.general}, Team: guild}, {External: true},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}
