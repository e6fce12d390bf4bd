package rerank

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// The features of a passage, by name in the file of weights.
const (
	searchScore       = "search"        // against the best one's
	titleExact        = "title_exact"   // the title names what is asked for, and little else
	sectionExact      = "section_exact" // the same of the section's heading
	sideBySide        = "side_by_side"  // neighbouring words of the question that are neighbours in the passage
	literal           = "literal"       // flags, files and quoted words of the question that the text has as they are
	pageSupport       = "page_support"  // how good the other passages of its page are
	isShort           = "short"         // a list of links, a heading with a line
	definitionTitle   = "definition_title_exact"
	definitionSection = "definition_section_exact"
	definitionSays    = "definition_says"  // a sentence says what the question's words are
	byWords           = "words"            // score of the search by words, against the best
	byMeaning         = "meaning"          // cosine, against the best
	coverage          = "coverage"         // of the question by page title, headings and text, against the best
	bestStretch       = "stretch"          // of the question by so many terms side by side
	relativeStretch   = "relative_stretch" // against the best
	opensPage         = "opens_page"       // first passage of its page
	howToCode         = "how_to_code"
)

const (
	shortPassage = 25  // words, as a list of links to other pages has
	stretch      = 12  // terms, fillers among them
	apart        = 3   // terms from one neighbour to the next
	saysWithin   = 600 // bytes of a passage
	// maxSupport is how much the other passages of a page count for one, in best passages.
	maxSupport = 2
	// definition is the intent of a question for what something is.
	definition = "definition"
	// howTo is the intent of a question for how something is done.
	howTo = "how-to"
)

var (
	code     = regexp.MustCompile("(?m)^\\s*(?:```|~~~)")
	literals = regexp.MustCompile("(?:^|[\\s`\"'(])(--?[a-zA-Z][\\w-]+|[\\w-]+(?:[._/:][\\w-]+)+|[A-Z][A-Z_]{3,})|`([^`]+)`|\"([^\"]+)\"")
	// says is the beginning of a sentence that says what its subject is.
	says = regexp.MustCompile("(?im)(?:^|[.!?:]\\s+)[\\W_]*(?:(?:an?|the|in \\w+,?|eine?|der|die|das|une?|les?|la|l'|una?|el)\\s+)?((?:[\\w`*_'()-]+(?:\\.[\\w`*_'()-]+)*[ \\t]+){0,5}[\\w`*_'()-]+(?:\\.[\\w`*_'()-]+)*)\\s+(?:is|are|means?|refers? to|stands? for|describes?|ist|sind|est|sont|es|son|désigne|bezeichnet)\\s")
)

// Describe gives the features of each passage of evidence, which is in the order of a
// search.
func Describe(q Question, evidence []retrieve.Evidence) []logistic.Features {
	wanted := literalsOf(q.Text)
	described := make([]logistic.Features, len(evidence))
	for i, e := range evidence {
		f := describe(q, e)
		f[searchScore] = ratio(e.Score, evidence[0].Score)
		f[byWords], f[byMeaning] = e.Lexical, e.Dense
		f[literal] = shareOfLiterals(wanted, e)
		f[pageSupport] = supportOf(i, evidence)
		f[relativeStretch] = f[bestStretch]
		described[i] = f
	}
	for _, name := range []string{byWords, byMeaning, coverage, relativeStretch} {
		compareWithBest(described, name)
	}
	return described
}

// compareWithBest divides a feature of all passages by the greatest value that one has.
func compareWithBest(described []logistic.Features, name string) {
	greatest := 0.0
	for _, f := range described {
		greatest = max(greatest, f[name])
	}
	for _, f := range described {
		f[name] = ratio(f[name], greatest)
	}
}

// describe gives the features that a passage has by itself.
func describe(q Question, e retrieve.Evidence) logistic.Features {
	tag := language.Parse(e.Document.Language)
	analysis := support.Passage{Language: tag, Title: e.Document.Title, Headings: e.Passage.Headings, Text: e.Passage.Text}.Analyze()
	found := findTerms(q.Profile, analysis.Text)
	f := logistic.Features{
		titleExact:   exactness(q.Profile, tag, e.Document.Title),
		sectionExact: exactness(q.Profile, tag, e.Passage.Section()),
		sideBySide:   shareOfNeighbours(q.Profile, found),
		coverage:     q.Profile.Coverage(analysis.All()),
		bestStretch:  coverageOfStretch(q.Profile, found),
		opensPage:    logistic.Number(e.Passage.Position == 0),
		howToCode:    logistic.Number(q.Intent == howTo && code.MatchString(e.Passage.Text)),
		isShort:      logistic.Number(len(strings.Fields(e.Passage.Text)) < shortPassage),
	}
	if q.Intent == definition {
		f[definitionTitle], f[definitionSection] = f[titleExact], f[sectionExact]
		f[definitionSays] = SaysWhat(q.Profile, tag, e.Passage.Text)
	}
	return f
}

