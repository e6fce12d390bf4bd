package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// tabled is an answer with a table, between what leads to it and what follows.
func tabled() chat.Reply {
	reply := chattest.Answer()
	reply.Text = "The limits are:\n\n| Limit | Default | What it means |\n|---|--:|:-:|\n| `queue.maxDepth` | 1,200 | Jobs that wait [1] |\n" +
		"| `drain.grace` | 4 min | **Never** less than a minute [2] |\n| [more](https://docs.example/limits) | | <!channel> @here |\n\nBoth are set in `heron.yaml` [1]."
	return reply
}

// madeTable is Markdown of a table with a header and so many rows.
func madeTable(rows, columns int, cell string) string {
	line := "|" + strings.Repeat(" "+cell+" |", columns)
	return line + "\n|" + strings.Repeat("--|", columns) + "\n" + strings.Repeat(line+"\n", rows)
}

// TestTablesAreSlacksOwn: one in a message; further ones, and those that are beyond Slack's limits,
// are text in columns.
func TestTablesAreSlacksOwn(t *testing.T) {
	reply := tabled()
	golden(t, "table", seen(t, chat.Post{Reply: &reply}))
	for name, test := range map[string]struct {
		text           string
		own, asText, n int // tables of Slack's, tables set in columns, messages
	}{
		"one":                    {madeTable(3, 3, "c"), 1, 0, 1},
		"the most columns":       {madeTable(2, 20, "c"), 1, 0, 1},
		"too many columns":       {madeTable(2, 21, "c"), 0, 1, 1},
		"100 rows":               {madeTable(99, 1, "c"), 1, 0, 1},
		"101 rows":               {madeTable(100, 1, "c"), 0, 1, 1},
		"too much for a message": {madeTable(60, 6, "c"), 0, 1, 1},
		"two":                    {madeTable(3, 3, "c") + "\nand\n\n" + madeTable(2, 2, "c"), 1, 1, 1},
		"the second alone fits":  {madeTable(2, 21, "c") + "\nand\n\n" + madeTable(2, 2, "c"), 1, 1, 1},
		"in a list":              {"- a\n\n  " + strings.ReplaceAll(madeTable(2, 2, "c"), "\n", "\n  "), 1, 0, 1},
		"in a quote":             {"> " + strings.ReplaceAll(strings.TrimSpace(madeTable(2, 2, "c")), "\n", "\n> "), 0, 0, 1},
		"after much text":        {chattest.Long(7000) + "\n\n" + madeTable(20, 3, "cell"), 1, 0, 2},
	} {
		shown, err := renderPost(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: test.text}}, look{})
		if err != nil {
			t.Fatal(err)
		}
		own, asText := 0, 0
		for _, one := range shown.notes {
			for _, block := range one.blocks {
				switch block := block.(type) {
				case *slack.TableBlock:
					own++
				case *slack.RichTextBlock:
					for _, element := range block.Elements {
						if _, ok := element.(*slack.RichTextPreformatted); ok {
							asText++
						}
					}
				}
			}
		}
		if own != test.own || asText != test.asText || len(shown.notes) != test.n || len(shown.files) > 0 {
			t.Errorf("%s: %d tables of Slack's, %d as text, in %d messages and %d files", name, own, asText, len(shown.notes), len(shown.files))
		}
	}
}

// TestATableThatSlackRefusesIsText: what is posted, edited or shown to one person comes all the
// same, and other refusals are not taken for one of the table.
func TestATableThatSlackRefusesIsText(t *testing.T) {
	for name, of := range map[string]struct {
		method string
		show   func(w *team, thread chat.ThreadID, post chat.Post) error
	}{
		"posted": {"chat.postMessage", func(w *team, thread chat.ThreadID, post chat.Post) error {
			_, err := w.adapter.Post(t.Context(), thread, "k1", post)
			return err
		}},
		"edited": {"chat.update", func(w *team, thread chat.ThreadID, post chat.Post) error {
			other := chattest.Answer()
			id, err := w.adapter.Post(t.Context(), thread, "k1", chat.Post{Reply: &other})
			if err != nil {
				return err
			}
			return w.adapter.Edit(t.Context(), thread, id, post)
		}},
		"for one": {"chat.postEphemeral", func(w *team, thread chat.ThreadID, post chat.Post) error {
			post.Only = "U0ANN"
			_, err := w.adapter.Post(t.Context(), thread, "k1", post)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for fault, table := range map[string]bool{"invalid_blocks": true, "invalid_attachments": true, "msg_too_long": false} {
				w := newTeam(t, false)
				root := w.ann.Says(w.general, "", "what are the limits?")
				reply := tabled()
				w.Fail(of.method, slacktest.Fault{Error: fault})
				err := of.show(w, place{team: slacktest.Team, channel: w.general, root: root}.threadID(), chat.Post{Reply: &reply})
				if !table {
					if err == nil {
						t.Errorf("%s is no refusal of a table, and was tried again", fault)
					}
					continue
				}
				shown := w.Show(w.general)
				if err != nil || !strings.Contains(shown, "│ queue.maxDepth") || strings.Contains(shown, "║") || !strings.Contains(shown, "Both are set") {
					t.Errorf("%s: %v\n%s", fault, err, shown)
				}
			}
		})
	}
}

// TestAConversationWithTables has Ann and Ben told limits in a channel, in private and while the
// answer is made, and the table edited.
func TestAConversationWithTables(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("what are the limits?", answers(tabled()))
	w.bot.On("/cairn what are the limits?", answers(tabled()))
	root := w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> what are the limits?")
	w.clock.Advance(20 * time.Second)
	w.ann.Command(w.general, "/cairn", "what are the limits?")
	w.clock.Advance(20 * time.Second)
	w.ann.Presses(w.general, "Share in channel")
	w.clock.Advance(20 * time.Second)
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	draft, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-2", Thread: thread, To: chat.MessageID(root), Asker: "U0BEN"})
	if err != nil {
		t.Fatal(err)
	}
	reply := tabled()
	middle := strings.Index(reply.Text, "4 min")
	w.streams(t, draft, reply.Text[:middle], reply.Text[middle:])
	story := w.Show(w.general)
	id, err := draft.Finish(t.Context(), "k2", chat.Post{Reply: &reply})
	if err != nil {
		t.Fatal(err)
	}
	reply.Text = fmt.Sprintf("%s\n\n%s", strings.ReplaceAll(reply.Text, "1,200", "1,300"), madeTable(1, 2, "more"))
	if err := w.adapter.Edit(t.Context(), thread, id, chat.Post{Reply: &reply}); err != nil {
		t.Fatal(err)
	}
	w.clean(t)
	golden(t, "tables", story+"\n"+w.Show(w.general))
}
