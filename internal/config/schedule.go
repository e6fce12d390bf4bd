package config

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // images and machines may have no table of time zones
)

// Weekday is a day of the week, by its English name in lower case.
type Weekday string

// timeOfDay is how a time of day is written.
const timeOfDay = "15:04"

// When digests are due where nothing else is said.
const (
	digestDay  = Weekday("monday")
	digestTime = "09:00"
	digestZone = "UTC"
)

// FindDigestDue gives when the source's digest was due last, before a time or at it: on Mondays at
// 09:00 UTC, where its settings say nothing else.
func (s Source) FindDigestDue(now time.Time) (time.Time, error) {
	zone, err := time.LoadLocation(cmp.Or(s.DigestZone, digestZone))
	if err != nil {
		return time.Time{}, err
	}
	clock, err := time.Parse(timeOfDay, cmp.Or(s.DigestTime, digestTime))
	if err != nil {
		return time.Time{}, err
	}
	local := now.In(zone)
	for back := range 8 {
		due := time.Date(local.Year(), local.Month(), local.Day()-back, clock.Hour(), clock.Minute(), 0, 0, zone)
		if strings.EqualFold(due.Weekday().String(), string(cmp.Or(s.DigestDay, digestDay))) && !due.After(now) {
			return due, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no day of the week", s.DigestDay)
}

func readTimeOfDay(text string, _ base) (string, error) {
	if at, err := time.Parse(timeOfDay, text); err != nil || at.Format(timeOfDay) != text {
		return "", fmt.Errorf("%.20q: want hours and minutes, such as 09:00", text)
	}
	return text, nil
}

func readTimeZone(text string, _ base) (string, error) {
	if _, err := time.LoadLocation(text); err != nil || text == "" || text == "Local" {
		return "", fmt.Errorf("%.60q: want the name of a time zone, such as UTC or Europe/Berlin", text)
	}
	return text, nil
}
