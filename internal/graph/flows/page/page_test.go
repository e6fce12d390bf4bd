package page_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// talk is a thread in which pages are worked on.
type talk struct {
	t       *testing.T
	flow    *page.Flow
	library *pages.Library
	store   *graphtest.Memory
	room    flows.Room
	runs    int
	waiting *graph.Question
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	library := pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))
	flow, err := page.New(page.Options{Library: library})
	if err != nil {
		t.Fatal(err)
	}
	return &talk{
		t: t, flow: flow, library: library, store: graphtest.NewMemory(),
		room: flows.Room{Thread: "slack:C1/1", Channel: "slack:C1", Author: "U1", Audience: "channel:slack:C1"},
	}
}

func (k *talk) runtime() flows.Runtime { return flows.Runtime{Store: k.store} }

// ask starts a run.
func (k *talk) ask(text string, before ...flows.Said) flows.Outcome {
	k.t.Helper()
	k.runs++
	return k.took(k.flow.Start(k.t.Context(), flows.Request{Run: k.run(), Text: text, Room: k.room, Before: before}, k.runtime()))
}

func (k *talk) run() string { return fmt.Sprintf("run-%d", k.runs) }

// choose answers the question that waits.
func (k *talk) choose(choice string) flows.Outcome {
	k.t.Helper()
	answer := graph.Answer{QuestionID: k.waiting.ID, Choice: choice}
	return k.took(k.flow.Resume(context.WithoutCancel(k.t.Context()), k.run(), []graph.Answer{answer}, k.runtime()))
}

func (k *talk) took(outcome flows.Outcome, err error) flows.Outcome {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
	k.waiting = outcome.Question
	return outcome
}

// want checks that a text holds others.
func (k *talk) want(outcome flows.Outcome, kind flows.Kind, texts ...string) {
	k.t.Helper()
	if outcome.Kind != kind {
		k.t.Fatalf("%s: %s", outcome.Kind, outcome.Text)
	}
	for _, text := range texts {
		if !strings.Contains(outcome.Text, text) {
			k.t.Fatalf("%q is not in: %s", text, outcome.Text)
		}
	}
}

// active is the page that is open, as Markdown.
func (k *talk) active() pages.Page {
	k.t.Helper()
	active, err := k.library.Active(k.t.Context(), pages.Place{Thread: k.room.Thread, Channel: k.room.Channel, Audience: k.room.Audience})
	if err != nil {
		k.t.Fatal(err)
	}
	return active
}

var blockLine = regexp.MustCompile("- `(n[a-z0-9]+)` (.*)")

// block is the id of the block with a text, as `page: show ids` tells it.
func (k *talk) block(text string) string {
	k.t.Helper()
	for _, found := range blockLine.FindAllStringSubmatch(k.ask("show ids").Text, -1) {
		if found[2] == text {
			return found[1]
		}
	}
	k.t.Fatalf("no block %q", text)
	return ""
}

