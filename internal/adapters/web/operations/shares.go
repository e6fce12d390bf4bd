package operations

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Bounds of what is counted and shown.
const (
	shareWeeks = 12
	mostShares = 50 // channels, and collections, that were asked most
)

// sharesView is what the template operations-shares shows.
type sharesView struct {
	Weeks  int
	Total  shareView
	Tables []shareTable
}

// shareTable is the shares of one kind.
type shareTable struct {
	Of     string // "week"
	Note   string
	Shares []shareView
}

// shareView is how many questions were answered of those that were asked.
type shareView struct {
	Name            string
	Asked, Answered int
	Share           int // answered, in per cent
}

// sharesScreen shows which share of questions is answered.
type sharesScreen struct {
	records Records
	channel func(runs.Record) string // nil: the adapter's name
	now     clock
}

// share counts questions.
type share struct{ asked, answered int }

// shares counts questions by week, channel and collection.
type shares struct {
	from        time.Time
	total       share
	weeks       map[time.Time]share
	channels    map[string]share
	collections map[string]share
}

// view counts all records of the latest weeks, one at a time. Counts show nobody what was asked.
func (s *sharesScreen) view(ctx context.Context, _ url.Values) (any, error) {
	counted := shares{
		from:  beginningOfWeek(s.now()).AddDate(0, 0, -7*(shareWeeks-1)),
		weeks: make(map[time.Time]share), channels: make(map[string]share), collections: make(map[string]share),
	}
	_, err := s.records.List(ctx, runs.Filter{Status: runs.Done, Match: func(record runs.Record) bool {
		counted.add(record, s.channelOf(record))
		return false
	}}, 1)
	if err != nil {
		return nil, fmt.Errorf("count answered questions: %w", err)
	}
	var weeks []shareView // the latest first
	for week := beginningOfWeek(s.now()); !week.Before(counted.from); week = week.AddDate(0, 0, -7) {
		weeks = append(weeks, counted.weeks[week].view(week.Format("2 January 2006")))
	}
	return sharesView{Weeks: shareWeeks, Total: counted.total.view("All"), Tables: []shareTable{
		{Of: "week", Shares: weeks}, {Of: "channel", Shares: rankShares(counted.channels)},
		{
			Of: "collection", Shares: rankShares(counted.collections),
			Note: "A question counts for each collection that its answer was made from, or else that it was limited to.",
		},
	}}, nil
}

func (s *sharesScreen) channelOf(record runs.Record) string {
	if s.channel == nil {
		return adapterOf(record.Thread)
	}
	return s.channel(record)
}

// add counts the record of a question that was asked within the weeks. It counts for each
// collection that the answer was made from, or else that it was limited to.
func (s *shares) add(record runs.Record, channel string) {
	if len(record.Transitions) == 0 || record.Transitions[0].At.Before(s.from) {
		return
	}
	answered := 1
	if hasAbstained(record) {
		answered = 0
	}
	s.total = s.total.plus(answered)
	week := beginningOfWeek(record.Transitions[0].At)
	s.weeks[week] = s.weeks[week].plus(answered)
	s.channels[channel] = s.channels[channel].plus(answered)
	for _, collection := range collectionsOf(record) {
		s.collections[collection] = s.collections[collection].plus(answered)
	}
}

// collectionsOf gives the collections of the evidence that an answer was made from, or else those
// that the question was limited to, each once.
func collectionsOf(record runs.Record) []string {
	var names []string
	for _, evidence := range record.Trace.Evidence {
		document, _, ok := knowledge.PassageID(evidence.Passage).Split()
		source, _, found := strings.Cut(string(document), ":")
		if evidence.Kept && ok && found && !slices.Contains(names, source) {
			names = append(names, source)
		}
	}
	if len(names) == 0 {
		return record.Collections
	}
	return names
}

func (s share) plus(answered int) share { return share{s.asked + 1, s.answered + answered} }

func (s share) view(name string) shareView {
	v := shareView{Name: markup.CleanLine(name), Asked: s.asked, Answered: s.answered}
	if s.asked > 0 {
		v.Share = (100*s.answered + s.asked/2) / s.asked
	}
	return v
}

// rankShares gives the counts of which most was asked.
func rankShares(counted map[string]share) []shareView {
	views := make([]shareView, 0, len(counted))
	for name, count := range counted {
		views = append(views, count.view(cmp.Or(name, "(private)")))
	}
	slices.SortFunc(views, func(a, b shareView) int { return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Name, b.Name)) })
	return views[:min(len(views), mostShares)]
}

// beginningOfWeek is the Monday of a time's week, in UTC.
func beginningOfWeek(at time.Time) time.Time {
	day := at.UTC().Truncate(24 * time.Hour)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}
