package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

var digestDue = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// composeDigest is a digest that says which one it is.
func composeDigest(_ context.Context, digest bot.Digest) (chat.Reply, error) {
	if digest.Collection == "empty" {
		return chat.Reply{}, nil
	}
	return chat.Reply{
		Text:   "What `" + digest.Collection + "` lacked until " + digest.Due.UTC().Format(time.DateOnly) + ":\n\n- **1** · who owns billing?\n- **2** · how do I renew?",
		Topics: []string{"who owns billing?", "how do I renew?"},
	}, nil
}

// digestStory is a digest that two processes find due.
var digestStory = story{name: "a digest", then: func(f *front) {
	for range 2 {
		for _, collection := range []string{"docs", "empty"} {
			if err := bot.EnqueueDigest(f.t.Context(), f.queue, bot.Digest{Collection: collection, Thread: f.thread, Due: digestDue}); err != nil {
				f.t.Error(err)
			}
		}
	}
}}

// TestDigestInATeam has a digest posted in a channel, and a page drafted by its button in the thread.
func TestDigestInATeam(t *testing.T) {
	for name, open := range map[string]func(*testing.T, flows.Flow) (chattest.Team, *office, chat.ThreadID){
		"Slack": func(t *testing.T, flow flows.Flow) (chattest.Team, *office, chat.ThreadID) {
			t.Helper()
			team, o, _ := openSlackOffice(t, flow, func(options *bot.Options) { options.ComposeDigest = composeDigest })
			thread, err := slack.ChannelThread(chat.NewChannelID(slack.Name, slacktest.Team, team.general))
			if err != nil {
				t.Fatal(err)
			}
			return team, o, thread
		},
		"Discord": func(t *testing.T, flow flows.Flow) (chattest.Team, *office, chat.ThreadID) {
			t.Helper()
			team, o, _ := openDiscordOffice(t, flow, func(options *bot.Options) { options.ComposeDigest = composeDigest })
			thread, err := discord.ChannelThread(chat.NewChannelID(discord.Name, team.guild, team.general))
			if err != nil {
				t.Fatal(err)
			}
			return team, o, thread
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library := pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))
			flow, err := page.New(page.Options{Library: library, Search: searchBilling})
			if err != nil {
				t.Fatal(err)
			}
			team, o, thread := open(t, flow)
			readDigest(t, team, o.queue, thread)
			listed, err := library.List(t.Context(), pages.Place{})
			if err != nil || len(listed) != 1 || listed[0].Title != "who owns billing" {
				t.Errorf("%v, %+v", err, listed)
			}
		})
	}
}

func searchBilling(context.Context, retrieve.Query) (retrieve.Result, error) {
	return retrieve.Result{Evidence: []retrieve.Evidence{{
		Document: knowledge.Document{ID: "docs:billing.md", Title: "Billing"}, Passage: knowledge.Passage{Text: "Invoices are sent monthly."},
	}}}, nil
}

// readDigest is what Ann and Ben do with digests.
func readDigest(t *testing.T, team chattest.Team, queue runs.Queue, thread chat.ThreadID) {
	t.Helper()
	see := func(who chattest.Person, part string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := team.Await(ctx, func() bool { return strings.Contains(team.Seen(t, who), part) }); err != nil {
			t.Fatalf("%s never sees %q in:\n%s", who, part, team.Seen(t, who))
		}
	}
	enqueue := func(collection string, due time.Time) {
		t.Helper()
		if err := bot.EnqueueDigest(t.Context(), queue, bot.Digest{Collection: collection, Thread: thread, Due: due}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		enqueue("docs", digestDue)
	}
	see(chattest.Ben, "lacked until 2026-11-23")
	enqueue("empty", digestDue)
	enqueue("docs", digestDue.AddDate(0, 0, 7))
	see(chattest.Ben, "lacked until 2026-11-30")
	if seen := team.Seen(t, chattest.Ann); strings.Count(seen, "until 2026-11-23") != 1 || strings.Count(seen, "lacked") != 2 {
		t.Errorf("posted:\n%s", seen)
	}
	for _, who := range []chattest.Person{chattest.Ann, chattest.Ben} { // the second finds what the first drafted
		if !team.Press(t, who, "Draft a page: 1") {
			t.Fatalf("no button in:\n%s", team.Seen(t, who))
		}
		see(who, "Invoices are sent monthly.")
	}
}