// exactness is how far one of the names in a heading is what the question is about.
func exactness(p support.Profile, tag language.Tag, heading string) float64 {
	best := 0.0
	for _, name := range lexical.SplitNames(heading) {
		best = max(best, p.Exactness(support.OfIn(tag, name)))
	}
	return best
}

// foundTerm is a place in a text where a term of the question stands.
type foundTerm struct{ at, term int }

// findTerms gives the places of the question's terms among those of a text, in order.
func findTerms(p support.Profile, terms []string) []foundTerm {
	var found []foundTerm
	for at, term := range terms {
		for t, wanted := range p.Terms {
			if wanted.Text == term || slices.Contains(wanted.Also, term) {
				found = append(found, foundTerm{at, t})
			}
		}
	}
	return found
}

// coverageOfStretch is the greatest part of the question that a stretch of a text holds, no
// longer than a sentence or two.
func coverageOfStretch(p support.Profile, found []foundTerm) float64 {
	best, held := 0.0, 0.0
	count := make([]int, len(p.Terms))
	first := 0
	for _, f := range found {
		if count[f.term]++; count[f.term] == 1 {
			held += p.Terms[f.term].IDF
		}
		for ; f.at-found[first].at >= stretch; first++ {
			left := found[first].term
			if count[left]--; count[left] == 0 {
				held -= p.Terms[left].IDF
			}
		}
		best = max(best, held)
	}
	return ratio(best, p.Weight())
}

// shareOfNeighbours is the part of the question's pairs of neighbouring words that stand near one
// another in a text, in their order.
func shareOfNeighbours(p support.Profile, found []foundTerm) float64 {
	if len(p.Terms) < 2 {
		return 0
	}
	at := make([][]int, len(p.Terms))
	for _, f := range found {
		at[f.term] = append(at[f.term], f.at)
	}
	held, all := 0.0, 0.0
	for t := range len(p.Terms) - 1 {
		weight := p.Terms[t].IDF + p.Terms[t+1].IDF
		all += weight
		if near(at[t], at[t+1]) {
			held += weight
		}
	}
	return ratio(held, all)
}

// near says whether a position of the second follows one of the first closely.
func near(first, second []int) bool {
	j := 0
	for _, i := range first {
		for j < len(second) && second[j] <= i {
			j++
		}
		if j < len(second) && second[j]-i <= apart {
			return true
		}
	}
	return false
}

// literalsOf gives what a question has in the form of code: flags, files, quoted words.
func literalsOf(text string) []string {
	var found []string
	for _, match := range literals.FindAllStringSubmatch(text, -1) {
		for _, group := range match[1:] {
			if group != "" {
				found = append(found, strings.ToLower(group))
			}
		}
	}
	return found
}

func shareOfLiterals(wanted []string, e retrieve.Evidence) float64 {
	text := strings.ToLower(e.Document.Title + "\n" + e.Passage.Section() + "\n" + e.Passage.Text)
	held := 0
	for _, literal := range wanted {
		if strings.Contains(text, literal) {
			held++
		}
	}
	return ratio(float64(held), float64(len(wanted)))
}

// supportOf is how much the other passages of a passage's page score together, 0 to 1.
func supportOf(of int, evidence []retrieve.Evidence) float64 {
	sum := 0.0
	for i, e := range evidence {
		if i != of && e.Document.ID == evidence[of].Document.ID {
			sum += ratio(e.Score, evidence[0].Score)
		}
	}
	return min(sum, maxSupport) / maxSupport
}

// SaysWhat is how well the subject of a sentence at the beginning of a text that says what
// something is, is what the question asks about.
func SaysWhat(p support.Profile, tag language.Tag, text string) float64 {
	text = knowledge.WithoutAddresses(text)
	if len(text) > saysWithin {
		text = strings.ToValidUTF8(text[:saysWithin], "")
	}
	best := 0.0
	for _, match := range says.FindAllStringSubmatch(text, -1) {
		subject := support.OfIn(tag, match[1])
		best = max(best, p.Exactness(subject))
	}
	return best
}

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
