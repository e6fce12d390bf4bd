package runstest

import (
	"reflect"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

func testEdits(t *testing.T, place Place) {
	store, other := place.Open(t, standardOptions), place.Open(t, standardOptions)
	ctx := t.Context()
	expect := func(message chat.MessageID, want runs.Edit) {
		t.Helper()
		got, ok, err := other.LoadEdit(ctx, "t {*}", message)
		if err != nil || ok != (want.Thread != "") || !reflect.DeepEqual(got, want) {
			t.Errorf("edit of %s: %+v, %v, %v, want %+v", message, got, ok, err, want)
		}
	}
	save := func(edit runs.Edit) runs.Edit {
		t.Helper()
		if err := store.SaveEdit(ctx, edit); err != nil {
			t.Fatal(err)
		}
		return edit
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	expect("m1", runs.Edit{})
	save(runs.Edit{Thread: "t {*}", Message: "m1", Author: "ann", Text: "first", Depth: chat.Comprehensive, At: at})
	second := save(runs.Edit{Thread: "t {*}", Message: "m1", Author: "ann", Text: "second", At: at.Add(time.Hour), Files: []chat.File{{ID: "F1", Name: "a.md", Size: 3}}})
	bobs := save(runs.Edit{Thread: "t {*}", Message: "m2:jobs", Author: "bob", Text: "third", At: at})
	save(runs.Edit{Thread: "other", Message: "m3", Author: "ann", Text: "fourth", At: at})
	expect("m1", second)
	expect("m2:jobs", bobs)
	expect("m3", runs.Edit{})
	gone := save(runs.Edit{Thread: "t {*}", Message: "m4", Deleted: true})
	expect("m4", gone)
	if got := mustState(t, store, "t {*}"); got.Queued != 0 || got.Delayed != 0 {
		t.Errorf("edits are work: %+v", got)
	}
	if err := store.Forget(ctx, "t {*}", "ann", nil); err != nil {
		t.Fatal(err)
	}
	expect("m1", runs.Edit{})
	expect("m2:jobs", bobs)
	for range 2 {
		if err := other.EraseEdit(ctx, "t {*}", "m2:jobs"); err != nil {
			t.Error(err)
		}
	}
	expect("m2:jobs", runs.Edit{})
	expect("m4", gone)
	for _, lacking := range []runs.Edit{{Thread: "t"}, {Message: "m"}} {
		if err := store.SaveEdit(ctx, lacking); err == nil {
			t.Errorf("%+v was kept", lacking)
		}
	}
}
