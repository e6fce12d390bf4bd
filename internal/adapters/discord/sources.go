package discord

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// Bounds of the list of sources under an answer. The rest is folded.
const (
	maxRows     = 10
	maxSections = 4
	maxTitle    = 120
	// sourcesBudget is for the list; Discord takes 4,096 in an embed's description and 6,000
	// in all embeds of a message.
	sourcesBudget = 3600
)

// accent is the colour of embeds.
const accent = 0x4F7CAC

// firstAddress is where a source is found, "" where the web has it nowhere.
func firstAddress(source chat.Source) string {
	for _, section := range source.Sections {
		if to, ok := webAddress(section.URL); ok {
			return to
		}
	}
	return ""
}

// sourcesEmbed lists sources under an answer.
func sourcesEmbed(groups []chat.SourceGroup, now time.Time, rows int) (shown []embed, folded int) {
	text, folded := sourceList(groups, now, rows)
	if text == "" {
		return []embed{}, 0
	}
	made := embed{Title: "Sources", Description: text, Color: accent}
	if folded > 0 {
		made.Footer = &embedFooter{Text: "and " + moreDocuments(folded)}
	}
	return []embed{made}, folded
}

// sourceList lists sources, a row a document under its category. What is over the bounds
// is folded: it is counted.
func sourceList(groups []chat.SourceGroup, now time.Time, rows int) (text string, folded int) {
	var out strings.Builder
	for _, group := range groups {
		headed := false
		for _, source := range group.Sources {
			row := sourceRow(source, now) + "\n"
			if category := cut(markup.CleanLine(group.Category), maxTitle); !headed && category != "" {
				row = "**" + escape(category, false) + "**\n" + row
			}
			if folded > 0 || rows == 0 || length(out.String()+row) > sourcesBudget {
				folded++
				continue
			}
			headed = true
			rows--
			out.WriteString(row)
		}
	}
	return strings.TrimRight(out.String(), "\n"), folded
}

func moreDocuments(n int) string {
	if n == 1 {
		return "1 more document"
	}
	return strconv.Itoa(n) + " more documents"
}

// sourceRow is "- [1][3] Deploying the API: Rolling back, Time limits · Platform team ·
// changed 3 weeks ago", with links.
func sourceRow(source chat.Source, now time.Time) string {
	var runs []run
	for _, number := range source.Numbers {
		runs = append(runs, run{text: "[" + strconv.Itoa(number) + "]"})
	}
	if len(runs) > 0 {
		runs = append(runs, run{text: " "})
	}
	title := "Untitled"
	for _, name := range []string{source.Title, source.Path} {
		if name = cut(markup.CleanLine(name), maxTitle); name != "" {
			title = name
			break
		}
	}
	to := firstAddress(source)
	runs = append(runs, run{text: title, url: to, style: style{bold: to == ""}})
	runs = append(runs, sectionRuns(source.Sections)...)
	var tail []string
	if to == "" && source.Path != "" {
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
	return piece{shape: item, mark: "-", runs: joined(runs)}.write()
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
		to, _ := webAddress(section.URL)
		runs = append(runs, run{text: separator}, run{text: heading, url: to})
		shown++
	}
	if more > 0 {
		runs = append(runs, run{text: fmt.Sprintf(" and %d more", more)})
	}
	return runs
}
