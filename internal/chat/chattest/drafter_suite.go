package chattest

import (
	"context"
	"testing"
	"time"

	"cairn/internal/chat"
)

// DrafterRoom is a thread to show runs in.
type DrafterRoom struct {
	PosterRoom
	Drafter chat.Drafter
	// Left gives how many drafts are seen in the thread.
	Left func(t *testing.T, thread chat.ThreadID) int
}

// TestDrafter checks a chat.Drafter. again gives another one on the same platform, as
// another process has it.
func TestDrafter(t *testing.T, open func(t *testing.T) (room DrafterRoom, again chat.Drafter)) {
	for name, test := range map[string]func(*testing.T, DrafterRoom, chat.Drafter){
		"a draft becomes the post":              testDraftFinished,
		"a draft that showed nothing":           testDraftOfNothing,
		"a question finishes a draft":           testDraftAsks,
		"what begins anew":                      testDraftRestarted,
		"a draft is closed":                     testDraftClosed,
		"what a worker left is taken away":      testDraftAgain,
		"a context that ended finishes nothing": testDraftEnded,
		"a post beside a draft":                 testDraftBeside,
		"a draft that waits goes with the post": testDraftWaits,
	} {
		t.Run(name, func(t *testing.T) {
			room, again := open(t)
			test(t, room, again)
		})
	}
}

func (r DrafterRoom) begin(t *testing.T, by chat.Drafter, again bool) chat.Draft {
	t.Helper()
	draft, err := by.Draft(t.Context(), chat.Work{Run: "run-1", Thread: r.Thread, To: r.To, Asker: "ann", Again: again})
	if err != nil || draft == nil {
		t.Fatalf("Draft = %v, %v", draft, err)
	}
	return draft
}

