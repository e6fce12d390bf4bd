package discord

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
)

// TestAnEmptyThreadGoes has the threads of questions removed of which nothing is left.
func TestAnEmptyThreadGoes(t *testing.T) {
	for name, test := range map[string]struct {
		may    discordtest.Permissions // beside what the bot has
		others bool                    // somebody else has written in the thread
		want   string                  // the thread, as people see it
	}{
		"where the bot may delete threads": {may: discordtest.ManageThreads},
		"where it may not":                 {want: "thread: hello (archived)"},
		"with what somebody has said":      {may: discordtest.ManageThreads, others: true, want: "thread: hello --"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, nil)
			w.Overwrite(w.general, discordtest.Bot, test.may, 0)
			asked := w.Say(w.ann, w.general, bot+"hello")
			w.wait(t)
			answer := w.byBot(asked.ID)[0]
			if test.others {
				w.Say(w.ben, asked.ID, "I know that")
			}
			w.Delete(w.ann, asked.ID)
			w.wait(t)
			thread := place{guild: w.guild.ID, channel: asked.ID}.threadID()
			remove := func() {
				t.Helper()
				if err := w.adapter.RemoveEmptyThread(t.Context(), thread); err != nil {
					t.Error(err)
				}
			}
			remove()
			if shown := w.Show(w.general); !strings.Contains(shown, "You said: hello") || strings.Contains(shown, "archived") {
				t.Errorf("with the answer in it:\n%s", shown)
			}
			if err := w.adapter.Retract(t.Context(), thread, chat.MessageID(answer.ID)); err != nil {
				t.Fatal(err)
			}
			remove()
			shown := w.Show(w.general)
			if !strings.Contains(shown, test.want) || test.want == "" && strings.Contains(shown, "thread:") {
				t.Errorf("want %q:\n%s", test.want, shown)
			}
			remove() // again
		})
	}
}
