package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// maxSections is how many sections of a document a row names.
const maxSections = 4

// Room is what a list of sources may take.
type Room struct {
	Rows   int             // documents
	Budget int             // of all pieces, in what Cost counts
	Cost   func(Piece) int // of a row or heading
}

// Sources lists sources as of now: a row a document under its category. What there is no
// room for is folded, from the first such row to the end: folded counts the documents.
func (f Format) Sources(groups []chat.SourceGroup, now time.Time, room Room) (pieces []Piece, folded int) {
	rows, budget := room.Rows, room.Budget
	for _, group := range groups {
		heading := nonEmpty(Piece{Runs: []Run{{Text: f.cleanTitle(group.Category), Style: Style{Bold: true}}}})
		for _, source := range group.Sources {
			shown := slices.Concat(heading, []Piece{f.sourceRow(source, now)})
			cost := 0
			for _, p := range shown {
				cost += room.Cost(p)
			}
			if folded > 0 || rows == 0 || cost > budget {
				folded++
				continue
			}
			pieces = append(pieces, shown...)
			heading = nil
			rows, budget = rows-1, budget-cost
		}
	}
	return pieces, folded
}

// maxLinked is how many sources the line under an answer names.
const maxLinked = 3

// SourceLine names an answer's sources on one line, up to three: "[1][3] Deploying the API
// · [2] Runbook · 1 more document". Marks lead to the passages as Cairn has them, titles to the
// first section of the original that is cited. folded counts the documents that it does not
// name; without sources the piece has no runs.
func (f Format) SourceLine(groups []chat.SourceGroup) (line Piece, folded int) {
	var runs []Run
	named := 0
	for _, source := range markup.SortSources(groups) {
		if named == maxLinked {
			folded++
			continue
		}
		named++
		if len(runs) > 0 {
			runs = append(runs, Run{Text: " · "})
		}
		runs = append(runs, f.markRuns(source)...)
		runs = append(runs, Run{Text: f.sourceName(source), URL: f.firstAddress(source)})
		switch source.State {
		case "changed":
			runs = append(runs, Run{Text: " (changed since)"})
		case "gone":
			runs = append(runs, Run{Text: " (no longer there)"})
		case "old":
			runs = append(runs, Run{Text: " (unchanged for over a year)"})
		}
	}
	if folded > 0 {
		runs = append(runs, Run{Text: " · " + markup.MoreDocuments(folded)})
	}
	return Piece{Runs: Join(runs)}, folded
}

// sourceName returns what a source is called.
func (f Format) sourceName(source chat.Source) string {
	for _, name := range []string{source.Title, source.Path} {
		if name = f.cleanTitle(name); name != "" {
			return name
		}
	}
	return "Untitled"
}

// SourceCard is a source for platforms that show each on its own.
type SourceCard struct {
	Category string
	Title    []Run  // "[1][3] Deploying the API"
	Details  []Run  // "Rolling back, Time limits · Platform team · changed 3 weeks ago", or none
	Address  string // where it is found, "" where no link leads there
}

// SourceCards lists sources as of now, in the order of their groups.
func (f Format) SourceCards(groups []chat.SourceGroup, now time.Time) []SourceCard {
	var cards []SourceCard
	for _, group := range groups {
		for _, source := range group.Sources {
			card := SourceCard{Category: f.cleanTitle(group.Category), Address: f.firstAddress(source)}
			card.Title = Join(append(f.markRuns(source), Run{Text: f.sourceName(source), URL: card.Address, Style: Style{Bold: true}}))
			if sections := f.sectionRuns(source.Sections); len(sections) > 0 {
				card.Details = sections[1:] // the first run sets them off from a title
			}
			if tail := strings.Join(f.sourceFacts(source, now), " · "); tail != "" && len(card.Details) > 0 {
				card.Details = append(card.Details, Run{Text: " · " + tail})
			} else if tail != "" {
				card.Details = []Run{{Text: tail}}
			}
			card.Details = Join(card.Details)
			cards = append(cards, card)
		}
	}
	return cards
}

