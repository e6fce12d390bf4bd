package bot_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// TestWhatAPlatformDidLateIsTakenAway has each kind of call carried out long after it failed:
// before the platform is asked what it did, and after it was.
func TestWhatAPlatformDidLateIsTakenAway(t *testing.T) {
	for _, operation := range []chattest.Operation{chattest.FinishOperation, chattest.PostOperation, chattest.DraftOperation} {
		t.Run(string(operation), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreet(t)
				struck := 0
				s.platform.Faults = func(call chattest.Call) chattest.Fault {
					if call.Operation == operation && struck < 2 {
						struck++
						return chattest.Late
					}
					if operation == chattest.PostOperation && call.Operation == chattest.DraftOperation {
						return chattest.Broken // so that it is posted
					}
					return chattest.NoFault
				}
				f := s.front("platform", "1")
				defer s.works(newFate(0, false))()
				f.tell("echo one")
				pass(chattest.LateBy)
				f.quiet()
				f.tell("echo two")
				pass(chattest.LateBy)
				f.quiet()
				if got := f.posted(); got != "one, two" {
					t.Errorf("posted is %q", got)
				}
				if left := s.platform.Drafts(""); len(left) > 0 {
					t.Errorf("left over: %+v", left)
				}
				if struck == 0 {
					t.Error("nothing was late")
				}
			})
		})
	}
}

// TestAPostThatWaitsForItsTurn has the platform limit posts for long: the job waits, which
// is no attempt, and nothing is looked for.
func TestAPostThatWaitsForItsTurn(t *testing.T) {
	testWithoutLooks(t, chattest.RateLimited, 50, time.Minute)
}

// TestAPostThatWasNotSent has what comes before a post fail again and again: it is tried again,
// and nothing is looked for, for nothing was sent.
func TestAPostThatWasNotSent(t *testing.T) {
	testWithoutLooks(t, chattest.NotPosted, 12, 5*time.Minute)
}

// testWithoutLooks has the first calls that end a run go wrong by a fault that says that nothing
// was posted: it is posted within a time, and nothing is looked for.
func testWithoutLooks(t *testing.T, fault chattest.Fault, times int, within time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		struck, operations := 0, map[chattest.Operation]int{}
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			operations[call.Operation]++
			ends := call.Operation == chattest.FinishOperation || call.Operation == chattest.PostOperation
			if ends && struck < times {
				struck++
				return fault
			}
			return chattest.NoFault
		}
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		begun := time.Now()
		f.tell("echo one")
		f.quiet()
		if got := f.posted(); got != "one" || struck < times {
			t.Errorf("posted is %q after %d faults", got, struck)
		}
		if took := time.Since(begun); took > within {
			t.Errorf("%d faults took %s", times, took)
		}
		if n := operations[chattest.FindOperation] + operations[chattest.TidyOperation]; n > 0 {
			t.Errorf("it was looked %d times for what was never sent", n)
		}
		letters, err := s.queue.DeadLetters(t.Context(), 10)
		if err != nil || len(letters) > 0 {
			t.Errorf("put aside: %+v, %v", letters, err)
		}
	})
}

// TestAThreadIsTidiedOnceForEachDoubt has a post end unknown, and the look for it wait for its
// turn again and again: what is not known is one thing to tidy, not one for each attempt.
func TestAThreadIsTidiedOnceForEachDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		broken, waits, tidied := 0, 0, 0
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			switch call.Operation {
			case chattest.FinishOperation, chattest.PostOperation:
				if broken++; broken <= 2 {
					return chattest.Broken
				}
			case chattest.FindOperation:
				if waits++; waits <= 20 {
					return chattest.RateLimited
				}
			case chattest.TidyOperation:
				tidied++
			}
			return chattest.NoFault
		}
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		f.tell("echo one")
		f.quiet()
		pass(time.Hour)
		if got := f.posted(); got != "one" || waits <= 20 {
			t.Errorf("posted is %q after %d looks", got, waits)
		}
		if tidied == 0 || tidied > 4 {
			t.Errorf("the thread was tidied %d times", tidied)
		}
	})
}

// TestOneLookTidiesAThread has the ends of ten messages of a thread end unknown, and looks wait for
// their turn meanwhile: a few looks are enough for all of them.
func TestOneLookTidiesAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		var well atomic.Bool
		looks, struck := 0, map[chat.PostKey]bool{}
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			switch call.Operation {
			case chattest.FinishOperation:
				if !struck[call.Key] {
					struck[call.Key] = true
					return chattest.Late
				}
			case chattest.TidyOperation:
				if !well.Load() {
					return chattest.RateLimited
				}
				looks++
			}
			return chattest.NoFault
		}
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		var want []string
		for i := range 10 {
			want = append(want, fmt.Sprint("answer ", i))
			f.tell(fmt.Sprint("echo answer ", i))
			f.quiet()
		}
		well.Store(true)
		pass(30 * time.Minute)
		if got := f.posted(); got != strings.Join(want, ", ") {
			t.Errorf("posted is %q", got)
		}
		if left := s.platform.Drafts(""); len(left) > 0 {
			t.Errorf("left over: %+v", left)
		}
		if len(struck) != 10 || looks == 0 || looks > 5 {
			t.Errorf("%d ends unknown took %d looks", len(struck), looks)
		}
	})
}

// TestTheNextMessageGoesBeforeTidying has a thread be due to be tidied while another message is
// worked at, and the next one come behind that: it is answered first.
func TestTheNextMessageGoesBeforeTidying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, digs(t))
		var ends []string
		struck := false
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			switch {
			case call.Operation == chattest.TidyOperation:
				ends = append(ends, "tidied")
			case call.Operation == chattest.FinishOperation && !struck:
				struck = true
				return chattest.Late
			case call.Operation == chattest.FinishOperation, call.Operation == chattest.PostOperation:
				ends = append(ends, "posted")
			}
			return chattest.NoFault
		}
		f := s.front("platform", "1")
		for range 2 { // the one that works at nothing has the tidying join the thread's queue
			defer s.works(newFate(0, false))()
		}
		f.tell("echo one")
		for f.posted() != "one" {
			pass(10 * time.Millisecond)
		}
		f.tell("dig")
		pass(2 * streetTidy)
		f.tell("echo two")
		ends = nil
		if stopped, err := f.bot.Stop(t.Context(), f.thread, "ann"); !stopped || err != nil {
			t.Fatalf("Stop = %v, %v", stopped, err)
		}
		f.quiet()
		pass(time.Minute) // tidying waits some seconds for other messages
		if got := strings.Join(ends, ", "); f.posted() != "one, Stopped., two" || !strings.HasPrefix(got, "posted, posted, tidied") {
			t.Errorf("posted is %q, by %s", f.posted(), got)
		}
	})
}
