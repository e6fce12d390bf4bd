package config

import (
	"testing"
	"time"
)

func TestFindDigestDue(t *testing.T) {
	for _, test := range []struct{ day, clock, zone, now, want string }{
		{"monday", "09:00", "UTC", "2026-11-23T09:00:00Z", "2026-11-23T09:00:00Z"},
		{"monday", "09:00", "UTC", "2026-11-23T08:59:59Z", "2026-11-16T09:00:00Z"},
		{"sunday", "23:30", "UTC", "2026-11-23T08:00:00Z", "2026-11-22T23:30:00Z"},
		{"monday", "00:30", "Asia/Tokyo", "2026-11-22T15:30:00Z", "2026-11-22T15:30:00Z"}, // it is Monday there
		{"", "", "", "2026-11-24T08:00:00Z", "2026-11-23T09:00:00Z"},
		{"monday", "09:00", "America/New_York", "2026-11-23T13:59:00Z", "2026-11-16T14:00:00Z"},
		{"monday", "09:00", "Europe/Berlin", "2026-10-27T12:00:00Z", "2026-10-26T08:00:00Z"}, // summer time ended between
		{"monday", "09:00", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-19T07:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, test.now)
		if err != nil {
			t.Fatal(err)
		}
		due, err := Source{DigestDay: Weekday(test.day), DigestTime: test.clock, DigestZone: test.zone}.FindDigestDue(now)
		if got := due.UTC().Format(time.RFC3339); err != nil || got != test.want {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
	}
}
