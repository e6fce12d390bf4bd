package bot_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// TestRecordsShowNobodyWhatIsNotForThem shows records of runs to people who sign in: what was
// asked in a place that they don't see, or answered from what they may not read, is taken out.
func TestRecordsShowNobodyWhatIsNotForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		defer o.works(newFate(0, false))()
		o.rooms.enter("ann", "bob")
		shared := o.front("platform", "1")
		shared.tell("salary")
		shared.quiet()
		o.rooms.enter("ann")
		alone := o.front("platform", "2") // answered from the closed document, before bob comes in
		alone.tell("salary")
		alone.quiet()
		private := o.front("platform", "ann/private")
		private.tell("deploy")
		private.quiet()
		o.rooms.enter("ann", "bob")
		pass(2 * time.Minute) // who sees a place is believed for one

		records, err := o.records.List(t.Context(), runs.Filter{}, 10)
		if err != nil || len(records) != 3 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		for person, want := range map[string]map[chat.ThreadID]bool{
			"ann": {shared.thread: true, alone.thread: true, private.thread: true},
			"bob": {shared.thread: true},
			"eve": {},
			"":    {},
		} {
			identity := chat.Identity{}
			if person != "" {
				identity.Email = person + "@example.com"
			}
			shown, hidden, err := shared.bot.RedactRecords(t.Context(), identity, records)
			if err != nil || len(shown) != len(records) {
				t.Fatalf("%s: %d records, %v", person, len(shown), err)
			}
			for i, record := range shown {
				if hidden[record.ID] == want[record.Thread] {
					t.Errorf("%q: %s is hidden: %t", person, record.Thread, hidden[record.ID])
				}
				if hidden[record.ID] && (record.Request != "" || len(record.Trace.Evidence)+len(record.Trace.Queries)+len(record.Trace.Notes) > 0) {
					t.Errorf("%q: %s shows %+v", person, record.Thread, record)
				}
				if records[i].Request == "" || record.Status() != runs.Done {
					t.Errorf("%q: %s was changed or has lost its status", person, record.Thread)
				}
			}
		}
	})
}

// TestAnUnknownPlaceIsShownToNobody has the platform tell nothing.
func TestAnUnknownPlaceIsShownToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann")
		room.tell("deploy")
		room.quiet()
		records, err := o.records.List(t.Context(), runs.Filter{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		ann := chat.Identity{Email: "ann@example.com"}
		local := records[0]
		local.ID, local.Asker = "run-local", &chat.Identity{Local: true}
		unknown := records[0]
		unknown.ID, unknown.Thread = "run-unknown", "elsewhere:1"
		signed := records[0]
		signed.ID, signed.Asker = "run-signed", &ann
		_, hidden, err := room.bot.RedactRecords(t.Context(), ann, []runs.Record{records[0], local, unknown, signed})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[chat.RunID]bool{"run-local": true, "run-unknown": true}; len(hidden) != 2 || !hidden["run-local"] || !hidden["run-unknown"] {
			t.Errorf("hidden are %v, want %v", hidden, want)
		}
	})
}

// TestASharedThreadShowsAnswersFromReadableDocumentsAlone gives others what was said in a thread
// that its person shares, and nothing of one that is not shared.
func TestASharedThreadShowsAnswersFromReadableDocumentsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		defer o.works(newFate(0, false))()
		o.rooms.enter("ann", "bob")
		open := o.front("platform", "1")
		open.tell("salary") // from what all in the room may read
		open.quiet()
		o.rooms.enter("ann")
		closed := o.front("platform", "ann/private")
		closed.tell("salary") // from a document that is closed to eve
		closed.quiet()
		for _, test := range []struct {
			front *front
			sees  map[string]chat.Outcome
		}{
			{open, map[string]chat.Outcome{"ann": chat.Answered, "eve": chat.Answered}},
			{closed, map[string]chat.Outcome{"ann": chat.Answered, "eve": chat.Noticed}},
		} {
			for _, shared := range []bool{false, true} {
				if err := bot.NewManager(test.front.bot).ShareThread(t.Context(), test.front.thread, "ann", shared); err != nil {
					t.Fatal(err)
				}
				for reader, want := range test.sees {
					turns, err := bot.NewManager(test.front.bot).SharedTranscript(t.Context(), test.front.thread, chat.Identity{Email: reader + "@example.com"})
					if !shared {
						if !errors.Is(err, chat.ErrForbidden) {
							t.Errorf("what is not shared gave %v", err)
						}
						continue
					}
					if err != nil || len(turns) != 2 || turns[1].Reply.Outcome != want || turns[1].Reply.Run != "" {
						t.Errorf("%s reads in %s: %+v, %v", reader, test.front.thread, turns, err)
					}
				}
			}
		}
	})
}
