package operations

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
)

func TestQuestionsOfSimilarWordingAreOneGroup(t *testing.T) {
	var gaps []gap
	for _, question := range []string{
		"Where is the wifi password of the office?", "wifi password office", "Office wifi: password?", "How do I reset my password?",
		"", "???", "как сменить пароль", "Как сменить пароль?",
	} {
		gaps = append(gaps, gap{record: runs.Record{Request: question}})
	}
	var got []string
	for _, group := range grouped(gaps) {
		got = append(got, fmt.Sprintf("%s=%d", group[0].record.Request, len(group)))
	}
	const want = "Where is the wifi password of the office?=3|How do I reset my password?=1|=1|???=1|как сменить пароль=2"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestRetriesAreCounted(t *testing.T) {
	for _, test := range []struct {
		statuses []runs.Status
		want     int
	}{
		{[]runs.Status{runs.Queued, runs.Running, runs.Done}, 0},
		{[]runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Running, runs.Done}, 0},
		{[]runs.Status{runs.Queued, runs.Running, runs.Failed, runs.Running, runs.Done}, 1},
		{[]runs.Status{runs.Queued, runs.Running, runs.Running, runs.Running, runs.Done}, 2}, // another worker went on
		{nil, 0},
	} {
		var transitions []runs.Transition
		for _, status := range test.statuses {
			transitions = append(transitions, runs.Transition{To: status})
		}
		if got := retries(transitions); got != test.want {
			t.Errorf("%v: %d retries, want %d", test.statuses, got, test.want)
		}
	}
}

func TestFailuresAreCountedByNetwork(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	f := newFailures(func() time.Time { return now })
	for range failuresOfOne {
		f.add("2001:db8:1:2::1")
	}
	for address, want := range map[string]bool{
		"2001:db8:1:2::1": false, "2001:db8:1:2:ffff::9": false, "2001:db8:1:3::1": true, "192.0.2.1": true,
	} {
		if f.allows(address) != want {
			t.Errorf("%s may try: %v", address, !want)
		}
	}
	for i := range failuresOfAll {
		f.add(fmt.Sprintf("10.0.%d.%d", i/256, i%256))
	}
	if f.allows("192.0.2.1") {
		t.Error("there is no bound on all failures together")
	}
	if len(f.counts) > failuresTracked {
		t.Errorf("%d addresses are kept", len(f.counts))
	}
	now = now.Add(failureWindow)
	if !f.allows("192.0.2.1") || !f.allows("2001:db8:1:2::1") {
		t.Error("a new window did not begin")
	}
}

func FuzzSealed(f *testing.F) {
	s, err := SignIn{Token: "correct-horse-battery"}.newSealer()
	if err != nil {
		f.Fatal(err)
	}
	ann := signed{Who: "ann", Until: time.Unix(1<<32, 0).UTC()}
	sealed, err := s.Seal(sessionCookie, ann)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:20])
	f.Add("")
	f.Add("%%%")
	f.Fuzz(func(t *testing.T, given string) {
		var person signed
		// Each process of the fuzzer seals Ann anew.
		if err := s.Open(sessionCookie, given, &person); err == nil && !reflect.DeepEqual(person, ann) {
			t.Errorf("%q was never sealed, and opens as %+v", given, person)
		}
		if err := s.Open(beginCookie, given, &signed{}); err == nil {
			t.Errorf("%q opens under another name", given)
		}
	})
}

func FuzzFilter(f *testing.F) {
	f.Add("status=done&flow=answer&page=2&text=run-1")
	f.Add("adapter=%00&text=%ff&page=-1")
	f.Add("page=99999999999999999999")
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		filter, page, err := readFilter(query)
		if err != nil {
			return
		}
		if page < 1 || page > mostPages {
			t.Errorf("%q reads page %d", raw, page)
		}
		address, err := url.Parse(filter.address(page))
		if err != nil {
			t.Fatalf("%q leads to %v", raw, err)
		}
		again, samePage, err := readFilter(address.Query())
		if err != nil || again != filter || samePage != page {
			t.Errorf("%q is %+v, page %d, and leads to %+v, page %d, %v", raw, filter, page, again, samePage, err)
		}
	})
}
