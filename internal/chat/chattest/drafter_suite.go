package chattest

import (
	"context"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
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

func (r DrafterRoom) beginDraft(t *testing.T, by chat.Drafter, again bool) chat.Draft {
	t.Helper()
	draft, err := by.Draft(t.Context(), chat.Work{Run: "run-1", Thread: r.Thread, To: r.To, Asker: "ann", Again: again})
	if err != nil || draft == nil {
		t.Fatalf("Draft = %v, %v", draft, err)
	}
	return draft
}

// showProgress shows a step and the beginning of an answer.
func (r DrafterRoom) showProgress(t *testing.T, draft chat.Draft) {
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

func (r DrafterRoom) finishDraft(t *testing.T, draft chat.Draft, key chat.PostKey, post chat.Post) chat.MessageID {
	t.Helper()
	id, err := draft.Finish(t.Context(), key, post)
	if err != nil || id == "" {
		t.Fatalf("Finish = %q, %v", id, err)
	}
	return id
}

func testDraftFinished(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, draft)
	id := room.finishDraft(t, draft, postKey(1), room.newReply("one"))
	room.expectShown(t, "one")
	room.leavesNothing(t)
	if got, found, err := room.Poster.Find(t.Context(), room.Thread, postKey(1)); got != id || !found || err != nil {
		t.Errorf("Find = %q, %v, %v, want %q", got, found, err, id)
	}
	if err := room.Poster.Edit(t.Context(), room.Thread, id, room.newReply("uno")); err != nil {
		t.Fatal(err)
	}
	room.expectShown(t, "uno")
}

func testDraftOfNothing(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	room.finishDraft(t, room.beginDraft(t, room.Drafter, false), postKey(1), room.newReply("one"))
	room.expectShown(t, "one")
	room.leavesNothing(t)
}

func testDraftAsks(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, draft)
	room.finishDraft(t, draft, postKey(1), chat.Post{To: room.To, Question: &chat.Question{
		ID: "q", Run: "run-1", Text: "Which color?", FreeText: true, Asker: "ann",
	}})
	room.leavesNothing(t)
	if _, found, err := room.Poster.Find(t.Context(), room.Thread, postKey(1)); !found || err != nil {
		t.Errorf("Find = %v, %v for the question", found, err)
	}
}

func testDraftRestarted(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, draft)
	for _, token := range []chat.Token{{Run: "run-1", Restart: true}, {Run: "run-1", Text: "Anew", Restart: true}} {
		if err := draft.Stream(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	room.finishDraft(t, draft, postKey(1), room.newReply("one"))
	room.expectShown(t, "one")
	room.leavesNothing(t)
}

func testDraftClosed(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	for _, shows := range []bool{true, false} {
		draft := room.beginDraft(t, room.Drafter, false)
		if shows {
			room.showProgress(t, draft)
		}
		if err := draft.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		room.expectShown(t)
		room.leavesNothing(t)
	}
}

// testDraftAgain has a worker die twice: with a draft, and after it was finished. What was
// posted stays.
func testDraftAgain(t *testing.T, room DrafterRoom, again chat.Drafter) {
	posted := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, posted)
	room.finishDraft(t, posted, postKey(1), room.newReply("one"))
	room.showProgress(t, room.beginDraft(t, room.Drafter, false))
	draft := room.beginDraft(t, again, true)
	room.showProgress(t, draft)
	room.finishDraft(t, draft, postKey(2), room.newReply("two"))
	if err := room.beginDraft(t, again, true).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	room.expectShown(t, "one", "two")
	room.leavesNothing(t)
}

func testDraftEnded(t *testing.T, room DrafterRoom, again chat.Drafter) {
	draft := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, draft)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := draft.Finish(ctx, postKey(1), room.newReply("one")); err == nil {
		t.Errorf("Finish = %q after its context had ended", id)
	}
	if err := room.beginDraft(t, again, true).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	room.expectShown(t)
	room.leavesNothing(t)
}

// testDraftBeside posts into the thread while a draft is shown in it.
func testDraftBeside(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, draft)
	room.mustPost(t, postKey(1), "one")
	room.finishDraft(t, draft, postKey(2), room.newReply("two"))
	room.leavesNothing(t)
	for i := range 2 {
		if _, found, err := room.Poster.Find(t.Context(), room.Thread, postKey(i+1)); !found || err != nil {
			t.Errorf("message %d: Find = %v, %v", i+1, found, err)
		}
	}
}

// testDraftWaits has the outcome of a draft posted later, by another process.
func testDraftWaits(t *testing.T, room DrafterRoom, _ chat.Drafter) {
	draft := room.beginDraft(t, room.Drafter, false)
	room.showProgress(t, draft)
	if err := draft.Wait(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	room.mustPost(t, postKey(1), "one")
	if draft.Unsettled() {
		room.checkTidy(t, chat.Late{})
	}
	room.expectShown(t, "one")
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

func (r DrafterRoom) checkTidy(t *testing.T, late chat.Late) {
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

// postTwice posts under one key from two processes, and gives the ids.
func (r DrafterRoom) postTwice(t *testing.T, again chat.Poster) (first, second chat.MessageID) {
	t.Helper()
	first = r.mustPost(t, postKey(1), "one")
	if r.Pass != nil {
		r.Pass(2 * time.Second)
	}
	second, err := again.Post(t.Context(), r.Thread, postKey(1), r.newReply("one"))
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

func testTidyKnown(t *testing.T, room DrafterRoom, again chat.Poster) {
	_, second := room.postTwice(t, again)
	room.checkTidy(t, chat.Late{Age: time.Minute, Known: []chat.MessageID{room.To, second}})
	room.expectShown(t, "one")
	if err := room.Poster.Edit(t.Context(), room.Thread, second, room.newReply("uno")); err != nil {
		t.Errorf("the message that was known can't be edited: %v", err)
	}
}

func testTidyUnknown(t *testing.T, room DrafterRoom, again chat.Poster) {
	first, _ := room.postTwice(t, again)
	room.checkTidy(t, chat.Late{})
	room.expectShown(t, "one")
	if got, found, err := again.Find(t.Context(), room.Thread, postKey(1)); got != first || !found || err != nil {
		t.Errorf("Find = %q, %v, %v, want %q", got, found, err, first)
	}
}

func testTidyDrafts(t *testing.T, room DrafterRoom, _ chat.Poster) {
	room.showProgress(t, room.beginDraft(t, room.Drafter, false))
	room.mustPost(t, postKey(1), "one")
	room.mustPost(t, postKey(2), "two")
	room.checkTidy(t, chat.Late{})
	room.expectShown(t, "one", "two")
	room.leavesNothing(t)
}

func testTidyNothing(t *testing.T, room DrafterRoom, _ chat.Poster) {
	room.mustPost(t, postKey(1), "one")
	room.checkTidy(t, chat.Late{})
	room.expectShown(t, "one")
	room.leavesNothing(t)
}
