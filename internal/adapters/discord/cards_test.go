package discord

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// linkedSources are n sources in two categories, with links.
func linkedSources(n int) []chat.SourceGroup {
	groups := []chat.SourceGroup{{Category: "Documentation"}, {Category: "Runbooks"}}
	for i := range n {
		group := &groups[i*2/max(n, 1)]
		group.Sources = append(group.Sources, chat.Source{
			Numbers: []int{i + 1}, Title: fmt.Sprintf("Page %d", i+1), Owner: "Platform team", State: "live",
			Sections: []chat.Section{{Number: i + 1, Heading: "Overview", URL: fmt.Sprintf("https://docs.example.org/%d", i+1)}},
		})
	}
	return groups
}

// TestAllSourcesAreShownAsCards shows few sources, many, too many, and none.
func TestAllSourcesAreShownAsCards(t *testing.T) {
	for name, groups := range map[string][]chat.SourceGroup{
		"few": chattest.Answer().Sources, "many": linkedSources(11), "more": linkedSources(24), "too-many": linkedSources(60),
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, nil)
			answer := chattest.Answer()
			answer.Sources = groups
			w.bot.On("how do I roll back a release?", chattest.Says(answer))
			asked := w.Say(w.ann, w.general, bot+"how do I roll back a release?")
			w.wait(t)
			posted := w.byBot(asked.ID)
			w.Press(w.ben, posted[len(posted)-1].ID, "All sources")
			w.wait(t)
			w.clean(t)
			shown := w.ShowTo(w.general, w.ben)
			_, private, ok := strings.Cut(shown, "(only to Ben)")
			if !ok || strings.Contains(w.ShowTo(w.general, w.ann), "### Sources") {
				t.Fatalf("all see the sources, or Ben does not:\n%s", shown)
			}
			golden(t, "sources-"+name, private)
		})
	}
}

// TestSourcesAreAListWhereDiscordRefusesCards has Discord take no message of components alone.
func TestSourcesAreAListWhereDiscordRefusesCards(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("how do I roll back a release?", chattest.Says(chattest.Answer()))
	asked := w.Say(w.ann, w.general, bot+"how do I roll back a release?")
	w.wait(t)
	w.Fail("PATCH /webhooks/{webhook}/{token}/messages/{message}", discordtest.Fault{Status: 400})
	w.Press(w.ben, w.byBot(asked.ID)[0].ID, "All sources")
	w.wait(t)
	if shown := w.ShowTo(w.general, w.ben); !strings.Contains(shown, "▌ # Sources") || !strings.Contains(shown, "Runbook: failed releases") {
		t.Errorf("shown:\n%s", shown)
	}
}
