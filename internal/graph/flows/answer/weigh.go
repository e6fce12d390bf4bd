package answer

import (
	"math"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// nearby is how many passages are looked at closely.
const nearby = 5

// measureFeatures gives the numbers that are judged by, of the first search.
func measureFeatures(s State) logistic.Features {
	f := logistic.Features{logistic.Always: 1}
	addQuestionFeatures(s, f)
	if len(s.SearchResults) == 0 {
		f["nothing found"] = 1
		return f
	}
	addEvidenceFeatures(s, f)
	addPageFeatures(s, f)
	return f
}

// addQuestionFeatures adds what the question alone tells, and the thread that it is asked in.
func addQuestionFeatures(s State, f logistic.Features) {
	p, telling := s.Profile, len(s.Profile.Terms)
	inThread := logistic.Number(len(s.History) > 0)
	f[neverAsked] = logistic.Number(isPlainQuestion(s))
	f[neverDeclined] = logistic.Number(s.FollowUp && len(s.Before) == 0 && telling <= 1)
	f["thread"] = logistic.Number(len(s.Before) > 0)
	f["weight of the words"] = math.Min(p.Weight()/math.Log(2+float64(max(p.Passages, 1)))/4, 1.5)
	f["whether"] = logistic.Number(words.AsksWhether(s.OriginalQuery))
	f["definition"] = logistic.Number(s.Intent == Definition)
	f["troubleshooting"] = logistic.Number(s.Intent == Troubleshooting)
	f["statement in a thread"] = inThread * logistic.Number(words.States(s.OriginalQuery))
	f["price"] = logistic.Number(words.AsksPrice(s.OriginalQuery))
	f["person of the team's own"] = logistic.Number(words.AsksWho(s.OriginalQuery) && words.Own(s.OriginalQuery))
	f["live and the team's own"] = logistic.Number(words.Live(s.OriginalQuery) && (words.AsksWho(s.OriginalQuery) || words.Own(s.OriginalQuery)))
	f["referent"] = logistic.Number(s.Unresolved != "" && !s.FollowUp)
	f["not given"] = logistic.Number(pointsAtNothing(s))
	things := countThings(p)
	f["no thing"] = logistic.Number(things == 0)
	f["how to do one thing"] = (1 - inThread) * logistic.Number(things <= 1 && s.Intent == HowTo)
	mentions := mentionsOf(s)
	f["definite"] = shareOfMost(len(mentions))
	if inThread != 0 {
		thread := said(s.History)
		f["definite not given"] = shareOfMost(countNotGiven(mentions, thread))
		f["definite off the thread"] = f["definite not given"] * (1 - p.Coverage(thread))
	}
}

// mostMentions is how many things that a question speaks of as known count.
const mostMentions = 2

func shareOfMost(mentions int) float64 { return float64(min(mentions, mostMentions)) / mostMentions }

// countNotGiven counts the mentions of "the" thing that a thread does not speak of.
func countNotGiven(mentions []words.Mention, thread support.Set) int {
	count := 0
	for _, mention := range mentions {
		if !mention.Points && !isGiven(mention, thread) {
			count++
		}
	}
	return count
}

// countThings counts the words of a question that tell what it is about, rather than what is
// to be done.
func countThings(p support.Profile) int {
	count := 0
	for _, term := range p.Terms {
		if !words.IsAction(term.Text) {
			count++
		}
	}
	return count
}

// addEvidenceFeatures adds how what was found bears on the question.
func addEvidenceFeatures(s State, f logistic.Features) {
	p, a, first := s.Profile, s.AnalysisResults, s.SearchResults[0]
	bears := bearing(s)
	f["bearing"] = clamp(bears.value/bears.limit-1, -1, 1.5)
	f["match of the first"] = math.Min(first.Lexical/math.Max(p.Weight(), leastWeight), 3) / 3
	f["near documents"] = math.Min(float64(near(s.SearchResults)), 10) / 10
	f["unknown and unlike"] = logistic.Number(!s.FollowUp && p.Unknown() >= mostUnknown+fewPassages/float64(max(p.Passages, 1)) && a.Coverage+a.Dense < likeEnough)
	f["section is the question"] = p.Exactness(support.OfIn(language.Parse(first.Document.Language), first.Passage.Section()))
	for _, e := range s.SearchResults[:min(len(s.SearchResults), nearby)] {
		f["words close by"] = max(f["words close by"], shareCloseBy(p, e))
	}
	if len(s.History) == 0 {
		f["words apart"] = shareApart(s)
		f["held by a heading"] = headingCoverage(s)
	}
}

// leastWeight is what the words of a question weigh at least.
const leastWeight = 0.1

// foundPage is a page of the evidence, with how much of what a question is about it holds.
type foundPage struct {
	score   float64 // of its best passage
	held    float64 // by a passage with its headings
	heading float64 // by a heading with the title
}

// pagesOf gives the pages of the evidence, best first. A page and its translations are one.
func pagesOf(s State) []*foundPage {
	subject := subjectOf(s.Profile)
	known := make(map[string]*foundPage)
	var pages []*foundPage
	for _, e := range s.SearchResults {
		page := known[pageOf(e.Document.Path)]
		if page == nil {
			page = &foundPage{score: e.Score}
			known[pageOf(e.Document.Path)] = page
			pages = append(pages, page)
		}
		page.held = max(page.held, subject.Coverage(termsOf(e)))
		page.heading = max(page.heading, subject.Coverage(support.OfIn(language.Parse(e.Document.Language), e.Document.Title, e.Passage.Section())))
	}
	return pages
}

// oneThing is the feature of a first message about one thing that several pages hold as much.
const oneThing = "one thing on several pages"

const (
	asMuch   = 0.95 // of the most that a page holds
	maxPages = 8    // that are counted
)

// addPageFeatures adds how the pages found compare with each other.
func addPageFeatures(s State, f logistic.Features) {
	pages := pagesOf(s)
	held, heading := 0.0, 0.0
	for _, page := range pages {
		held, heading = max(held, page.held), max(heading, page.heading)
	}
	holding, named := 0, 0
	for _, page := range pages {
		if page.score < offered*pages[0].score {
			continue
		}
		if page.held >= asMuch*held {
			holding++
		}
		if page.heading >= asMuch*heading {
			named++
		}
	}
	f["pages that hold as much"] = float64(min(holding, maxPages)) / maxPages
	f[oneThing] = logistic.Number(holding >= severalDocuments && asksOneThing(s))
	f["heading of one page"] = logistic.Number(heading >= 1 && named == 1)
}

// asksOneThing says whether a first message names at most one thing and does not ask what that
// is; a single word is no such question.
func asksOneThing(s State) bool {
	return len(s.History) == 0 && countThings(s.Profile) <= 1 && (s.Intent != Definition || len(strings.Fields(s.OriginalQuery)) == 1)
}

// What makes evidence thin.
const (
	mostUnknown = 0.35 // of a question's weight that no document mentions at all
	// fewPassages makes up for small indexes, where most words are unknown.
	fewPassages = 5
	likeEnough  = 1.25 // coverage and cosine together that outweigh unknown words
)

func clamp(value, least, most float64) float64 { return math.Max(least, math.Min(most, value)) }

// headingCoverage is the part of the question that the title and heading of one of the
// first passages hold, of what the question is about.
func headingCoverage(s State) float64 {
	best := 0.0
	subject := subjectOf(s.Profile)
	for _, e := range s.SearchResults[:min(len(s.SearchResults), nearby)] {
		best = max(best, subject.Coverage(support.OfIn(language.Parse(e.Document.Language), e.Document.Title, e.Passage.Section())))
	}
	return best
}

// isPlainQuestion says whether a question is plain enough never to be asked about: it asks what a
// thing is that the first passage names, what something does, or whether something is so; it
// is an identifier; one document alone has it for a title; it explains its pronoun itself, or comes with what others
// said or a file.
func isPlainQuestion(s State) bool {
	switch {
	case len(s.Before) > 0, len(s.Attachments) > 0, slices.ContainsFunc(s.SearchResults[:min(len(s.SearchResults), 1)], isAttached):
		return true
	case s.Unresolved != "" && !s.FollowUp:
		return false
	case len(s.History) == 0 && words.ActsOnProduct(s.OriginalQuery) && isOneCollection(s.SearchResults):
		return true
	case len(s.Profile.Terms) == 0:
		return len(s.History) > 0
	case decide(ungiven(s)).reason != "":
		return false
	}
	return words.AsksWhether(s.OriginalQuery) || words.AsksFunction(s.OriginalQuery) || words.ExplainsPronoun(s.OriginalQuery) ||
		words.IsIdentifier(s.OriginalQuery) || isTitle(s) || abbreviated(s) || s.Intent == Definition && isNamedFirst(s)
}

// isNamedFirst says whether what is found first names what a question in several words asks
// about.
func isNamedFirst(s State) bool {
	return len(s.SearchResults) > 0 && len(strings.Fields(s.OriginalQuery)) > 1 &&
		(headingCoverage(s) >= 1 || s.Profile.Coverage(termsOf(s.SearchResults[0])) >= 1)
}

// isTitle says whether one document alone, of those found first, has what a question is about
// for its title. A title that says nothing else goes before others, where it is found first of
// them.
func isTitle(s State) bool {
	titled := make(map[knowledge.DocumentID]bool)
	subject := subjectOf(s.Profile)
	for _, e := range s.SearchResults[:min(len(s.SearchResults), looked)] {
		if len(titled) == 0 && isExactTitle(subject, e.Document) {
			return true
		}
		title := support.OfIn(language.Parse(e.Document.Language), e.Document.Title)
		if isNamed(s.Profile, title) || isNamed(subject, title) {
			titled[e.Document.ID] = true
		}
	}
	return len(titled) == 1
}

// isExactTitle says whether one of the names in a document's title is what a question is about,
// and nothing else.
func isExactTitle(subject support.Profile, document knowledge.Document) bool {
	return slices.ContainsFunc(lexical.SplitNames(document.Title), func(name string) bool {
		return subject.Exactness(support.OfIn(language.Parse(document.Language), name)) == 1
	})
}

// closeBy is within how many terms of a text words stand close to one another: about two
// sentences.
const closeBy = 30

// relatedShare is what a word counts that asks for the same thing as one of the question.
const relatedShare = 0.6

// wantedTerm is a term of a question, by its position, with what a word counts for it.
type wantedTerm struct {
	at    int
	share float64
}

// shareCloseBy is the most of a question's weight that stands close by in a passage. What its
// title and heading hold stands everywhere in it.
func shareCloseBy(p support.Profile, e retrieve.Evidence) float64 {
	whole := p.Weight()
	if whole == 0 {
		return 0
	}
	heading := support.OfIn(language.Parse(e.Document.Language), e.Document.Title, e.Passage.Section())
	headed := make([]float64, len(p.Terms)) // share of each that the heading holds
	wanted := make(map[string][]wantedTerm)
	for i, term := range p.Terms {
		if term.Holds(heading) {
			headed[i] = 1
			continue
		}
		for _, text := range append([]string{term.Text}, term.Also...) {
			wanted[text] = append(wanted[text], wantedTerm{i, 1})
		}
		for _, text := range words.Related(term.Text) {
			if heading.Has(text) {
				headed[i] = relatedShare
			}
			wanted[text] = append(wanted[text], wantedTerm{i, relatedShare})
		}
	}
	return greatestStretch(p, headed, wanted, passageOf(e).Analyze().Text) / whole
}

// greatestStretch is the most of a question's weight that stands close by in a text, beside what
// its heading holds.
func greatestStretch(p support.Profile, headed []float64, wanted map[string][]wantedTerm, text []string) float64 {
	itself, related := make([]int, len(p.Terms)), make([]int, len(p.Terms)) // behind where each was met last
	weigh := func(at int) float64 {
		sum := 0.0
		for i, term := range p.Terms {
			share := headed[i]
			switch {
			case itself[i] > 0 && at-itself[i] < closeBy:
				share = 1
			case related[i] > 0 && at-related[i] < closeBy:
				share = max(share, relatedShare)
			}
			sum += share * term.IDF
		}
		return sum
	}
	most := weigh(0)
	for at, word := range text {
		met := wanted[word]
		for _, term := range met {
			if term.share == 1 {
				itself[term.at] = at + 1
			} else {
				related[term.at] = at + 1
			}
		}
		if len(met) > 0 {
			most = max(most, weigh(at+1))
		}
	}
	return most
}