// works shows a step and the beginning of an answer.
func (r DrafterRoom) works(t *testing.T, draft chat.Draft) {
	t.Helper()
	for _, status := range []chat.StepStatus{chat.Running, chat.Completed} {
		step := chat.Progress{Run: "run-1", Step: "search", Description: "Searching", Status: status}
		if err := draft.Progress(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"The answer ", "is made."} {
		if err := draft.Stream(t.Context(), chat.Token{Run: "run-1", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
}

func (r DrafterRoom) leavesNothing(t *testing.T) {
	t.Helper()
	if left := r.Left(t, r.Thread); left != 0 {
		t.Errorf("%d drafts are left over", left)
	}
}

func (r DrafterRoom) finish(t *testing.T, draft chat.Draft, key chat.PostKey, post chat.Post) chat.MessageID {
	t.Helper()
	id, err := draft.Finish(t.Context(), key, post)
	if err != nil || id == "" {
		t.Fatalf("Finish = %q, %v", id, err)
	}
	return id
}

func testDraftFinished(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.begin(t, room.Drafter, false)
	room.works(t, draft)
	id := room.finish(t, draft, key(1), room.reply("one"))
	room.sees(t, "one")
	room.leavesNothing(t)
	if got, found, err := room.Poster.Find(t.Context(), room.Thread, key(1)); got != id || !found || err != nil {
		t.Errorf("Find = %q, %v, %v, want %q", got, found, err, id)
	}
	if err := room.Poster.Edit(t.Context(), room.Thread, id, room.reply("uno")); err != nil {
		t.Fatal(err)
	}
	room.sees(t, "uno")
}

func testDraftOfNothing(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	room.finish(t, room.begin(t, room.Drafter, false), key(1), room.reply("one"))
	room.sees(t, "one")
	room.leavesNothing(t)
}

func testDraftAsks(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.begin(t, room.Drafter, false)
	room.works(t, draft)
	room.finish(t, draft, key(1), chat.Post{To: room.To, Question: &chat.Question{
		ID: "q", Run: "run-1", Text: "Which color?", FreeText: true, Asker: "ann",
	}})
	room.leavesNothing(t)
	if _, found, err := room.Poster.Find(t.Context(), room.Thread, key(1)); !found || err != nil {
		t.Errorf("Find = %v, %v for the question", found, err)
	}
}

func testDraftRestarted(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.begin(t, room.Drafter, false)
	room.works(t, draft)
	for _, token := range []chat.Token{{Run: "run-1", Restart: true}, {Run: "run-1", Text: "Anew", Restart: true}} {
		if err := draft.Stream(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	room.finish(t, draft, key(1), room.reply("one"))
	room.sees(t, "one")
	room.leavesNothing(t)
}

func testDraftClosed(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	for _, shows := range []bool{true, false} {
		draft := room.begin(t, room.Drafter, false)
		if shows {
			room.works(t, draft)
		}
		if err := draft.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		room.sees(t)
		room.leavesNothing(t)
	}
}

// testDraftAgain has a worker die twice: with a draft, and after it was finished. What was
// posted stays.
func testDraftAgain(t *testing.T, room DrafterRoom, again chat.Drafter) {
	posted := room.begin(t, room.Drafter, false)
	room.works(t, posted)
	room.finish(t, posted, key(1), room.reply("one"))
	room.works(t, room.begin(t, room.Drafter, false))
	draft := room.begin(t, again, true)
	room.works(t, draft)
	room.finish(t, draft, key(2), room.reply("two"))
	if err := room.begin(t, again, true).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	room.sees(t, "one", "two")
	room.leavesNothing(t)
}

func testDraftEnded(t *testing.T, room DrafterRoom, again chat.Drafter) {
	draft := room.begin(t, room.Drafter, false)
	room.works(t, draft)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := draft.Finish(ctx, key(1), room.reply("one")); err == nil {
		t.Errorf("Finish = %q after its context had ended", id)
	}
	if err := room.begin(t, again, true).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	room.sees(t)
	room.leavesNothing(t)
}

// testDraftBeside posts into the thread while a draft is shown in it.
func testDraftBeside(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.begin(t, room.Drafter, false)
	room.works(t, draft)
	room.post(t, key(1), "one")
	room.finish(t, draft, key(2), room.reply("two"))
	room.leavesNothing(t)
	for i := range 2 {
		if _, found, err := room.Poster.Find(t.Context(), room.Thread, key(i+1)); !found || err != nil {
			t.Errorf("message %d: Find = %v, %v", i+1, found, err)
		}
	}
}

// testDraftWaits has the outcome of a draft posted later, by another process.
func testDraftWaits(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.begin(t, room.Drafter, false)
	room.works(t, draft)
	if err := draft.Wait(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	room.post(t, key(1), "one")
	if draft.Unsettled() {
		room.tidy(t, chat.Late{Key: key(1)})
	}
	room.sees(t, "one")
	room.leavesNothing(t)
}

// TestTidier checks a chat.Tidier that posts and shows drafts. again gives another one on the
// same platform, as another process has it. A post under a key that was used before must be
// seen twice on the platform, as where its first call is carried out late.
func TestTidier(t *testing.T, open func(t *testing.T) (room DrafterRoom, again chat.Poster)) {
	for name, test := range map[string]func(*testing.T, DrafterRoom, chat.Poster){
		"of what is there twice the known one stays":    testTidyKnown,
		"of what is there twice the earliest stays":     testTidyUnknown,
		"what came late of a draft goes, and posts not": testTidyDrafts,
		"what is not there is not missed":               testTidyNothing,
	} {
		t.Run(name, func(t *testing.T) {
			room, again := open(t)
			test(t, room, again)
		})
	}
}

func (r DrafterRoom) tidy(t *testing.T, late chat.Late) {
	t.Helper()
	tidier, ok := r.Poster.(chat.Tidier)
	if !ok {
		t.Fatal("the poster is no chat.Tidier")
	}
	if r.Pass != nil {
		r.Pass(time.Minute)
	}
	late.To = r.To
	for range 2 { // it can be repeated
		if err := tidier.Tidy(t.Context(), r.Thread, late); err != nil {
			t.Fatal(err)
		}
	}
}

// twice posts under one key from two processes, and gives the ids.
func (r DrafterRoom) twice(t *testing.T, again chat.Poster) (first, second chat.MessageID) {
	t.Helper()
	first = r.post(t, key(1), "one")
	if r.Pass != nil {
		r.Pass(2 * time.Second)
	}
	second, err := again.Post(t.Context(), r.Thread, key(1), r.reply("one"))
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

func testTidyKnown(t *testing.T, room DrafterRoom, again chat.Poster) {
	_, second := room.twice(t, again)
	room.tidy(t, chat.Late{Key: key(1), Posted: second})
	room.sees(t, "one")
	if err := room.Poster.Edit(t.Context(), room.Thread, second, room.reply("uno")); err != nil {
		t.Errorf("the message that was known can't be edited: %v", err)
	}
}

func testTidyUnknown(t *testing.T, room DrafterRoom, again chat.Poster) {
	first, _ := room.twice(t, again)
	room.tidy(t, chat.Late{Key: key(1)})
	room.sees(t, "one")
	if got, found, err := again.Find(t.Context(), room.Thread, key(1)); got != first || !found || err != nil {
		t.Errorf("Find = %q, %v, %v, want %q", got, found, err, first)
	}
}

func testTidyDrafts(t *testing.T, room DrafterRoom, _ chat.Poster) {
	room.works(t, room.begin(t, room.Drafter, false))
	room.post(t, key(1), "one")
	room.post(t, key(2), "two")
	room.tidy(t, chat.Late{Key: key(1)})
	room.sees(t, "one", "two")
	room.leavesNothing(t)
}

func testTidyNothing(t *testing.T, room DrafterRoom, _ chat.Poster) {
	room.post(t, key(1), "one")
	room.tidy(t, chat.Late{Key: key(2)})
	room.tidy(t, chat.Late{})
	room.sees(t, "one")
	room.leavesNothing(t)
}