func TestAPageIsWrittenInAThread(t *testing.T) {
	k := newTalk(t)
	k.want(k.ask("show"), flows.Abstained, "No page is open here", "`page: new`")
	made := k.ask("new Paid leave\n\nEvery employee has 27 days.\n\nAsk Maria.")
	k.want(made, flows.Answered, "**Paid leave** is a page now", "channel:slack:C1", "27 days")
	if len(made.Files) != 1 || !strings.HasPrefix(string(made.Files[0].Content), "# Paid leave\n\nEvery employee") {
		t.Errorf("%+v", made.Files)
	}
	k.want(k.ask("append - Plan early.\n- Tell your team."), flows.Asked, "+ - Plan early.", "+ - Tell your team.")
	k.want(k.choose("discard"), flows.Answered, "Discarded")
	k.want(k.ask("append Plan early."), flows.Asked, "+ Plan early.")
	k.want(k.choose("apply"), flows.Answered, "version 2", "`page: undo`")
	id := k.block("Every employee has 27 days.")
	k.want(k.ask("replace `"+id+"` Every employee has **28** days."), flows.Asked, "− Every employee has 27 days.", "+ Every employee has **28** days.")
	k.want(k.choose("apply"), flows.Answered, "version 3")
	k.want(k.ask("title Leave"), flows.Asked, "Paid leave → **Leave**")
	k.want(k.choose("apply"), flows.Answered, "**Leave** has version 4")
	k.want(k.ask("history"), flows.Answered, "- 4: page: title, by `U1`", "- 1: page: new")
	k.want(k.ask("undo"), flows.Answered, "Taken back: **Paid leave** is as in version 3, as version 5")
	k.want(k.ask("restore 1"), flows.Asked, "+ Every employee has 27 days.", "− Plan early.")
	k.want(k.choose("apply"), flows.Answered, "version 6")
	if got := k.active().Root.PlainText(); got != "Every employee has 27 days.\nAsk Maria." {
		t.Errorf("%q", got)
	}
	k.want(k.ask("restore 1"), flows.Answered, "changes nothing")
	k.want(k.ask("list"), flows.Answered, "**Paid leave**", "version 6")
	k.want(k.ask("snapshot"), flows.Abstained, "How is it to be called?")
	k.want(k.ask("snapshot before the review"), flows.Answered, "version 7")
	k.want(k.ask("history"), flows.Answered, "- 7: page: snapshot, by `U1`", "kept as “before the review”")
	k.want(k.ask("close"), flows.Answered, "No page is open")
	k.want(k.ask("append x"), flows.Abstained, "No page is open here")
	k.want(k.ask("open paid"), flows.Answered, "27 days")
	k.want(k.ask("delete"), flows.Asked, "can't be taken back")
	k.want(k.choose("apply"), flows.Answered, "is deleted")
	k.want(k.ask("open Paid leave"), flows.Abstained, "There is no such page")
}

func TestWhatCannotBeDoneIsSaid(t *testing.T) {
	k := newTalk(t)
	k.want(k.ask("new"), flows.Abstained, "needs a title")
	k.want(k.ask("new "+strings.Repeat("x", 300)), flows.Abstained, "longer than 200 letters")
	k.want(k.ask("undo"), flows.Abstained, "No page is open")
	k.ask("new Leave\ntext")
	k.want(k.ask("undo"), flows.Abstained, "Nothing was changed")
	k.want(k.ask("append"), flows.Abstained, "What is to be added?")
	k.want(k.ask("replace n00 x"), flows.Abstained, "it is not on the page")
	k.want(k.ask("restore x"), flows.Abstained, "Which version?")
	k.want(k.ask("restore 9"), flows.Abstained, "no such page or version")
	k.want(k.ask("title  "), flows.Abstained, "needs a title")
	k.want(k.ask("make it shorter"), flows.Abstained, "I need a language model", "`page: append`")
	k.want(k.ask("thread"), flows.Abstained, "no messages in this thread")
}