// sourceRow is "[1][3] Deploying the API: Rolling back, Time limits · Platform team · changed 3
// weeks ago".
func (f Format) sourceRow(source chat.Source, now time.Time) Piece {
	runs := f.markRuns(source)
	to := f.firstAddress(source)
	runs = append(runs, Run{Text: f.sourceName(source), URL: to, Style: Style{Bold: to == ""}})
	runs = append(runs, f.sectionRuns(source.Sections)...)
	if tail := f.sourceFacts(source, now); len(tail) > 0 {
		runs = append(runs, Run{Text: " · " + strings.Join(tail, " · ")})
	}
	return Piece{Shape: Item, Runs: Join(runs)}
}

// sourceFacts are what is known of a source beside its name: the path where no link leads to it, the
// owner, and how fresh it is.
func (f Format) sourceFacts(source chat.Source, now time.Time) []string {
	var tail []string
	if source.Path != "" && f.firstAddress(source) == "" {
		tail = append(tail, f.cleanTitle(source.Path))
	}
	if owner := f.cleanTitle(source.Owner); owner != "" {
		tail = append(tail, owner)
	}
	if fresh := markup.Freshness(source, now); fresh != "" {
		tail = append(tail, fresh)
	}
	return tail
}

// markRuns are the marks that cite a source, each with a link to its passage as Cairn has it,
// where that is shown to people, and a space.
func (f Format) markRuns(source chat.Source) []Run {
	var runs []Run
	for _, number := range source.Numbers {
		runs = append(runs, Run{Text: citationMark(number), URL: f.viewOf(source, number)})
	}
	if len(runs) > 0 {
		runs = append(runs, Run{Text: " "})
	}
	return runs
}

// viewOf returns where the passage that a mark cites is shown as Cairn has it, "" for nowhere.
func (f Format) viewOf(source chat.Source, number int) string {
	for _, section := range source.Sections {
		if section.Number != number {
			continue
		}
		if to, ok := f.webAddress(section.View); ok {
			return to
		}
	}
	return ""
}

func (f Format) cleanTitle(text string) string { return Cut(markup.CleanLine(text), f.MaxTitle) }

// sectionRuns names the sections of a row that have a heading.
func (f Format) sectionRuns(sections []chat.Section) []Run {
	var runs []Run
	shown, more := 0, 0
	for _, section := range sections {
		heading := f.cleanTitle(section.Heading)
		if heading == "" {
			continue
		}
		if shown == maxSections {
			more++
			continue
		}
		separator := ", "
		if shown == 0 {
			separator = ": "
		}
		to, _ := f.webAddress(section.URL)
		runs = append(runs, Run{Text: separator}, Run{Text: heading, URL: to})
		shown++
	}
	if more > 0 {
		runs = append(runs, Run{Text: fmt.Sprintf(" and %d more", more)})
	}
	return runs
}

// linksOf returns the address that each mark leads to; marks without one are not in it.
func (f Format) linksOf(groups []chat.SourceGroup) map[int]string {
	links := map[int]string{}
	for _, group := range groups {
		for _, source := range group.Sources {
			for _, number := range source.Numbers {
				if to := f.viewOf(source, number); to != "" {
					links[number] = to
				}
			}
			for _, section := range source.Sections {
				if to, ok := f.webAddress(section.URL); ok && links[section.Number] == "" && section.Number > 0 {
					links[section.Number] = to
				}
			}
			to := f.firstAddress(source)
			for _, number := range source.Numbers {
				if to != "" && links[number] == "" {
					links[number] = to
				}
			}
		}
	}
	return links
}

// firstAddress returns where a source is found: the original, or else its passage as Cairn has
// it; "" where no link leads to either.
func (f Format) firstAddress(source chat.Source) string {
	for _, section := range source.Sections {
		if to, ok := f.webAddress(section.URL); ok {
			return to
		}
	}
	for _, section := range source.Sections {
		if to, ok := f.webAddress(section.View); ok {
			return to
		}
	}
	return ""
}
