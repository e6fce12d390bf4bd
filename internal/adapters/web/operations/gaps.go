package operations

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/digest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// mostGaps bounds how many groups are shown.
const mostGaps = 100

// gapsView is what templates/gaps.html shows.
type gapsView struct {
	Groups   []gapView
	MostGaps int
	Cut      bool // there are more groups
	MostRuns int
	Looked   int    // runs
	Hidden   int    // of these, which the person may not see
	Pages    string // where pages are made, "" for nowhere
}

// gapView is a group of questions without a good answer.
type gapView struct {
	Question                   string // of the latest
	Count                      int
	Abstained, Unsourced, Down int
	Last                       momentView
	Runs                       []gapRunView // the latest few
	People                     []string     // who asked, the latest few
	last                       time.Time
}

type gapRunView struct {
	ID  string
	Why string
}

// maxGapRuns is how many runs of a group are linked, and how many people are named.
const maxGapRuns = 5

// gap is a question without a good answer.
type gap struct {
	record                     runs.Record
	abstained, unsourced, down bool
}

// gapsScreen lists the questions that found no good answer.
type gapsScreen struct {
	records Records
	viewer  viewer
	now     clock
	pages   string // where pages are made, "" for nowhere
}

func (s *gapsScreen) view(ctx context.Context, _ url.Values) (any, error) {
	listed, err := s.records.List(ctx, runs.Filter{Status: runs.Done}, mostRuns)
	if err != nil {
		return nil, err
	}
	shown, err := s.viewer.showRecords(ctx, listed)
	if err != nil {
		return nil, err
	}
	var gaps []gap
	v := gapsView{Pages: s.pages, MostGaps: mostGaps, MostRuns: mostRuns, Looked: len(listed)}
	for _, record := range shown {
		if record.hidden {
			v.Hidden++
			continue
		}
		g, is, err := s.findGap(ctx, record.Record)
		if err != nil {
			return nil, err
		}
		if is {
			gaps = append(gaps, g)
		}
	}
	for _, group := range grouped(gaps) {
		v.Groups = append(v.Groups, s.viewGroup(group))
	}
	slices.SortStableFunc(v.Groups, func(a, b gapView) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.last.Compare(a.last))
	})
	v.Cut = len(v.Groups) > mostGaps
	v.Groups = v.Groups[:min(len(v.Groups), mostGaps)]
	return v, nil
}

// findGap looks for what was not good about an answer. Lists leave ratings out, so that each
// record is read once more.
func (s *gapsScreen) findGap(ctx context.Context, record runs.Record) (g gap, is bool, err error) {
	kept, err := s.records.Load(ctx, record.ID)
	if isUnknown(err) {
		return gap{}, false, nil // it was erased meanwhile
	}
	if err != nil {
		return gap{}, false, err
	}
	g = gap{record: record, abstained: hasAbstained(record)}
	g.unsourced = !g.abstained && len(record.Trace.Queries) > 0 && usedSources(record.Trace.Evidence) == 0
	g.down = slices.ContainsFunc(kept.Ratings, func(r chat.Rating) bool { return r.Verdict == chat.Down })
	return g, g.abstained || g.unsourced || g.down, nil
}

// grouped puts gaps together whose questions are alike, in their order.
func grouped(gaps []gap) [][]gap {
	questions := make([]digest.Question, len(gaps))
	for i, g := range gaps {
		questions[i] = digest.NewQuestion(g.record.Request, time.Time{})
	}
	var groups [][]gap
	for i, in := range digest.GroupNumbers(questions) {
		if in == len(groups) {
			groups = append(groups, nil)
		}
		groups[in] = append(groups[in], gaps[i])
	}
	return groups
}

func (s *gapsScreen) viewGroup(group []gap) gapView {
	latest := group[0].record
	v := gapView{Question: shorten.Text(markup.CleanLine(latest.Request), maxRequest), Count: len(group)}
	if n := len(latest.Transitions); n > 0 {
		v.last = latest.Transitions[n-1].At
	}
	v.Last = s.now.moment(v.last)
	for i, g := range group {
		why := "no source"
		switch {
		case g.abstained:
			v.Abstained++
			why = "no answer"
		case g.unsourced:
			v.Unsourced++
		}
		if g.down {
			v.Down++
			if !g.abstained && !g.unsourced {
				why = "thumbs down"
			}
		}
		if author := string(g.record.Author); len(v.People) < maxGapRuns && author != "" && !slices.Contains(v.People, author) {
			v.People = append(v.People, author)
		}
		if i < maxGapRuns {
			v.Runs = append(v.Runs, gapRunView{string(g.record.ID), why})
		}
	}
	return v
}
