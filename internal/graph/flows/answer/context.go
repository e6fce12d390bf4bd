package answer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
)

// sizeOfContext bounds what a model is shown.
type sizeOfContext struct {
	passages int
	// sure are the passages that are shown unless they score far less than the best; those
	// after them score nearly as much, or are small. 0: all are.
	sure   int
	tokens int
	rest   map[int][]int // positions of what is shown with a passage, for its listing goes on there
}

// What a passage scores at least that is shown, of the best one's score: among the sure ones, and
// after them, where a small one costs little.
const (
	sureShare    = 0.2
	nearShare    = 0.7
	smallShare   = 0.5
	smallPassage = 720 // bytes of its text at most
)

// sourceTokens is about what the tags and the title of a source take.
const sourceTokens = 24

// shownContext is what a model is shown.
type shownContext struct {
	sources   []prompts.Source
	positions []int         // of each source's best passage in the evidence
	joined    map[int][]int // by such a position: those of the other passages in its source
}

// shownSources gives the passages that a model is shown, best first, those of one section as one
// source. A passage that does not fit whole is cut at the end of a sentence, and what comes
// after it is left out.
func shownSources(model llm.Model, evidence []retrieve.Evidence, size sizeOfContext) shownContext {
	left := size.tokens
	var parts []part
	for _, i := range withRest(worthShowing(evidence, size), size.rest) {
		e := evidence[i]
		left -= sourceTokens + model.Tokens(e.Document.Title+e.Passage.Section())
		text, took, whole := prompt.FitSentences(model, e.Passage.Text, left)
		if text == "" {
			break
		}
		left -= took
		parts = append(parts, part{i, text})
		if !whole {
			break
		}
	}
	return sourcesOf(evidence, parts)
}

// withRest puts the rest of their listings behind passages, each passage once.
func withRest(worth []int, rest map[int][]int) []int {
	if len(rest) == 0 {
		return worth
	}
	var all []int
	for _, position := range worth {
		for _, next := range append([]int{position}, rest[position]...) {
			if !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	return all
}

// worthShowing gives the positions of the passages that are worth showing, best first.
func worthShowing(evidence []retrieve.Evidence, size sizeOfContext) []int {
	var worth []int
	some := slices.ContainsFunc(evidence, func(e retrieve.Evidence) bool { return isWorthShowing(e, evidence[0]) })
	sure := size.sure
	if sure == 0 {
		sure = len(evidence)
	}
	for i, e := range evidence {
		share := sureShare
		if len(worth) >= sure {
			share = nearShare
			if len(e.Passage.Text) <= smallPassage {
				share = smallShare
			}
		}
		switch {
		case len(worth) == size.passages:
			return worth
		case isAttached(e):
		case some && !isWorthShowing(e, evidence[0]), e.Score < share*evidence[0].Score:
			continue
		}
		worth = append(worth, i)
	}
	return worth
}

// part is as much of a passage as is shown.
type part struct {
	position int // in the evidence
	text     string
}

// sourcesOf makes sources of parts; those of one section stand in their order in the place of the
// best one.
func sourcesOf(evidence []retrieve.Evidence, parts []part) shownContext {
	shown := shownContext{joined: make(map[int][]int)}
	at := make(map[place][]part)
	var order []place
	for _, p := range parts {
		e := evidence[p.position]
		section := place{document: e.Document.ID, anchor: e.Passage.Anchor}
		if len(at[section]) == 0 {
			order = append(order, section)
		}
		at[section] = append(at[section], p)
	}
	for _, section := range order {
		group := at[section]
		best := group[0].position
		for _, p := range group[1:] {
			shown.joined[best] = append(shown.joined[best], p.position)
		}
		slices.SortFunc(group, func(a, b part) int {
			return cmp.Compare(evidence[a.position].Passage.Position, evidence[b.position].Passage.Position)
		})
		shown.positions = append(shown.positions, best)
		shown.sources = append(shown.sources, newSource(len(shown.positions), evidence, best, group))
	}
	return shown
}

// newSource makes a source of parts of a section, in their order.
func newSource(number int, evidence []retrieve.Evidence, best int, group []part) prompts.Source {
	document := evidence[best].Document
	source := prompts.Source{Number: number, Title: document.Title, Section: evidence[best].Passage.Section()}
	if !document.Modified.IsZero() {
		source.Modified = document.Modified.Format("2006-01-02")
	}
	for n, p := range group {
		switch {
		case n == 0:
		case evidence[p.position].Passage.Position == evidence[group[n-1].position].Passage.Position+1:
			source.Text += "\n\n"
		default:
			source.Text += "\n\n…\n\n"
		}
		source.Text += p.text
	}
	return source
}

const (
	// leastWords is how many words a passage has at least that a model is shown.
	leastWords = 12
	// shortFloor is the part of the best passage's score from which a shorter one is shown.
	shortFloor = 0.5
)

// seeAlso are headings over lists of links.
var seeAlso = regexp.MustCompile(`(?i)^(?:see also|related(?: (?:links|pages|topics|articles))?|further reading|next steps|what'?s next|siehe auch|voir aussi|véase también|vedi anche|zie ook)\W*$`)

// isWorthShowing says whether a passage may answer anything: lists of links don't, nor do a few
// words, unless they define something, score nearly as the best one, or are all that there is
// of a file.
func isWorthShowing(e, best retrieve.Evidence) bool {
	if isAttached(e) || len(e.Passage.Definitions) > 0 {
		return true
	}
	short := len(strings.Fields(e.Passage.Text)) < leastWords && e.Score < shortFloor*best.Score
	return !short && !seeAlso.MatchString(e.Passage.Section())
}

// positions gives the positions of all passages that a draft was written from.
func (d Draft) positions() []int {
	all := slices.Clone(d.Shown)
	for _, position := range d.Shown {
		all = append(all, d.Joined[position]...)
	}
	return all
}

// addJoined has claims that cite a source be checked against all passages that stood in it.
func (d Draft) addJoined(claims []claim) {
	for i := range claims {
		for _, position := range slices.Clone(claims[i].Cites) {
			claims[i].Cites = append(claims[i].Cites, d.Joined[position]...)
		}
	}
}