// TestAConflictIsAQuestion has somebody else change the same words while a change waits.
func TestAConflictIsAQuestion(t *testing.T) {
	for choice, want := range map[string]string{
		"ours": "It is 28 days.", "theirs": "It is 30 days.", "both": "It is 28 30 days.", "discard": "It is 28 days.",
	} {
		t.Run(choice, func(t *testing.T) {
			k := newTalk(t)
			k.ask("new Leave\nIt is 27 days.")
			id := k.block("It is 27 days.")
			k.ask("replace " + id + " It is 30 days.")
			late, run := k.waiting, k.runs
			k.ask("replace " + id + " It is 28 days.")
			k.choose("apply")
			k.waiting, k.runs = late, run
			k.want(k.choose("apply"), flows.Asked, "before  It is 27 days.", "there   It is 28 days.", "new     It is 30 days.")
			k.choose(choice)
			if got := k.active().Root.PlainText(); got != want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestChangesElsewhereAreMerged has somebody else change another block while a change waits.
func TestChangesElsewhereAreMerged(t *testing.T) {
	k := newTalk(t)
	k.ask("new Leave\nOne.\n\nTwo.")
	one, two := k.block("One."), k.block("Two.")
	k.ask("replace " + one + " First.")
	late, run := k.waiting, k.runs
	k.ask("replace " + two + " Second.")
	k.choose("apply")
	k.waiting, k.runs = late, run
	k.want(k.choose("apply"), flows.Answered, "version 3", "merged with 1 changes")
	if got := k.active().Root.PlainText(); got != "First.\nSecond." {
		t.Errorf("%q", got)
	}
}

func TestAPageFromAThread(t *testing.T) {
	k := newTalk(t)
	made := k.ask("write a page from this thread",
		flows.Said{Author: "Ada", Text: "Which database do we take? See https://example.com/db."},
		flows.Said{Author: "Bob", Text: "I like Postgres. Let's take it! *No* <script> [x](javascript:alert(1))"},
		flows.Said{Author: "Cairn", Text: "I am the bot.", Self: true})
	k.want(made, flows.Answered, "## Decisions", "- Let's take it! (2, Bob)", "## Questions", "- Which database do we take? (1, Ada)", "[https://example.com/db](https://example.com/db)", "**(2, Bob)** I like Postgres.")
	if strings.Contains(made.Text, "I am the bot") || !strings.Contains(made.Text, `\[x\](javascript`) {
		t.Errorf("%s", made.Text)
	}
}

// TestPagesOfOtherPlacesAreNotShown asks from another channel.
func TestPagesOfOtherPlacesAreNotShown(t *testing.T) {
	k := newTalk(t)
	k.ask("new Secret plans\ntext")
	id := k.active().ID
	k.room = flows.Room{Thread: "slack:C2/1", Channel: "slack:C2", Author: "U2", Audience: "channel:slack:C2"}
	k.want(k.ask("list"), flows.Answered, "no pages here")
	k.want(k.ask("open "+string(id)), flows.Abstained, "There is no such page")
}

// TestACrashAtEverySavePoint has the process die before, and after, each checkpoint is saved:
// the page is changed once, and the run comes to the same end.
func TestACrashAtEverySavePoint(t *testing.T) {
	for name, test := range map[string]struct {
		text, choice string
		versions     int
	}{
		"applied": {"append More.", "apply", 2}, "discarded": {"append More.", "discard", 1}, "titled": {"title Other", "apply", 2},
	} {
		for crash := 1; crash <= 4; crash++ {
			t.Run(fmt.Sprintf("%s %d", name, crash), func(t *testing.T) {
				k := newTalk(t)
				k.ask("new Leave\ntext")
				k.runs++
				store := &dyingStore{Store: k.store, left: crash}
				request := flows.Request{Run: k.run(), Text: test.text, Room: k.room}
				outcome, err := k.flow.Start(t.Context(), request, flows.Runtime{Store: store})
				var answers []graph.Answer
				for attempts := 0; err != nil || outcome.Kind == flows.Asked; attempts++ {
					if attempts == 10 {
						t.Fatalf("no end: %v, %+v", err, outcome)
					}
					if err == nil {
						answers = []graph.Answer{{QuestionID: outcome.Question.ID, Choice: test.choice}}
					}
					outcome, err = k.flow.Resume(t.Context(), k.run(), answers, flows.Runtime{Store: store})
					if errors.Is(err, graph.ErrNoCheckpoint) {
						outcome, err = k.flow.Start(t.Context(), request, flows.Runtime{Store: store})
					}
				}
				if outcome.Text == "" || store.left > 0 && test.versions == 2 && crash < 4 {
					t.Errorf("%d saves left, %+v", store.left, outcome)
				}
				if got := k.active().Version; got != test.versions {
					t.Errorf("version %d", got)
				}
			})
		}
	}
}

// dyingStore fails once, after it saved a checkpoint: nobody is told.
type dyingStore struct {
	graph.Store
	left int
}

var errDied = errors.New("the process died")

// Save implements graph.Store.
func (d *dyingStore) Save(ctx context.Context, run string, checkpoint []byte) error {
	err := d.Store.Save(ctx, run, checkpoint)
	if d.left--; d.left == 0 {
		return errors.Join(err, errDied)
	}
	return err
}

func FuzzReadCommand(f *testing.F) {
	for _, text := range []string{"new x\ny", "replace n1 text", "write a page from this thread", "append:", "TITLE x", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if read := page.ReadCommand(text); !strings.Contains(text, read.Rest) {
			t.Errorf("%q became %+v", text, read)
		}
	})
}
