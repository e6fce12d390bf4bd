package bot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// newPinboard is an agency whose documents ann looks after, and whose first flow gives pinned answers.
func newPinboard(t *testing.T) (*agency, curated.Store) {
	t.Helper()
	o := newAgency(t)
	store := curated.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
	finder := curated.NewFinder(curated.Options{Store: store, Index: o.reader, Now: time.Now})
	o.flows[0] = curated.NewFlow(o.flows[0], finder, quietLogger)
	resolver, _ := o.access.(*access.Resolver)
	source := documentSource(t, o)
	o.curation = &bot.Curation{
		Store: store, Keep: 180 * 24 * time.Hour, Identify: resolver.Identify,
		Owners: access.Owners{Collections: map[knowledge.SourceID][]knowledge.Principal{source: {"user:ann@example.com"}}},
	}
	return o, store
}

// documentSource is the collection of the agency's documents.
func documentSource(t *testing.T, o *agency) knowledge.SourceID {
	t.Helper()
	for document, err := range o.index.Documents(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		return document.Source
	}
	t.Fatal("there is no document")
	return ""
}

// lastAnswer is the last reply of the thread.
func (f *front) lastAnswer() chat.Reply {
	f.t.Helper()
	for _, turn := range slices.Backward(f.turns()) {
		if turn.Reply != nil {
			return *turn.Reply
		}
	}
	f.t.Fatal("nothing was answered")
	return chat.Reply{}
}

func TestAnOwnerPinsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, store := newPinboard(t)
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann", "bob")
		room.tell("what is the salary")
		room.quiet()
		first := room.lastAnswer()
		if !slices.Equal(first.Actions, []chat.Action{chat.PinAnswer}) {
			t.Fatalf("the answer offers %q", first.Actions)
		}
		pins := room.bot.Curator()
		by := func(user chat.UserID) chat.Reader { return chat.Reader{Adapter: "platform", User: user} }
		refused, ok := errors.AsType[*chat.PinError](second(pins.PinAnswer(t.Context(), first.Run, by("bob"), chat.PinDraft{})))
		if !ok || !strings.Contains(refused.Text, "look after the collections") {
			t.Errorf("bob pins: %v", refused)
		}
		pinned, err := pins.PinAnswer(t.Context(), first.Run, by("ann"), chat.PinDraft{})
		if err != nil || pinned.Question != "what is the salary" {
			t.Fatalf("ann pins: %+v, %v", pinned, err)
		}
		started := o.flow.started
		other := o.front("platform", "2")
		other.tell("What's the salary?")
		other.quiet()
		given := other.lastAnswer()
		if o.flow.started != started || given.Text != first.Text || !strings.HasPrefix(given.Note, "📌 Pinned, just now") || len(given.Sources) != 1 {
			t.Errorf("given: %+v", given)
		}
		if !slices.Equal(given.Actions, []chat.Action{chat.UnpinAnswer}) {
			t.Errorf("the pinned answer offers %q", given.Actions)
		}
		o.put("open", "salary: twelve", "user:ann@example.com") // it rests on this
		closed := o.front("platform", "3")
		closed.tell("what is the salary")
		closed.quiet()
		if got := closed.lastAnswer(); strings.Contains(got.Text, "twelve") || strings.Contains(got.Note, "Pinned") {
			t.Errorf("bob, who may not read the document any more, is told %q", got.Text)
		}
		if _, err := pins.UnpinAnswer(t.Context(), given.Run, by("ann")); err != nil {
			t.Errorf("unpin: %v", err)
		}
		other.tell("/cairn pin " + string(first.Run)) // of another thread
		other.quiet()
		wantReply(t, other.replies(), []string{"not remembered"})
		if left, err := store.List(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("left: %+v, %v", left, err)
		}
	})
}

func TestAnAnswerIsEditedBeforeItIsPinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, store := newPinboard(t)
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann", "bob")
		room.tell("what is the salary")
		room.quiet()
		pins, answer := room.bot.Curator(), room.lastAnswer()
		by := func(user chat.UserID) chat.Reader { return chat.Reader{Adapter: "platform", User: user} }
		if _, ok := errors.AsType[*chat.PinError](second(pins.DraftPin(t.Context(), answer.Run, by("bob")))); !ok {
			t.Error("bob may edit it")
		}
		draft, err := pins.DraftPin(t.Context(), answer.Run, by("ann"))
		if err != nil || draft != (chat.PinDraft{Question: "what is the salary", Text: answer.Text}) {
			t.Fatalf("to edit is %+v, %v", draft, err)
		}
		refused, _ := errors.AsType[*chat.PinError](second(pins.PinAnswer(t.Context(), answer.Run, by("ann"), chat.PinDraft{Text: strings.Repeat("x", curated.MaxText+1)})))
		if refused == nil || !strings.HasPrefix(refused.Text, "Nothing was pinned: the answer is longer") {
			t.Errorf("a long answer: %v", refused)
		}
		if _, err := pins.PinAnswer(t.Context(), answer.Run, by("ann"), chat.PinDraft{Text: " Thirteen, since May. [1]\n"}); err != nil {
			t.Fatal(err)
		}
		other := o.front("platform", "2")
		other.tell("What's the salary?")
		other.quiet()
		if given := other.lastAnswer(); given.Text != "Thirteen, since May. [1]" || len(given.Sources) != 1 {
			t.Errorf("given: %+v", given)
		}
		if all, err := store.List(t.Context()); err != nil || len(all) != 1 || all[0].Run != answer.Run || len(all[0].RestsOn) == 0 {
			t.Errorf("pinned: %+v, %v", all, err)
		}
	})
}

func TestWhatCannotBePinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := newPinboard(t)
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		room.tell("deploy") // rests on nothing
		room.quiet()
		pins, ann := room.bot.Curator(), chat.Reader{Adapter: "platform", User: "ann"}
		if _, err := pins.PinAnswer(t.Context(), "run-nobody", ann, chat.PinDraft{}); !errors.Is(err, chat.ErrUnknownRun) {
			t.Errorf("a run that is not there: %v", err)
		}
		for what, err := range map[string]error{
			"from the documents": second(pins.PinAnswer(t.Context(), room.lastAnswer().Run, ann, chat.PinDraft{})),
		} {
			if refused, ok := errors.AsType[*chat.PinError](err); !ok || !strings.Contains(refused.Text, what) {
				t.Errorf("%v, want %q", err, what)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
