package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// TestPagesInATeam has people write pages in Slack and in Discord, by buttons as well.
func TestPagesInATeam(t *testing.T) {
	for name, open := range map[string]func(*testing.T, flows.Flow) (chattest.Team, func(*testing.T) []chat.Rating){
		"Slack": openSlackTeam, "Discord": openDiscordTeam,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library := pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))
			flow, err := page.New(page.Options{Library: library, Address: "https://cairn.example.com"})
			if err != nil {
				t.Fatal(err)
			}
			team, _ := open(t, flow)
			writePages(t, team, library)
		})
	}
}

// writePages is what Ann and Ben do with a page.
func writePages(t *testing.T, team chattest.Team, library *pages.Library) {
	t.Helper()
	see := func(who chattest.Person, parts ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, part := range parts {
			if err := team.Await(ctx, func() bool { return strings.Contains(team.Seen(t, who), part) }); err != nil {
				t.Fatalf("%s never sees %q in:\n%s", who, part, team.Seen(t, who))
			}
		}
	}
	press := func(who chattest.Person, label string) {
		t.Helper()
		if !team.Press(t, who, label) {
			t.Fatalf("%s sees no button %q in:\n%s", who, label, team.Seen(t, who))
		}
	}
	team.Mention(t, chattest.Ann, "new Paid leave\n\nIt is 27 days.")
	see(chattest.Ben, "is a page now", "It is 27 days.")
	listed, err := library.List(t.Context(), pages.Place{})
	if err != nil || len(listed) != 1 {
		t.Fatalf("%v, %+v", err, listed)
	}
	id := listed[0].ID

	// A change is shown, and made once Ann applies it; Ben may not.
	team.Say(t, chattest.Ann, "append Plan early.")
	see(chattest.Ann, "+ Plan early.", "[Apply]", "[Discard]", "cairn.example.com/page/"+string(id))
	team.Press(t, chattest.Ben, "Apply")
	press(chattest.Ann, "Apply")
	see(chattest.Ben, "has version 2 now")
	team.Say(t, chattest.Ann, "append Never.")
	see(chattest.Ann, "+ Never.")
	press(chattest.Ann, "Discard")
	see(chattest.Ann, "Discarded")
	press(chattest.Ann, "Undo")
	see(chattest.Ann, "as in version 1, as version 3")

	// What somebody else changed in the same words meanwhile is a question.
	before, err := library.Load(t.Context(), pages.Place{}, id)
	if err != nil {
		t.Fatal(err)
	}
	block := before.Root.Children[0].ID
	team.Say(t, chattest.Ann, "replace "+block+" It is 30 days.")
	see(chattest.Ann, "+ It is 30 days.")
	changed, err := pages.Replace(before.Root, block, "It is 28 days.")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := library.Save(t.Context(), pages.Place{}, pages.Edit{Page: id, Base: before.Version, Root: changed, By: pages.Author{Name: "U9"}}); err != nil {
		t.Fatal(err)
	}
	press(chattest.Ann, "Apply")
	see(chattest.Ann, "Which of it holds?", "It is 28 days.", "[Take the new text]")
	press(chattest.Ann, "Take the new text")
	see(chattest.Ann, "has version 5 now")
	if after, err := library.Load(t.Context(), pages.Place{}, id); err != nil || after.Root.PlainText() != "It is 30 days." {
		t.Errorf("%v, %q", err, after.Root.PlainText())
	}

	// A page is made of what was said.
	team.Say(t, chattest.Ann, "thread Notes on leave")
	see(chattest.Ann, "Notes on leave", "What was said")
}
