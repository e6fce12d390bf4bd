package slack

import (
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// Bounds of the list of sources under an answer. The rest is folded.
const (
	maxRows     = 8
	maxSections = 4
	maxTitle    = 150
)

// linksOf gives the address that each mark leads to; marks without one are not in it.
func linksOf(groups []chat.SourceGroup) map[int]string {
	links := map[int]string{}
	for _, group := range groups {
		for _, source := range group.Sources {
			for _, section := range source.Sections {
				if address, ok := webAddress(section.URL); ok && links[section.Number] == "" && section.Number > 0 {
					links[section.Number] = address
				}
			}
			for _, mark := range source.Numbers {
				if address, ok := firstAddress(source); ok && links[mark] == "" {
					links[mark] = address
				}
			}
		}
	}
	return links
}

func firstAddress(source chat.Source) (string, bool) {
	for _, section := range source.Sections {
		if address, ok := webAddress(section.URL); ok {
			return address, true
		}
	}
	return "", false
}

// sourcePieces lists sources, a row a document under its category. What is over the
// bounds is folded into a last line that tells how many documents it stands for; all
// has no bounds but the message's.
func sourcePieces(groups []chat.SourceGroup, now time.Time, rows, budget int) (pieces []piece, folded int) {
	for _, group := range groups {
		headed := false
		for _, source := range group.Sources {
			row := sourceRow(source, now)
			heading := piece{shape: paragraph, runs: []run{{text: cut(markup.CleanLine(group.Category), maxTitle), style: style{bold: true}}}}
			cost := row.cost()
			if !headed {
				cost += heading.cost()
			}
			if folded > 0 || rows == 0 || cost > budget {
				folded++
				continue
			}
			if !headed && plain(heading.runs) != "" {
				pieces = append(pieces, heading)
			}
			headed = true
			pieces = append(pieces, row)
			rows, budget = rows-1, budget-cost
		}
	}
	if folded > 0 {
		pieces = append(pieces, piece{shape: paragraph, runs: []run{{text: "and " + moreDocuments(folded), style: style{italic: true}}}})
	}
	return pieces, folded
}

func moreDocuments(n int) string {
	if n == 1 {
		return "1 more document"
	}
	return number(n) + " more documents"
}

// sourceRow is "[1][3] Deploying the API: Rolling back, Time limits · Platform team ·
// changed 3 weeks ago".
func sourceRow(source chat.Source, now time.Time) piece {
	var runs []run
	for _, mark := range source.Numbers {
		runs = append(runs, run{text: "[" + number(mark) + "]"})
	}
	if len(runs) > 0 {
		runs = append(runs, run{text: " "})
	}
	title := cut(markup.CleanLine(source.Title), maxTitle)
	if title == "" {
		title = cut(markup.CleanLine(source.Path), maxTitle)
	}
	if title == "" {
		title = "Untitled"
	}
	address, _ := firstAddress(source)
	runs = append(runs, run{text: title, url: address, style: style{bold: address == ""}})
	runs = append(runs, sectionRuns(source.Sections)...)
	var tail []string
	if address == "" && source.Path != "" {
		tail = append(tail, cut(markup.CleanLine(source.Path), maxTitle))
	}
	if owner := cut(markup.CleanLine(source.Owner), maxTitle); owner != "" {
		tail = append(tail, owner)
	}
	if fresh := markup.Freshness(source, now); fresh != "" {
		tail = append(tail, fresh)
	}
	if len(tail) > 0 {
		runs = append(runs, run{text: " · " + strings.Join(tail, " · ")})
	}
	return piece{shape: item, runs: joined(runs)}
}

// sectionRuns names the sections of a row that have a heading.
func sectionRuns(sections []chat.Section) []run {
	var runs []run
	shown, more := 0, 0
	for _, section := range sections {
		heading := cut(markup.CleanLine(section.Heading), maxTitle)
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
		address, _ := webAddress(section.URL)
		runs = append(runs, run{text: separator}, run{text: heading, url: address})
		shown++
	}
	if more > 0 {
		runs = append(runs, run{text: fmt.Sprintf(" and %d more", more)})
	}
	return runs
}

// sourceBlocks shows an answer's sources under a line.
func sourceBlocks(groups []chat.SourceGroup, now time.Time) (blocks []slack.Block, folded int) {
	pieces, folded := sourcePieces(groups, now, maxRows, sourcesBudget)
	if len(pieces) == 0 {
		return nil, 0
	}
	return append([]slack.Block{slack.NewDividerBlock()}, richText(pieces)...), folded
}
