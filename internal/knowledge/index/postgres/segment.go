package postgres

import (
	"maps"
	"slices"

	"cairn/internal/knowledge/index/ranking"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/language"
)

// termCounts says how often a term stands in which field of a passage.
type termCounts struct {
	term string
	ranking.Counts
}

// analysedPassage is the indexed form of a passage's words.
type analysedPassage struct {
	terms   []termCounts
	lengths lexical.Counts // how many terms each field has
}

// analyzer analyses passages one after the other.
type analyzer struct {
	at map[string]int // of each term of the passage at hand in its list
}

func (a *analyzer) analyzePassage(tag language.Tag, title string, headings []string, text string) analysedPassage {
	clear(a.at)
	words := analysedPassage{terms: make([]termCounts, 0, len(text)/8)}
	words.lengths.Title = a.countTerms(&words, lexical.AnalyzeIn(tag, title), func(c *termCounts) *uint8 { return &c.Title })
	for _, heading := range headings {
		words.lengths.Headings += a.countTerms(&words, lexical.AnalyzeIn(tag, heading), func(c *termCounts) *uint8 { return &c.Headings })
	}
	a.countTerms(&words, lexical.Names(title, headings), func(c *termCounts) *uint8 { return &c.Headings }) // adds nothing to the length
	words.lengths.Body = a.countTerms(&words, lexical.AnalyzeIn(tag, text), func(c *termCounts) *uint8 { return &c.Body })
	return words
}

// countTerms adds terms to those of a field, and gives their number.
func (a *analyzer) countTerms(words *analysedPassage, terms []string, field func(*termCounts) *uint8) int {
	for _, term := range terms {
		at, ok := a.at[term]
		if !ok {
			at = len(words.terms)
			a.at[term] = at
			words.terms = append(words.terms, termCounts{term: term})
		}
		ranking.Increment(field(&words.terms[at]))
	}
	return len(terms)
}

// termChange is the change of a term by a write.
type termChange struct {
	passages int
	postings []posting
}

// segmentBuilder gathers the posting lists of a write.
type segmentBuilder map[string]*termChange

func (b segmentBuilder) termChange(term string) *termChange {
	change, ok := b[term]
	if !ok {
		change = &termChange{}
		b[term] = change
	}
	return change
}

// addPassage adds a passage; slots come in ascending order.
func (b segmentBuilder) addPassage(slot int32, words analysedPassage) {
	for _, c := range words.terms {
		change := b.termChange(c.term)
		change.passages++
		change.postings = append(change.postings, posting{slot: slot, Counts: c.Counts})
	}
}

// removePassage takes a passage out of the counts. Its postings stay in the segment that has
// them, where no search looks at a slot that is gone.
func (b segmentBuilder) removePassage(words analysedPassage) {
	for _, c := range words.terms {
		b.termChange(c.term).passages--
	}
}

// allEntries yields the changed entries, in order of term.
func (b segmentBuilder) allEntries(yield func(entry) bool) {
	for _, term := range slices.Sorted(maps.Keys(b)) {
		change := b[term]
		if change.passages == 0 && len(change.postings) == 0 {
			continue
		}
		if !yield(entry{term: term, passages: change.passages, list: makeList(change.postings)}) {
			return
		}
	}
}

// page is a row of cairn.page.
type page struct {
	first   []byte
	entries []byte
}

// paginator puts entries that come in order of term into pages.
type paginator struct {
	size    int // bytes from which a page is full
	pages   []page
	current page
	bytes   int64 // of all pages
}

func (p *paginator) addEntry(e entry) {
	if len(p.current.entries) > 0 && len(p.current.entries)+len(e.list) > p.size {
		p.flushPage()
	}
	if len(p.current.entries) == 0 {
		p.current.first = []byte(e.term)
	}
	p.current.entries = appendEntry(p.current.entries, e)
}

func (p *paginator) flushPage() {
	if len(p.current.entries) > 0 {
		p.bytes += int64(len(p.current.entries))
		p.pages = append(p.pages, p.current)
		p.current = page{}
	}
}

// takePages returns the pages that are full, and forgets them.
func (p *paginator) takePages() []page {
	full := p.pages
	p.pages = nil
	return full
}
