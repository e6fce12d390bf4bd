package answer

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// decision is why to ask or to abstain, and what that was decided from.
type decision struct {
	reason string // "" where the question is to be answered
	inputs []flows.Input
}

// rule is a reason that holds where all its tests do.
type rule struct {
	reason string
	tests  []test
}

// test compares a number with a limit: it holds from the limit on if least is set,
// and else below it.
type test struct {
	name         string
	value, limit float64
	least        bool
}

func (t test) holds() bool { return t.least == (t.value >= t.limit) }

// decide takes the first rule that holds. Of the others it keeps what was compared.
func decide(rules []rule) decision {
	var d decision
	for _, r := range rules {
		decided := d.reason == "" && !slices.ContainsFunc(r.tests, func(t test) bool { return !t.holds() })
		if decided {
			d.reason = r.reason
		}
		for _, t := range r.tests {
			d.inputs = append(d.inputs, flows.Input{Name: t.name, Value: t.value, Limit: t.limit, Decided: decided})
		}
	}
	return d
}

// The limits of asking about a thing that a question speaks of as known.
const (
	// clearMatch is how often over the best passage holds the question's words, by
	// their weight; from there on it is clear enough what is meant.
	clearMatch = 1.3
	// sameSubject is the part of a question's weight that the thread mentions where
	// the question goes on with its subject.
	sameSubject = 0.2
	// severalDocuments have near-equal evidence where a thing can be one of several.
	severalDocuments = 3
)

// ungiven are the reasons to ask about a thing that the question speaks of as known
// but the thread does not mention: "this county". "The county" is one only where the
// question leaves the thread's subject: else there may be just one.
func ungiven(s State) []rule {
	mentions := mentionsOf(s)
	if len(mentions) == 0 {
		return nil
	}
	thread := said(s.History)
	var rules []rule
	for _, mention := range mentions {
		if isGiven(mention, thread) {
			continue
		}
		r := rule{
			reason: speakerFor(s).Text(phrases.UnclearReference, mention.Text),
			tests:  []test{{name: "match of the best passage", value: match(s), limit: clearMatch}},
		}
		switch {
		case mention.Points && len(s.History) == 0:
			r.tests = append(r.tests, test{"documents with near-equal evidence", float64(near(s.SearchResults)), severalDocuments, true})
		case !mention.Points && (len(s.History) == 0 || s.FollowUp):
			continue
		case !mention.Points:
			r.tests = append(r.tests, test{name: "part mentioned in the thread", value: s.Profile.Coverage(thread), limit: sameSubject})
		}
		rules = append(rules, r)
	}
	return rules
}

// said gives the terms of a thread's turns.
func said(turns []flows.Turn) support.Set {
	texts := make([]string, len(turns))
	for i, turn := range turns {
		texts[i] = bounded(turn.Text)
	}
	return support.Of(texts...)
}

// mentionsOf gives what the question speaks of as known, but for what is attached to it.
func mentionsOf(s State) []words.Mention {
	return slices.DeleteFunc(words.Mentions(s.OriginalQuery), func(mention words.Mention) bool { return isAttachedMention(mention, s.Attachments) })
}

// isAttachedMention says whether a mention is of a file that is attached: as such, or by a word of its
// text.
func isAttachedMention(mention words.Mention, files []flows.Attachment) bool {
	if len(files) > 0 && smalltalk.PointsAtFile(mention.Text) {
		return true
	}
	return slices.ContainsFunc(files, func(file flows.Attachment) bool { return isGiven(mention, support.Of(bounded(file.Text))) })
}

// isGiven says whether the thread mentions any word of a mention.
func isGiven(mention words.Mention, thread support.Set) bool {
	for term := range support.Of(strings.Join(mention.Words, " ")) {
		if thread.Has(term) {
			return true
		}
	}
	return false
}

// match is the best passage's score by words against the weight of the question's own
// words: 1 where it holds all of them, each about once.
func match(s State) float64 {
	weight := s.Profile.Weight()
	if weight == 0 {
		return 0
	}
	return bestLexical(s) / weight
}

func bestLexical(s State) float64 {
	best := 0.0
	for _, e := range s.SearchResults {
		best = max(best, e.Lexical)
	}
	return best
}

const (
	// leastBearing is what evidence needs to answer a question from a large index, and
	// smallBearing the part of it that is enough in the smallest: the fewer passages
	// there are, the less do other subjects share words with the question by chance.
	leastBearing = 2.7
	smallBearing = 0.6
	// largeIndex is the number of passages beyond which words get rarer without
	// telling more.
	largeIndex = 1000
	// wholeWeight is what holding all words, or being alike in meaning, counts against
	// holding one of the rarest words.
	wholeWeight = 0.9
	// usualLikeness stands in for the cosine where there are no vectors.
	usualLikeness = 0.5
)

// bearing measures how well the evidence bears on the question, in words of the rarest
// kind, and how well it must. Three things count: what the best match is worth, what
// part of the question the first passage holds, and how near passages come in meaning.
// A chatty question's words may be missing if rare ones are held; a short question's
// one word may be all there is.
func bearing(s State) test {
	rarest := lexical.IDF(min(max(s.Profile.Passages, 1), largeIndex), 1)
	t := test{
		name:  "bearing of the evidence",
		limit: leastBearing * (smallBearing + (1-smallBearing)*rarest/lexical.IDF(largeIndex, 1)),
	}
	if len(s.SearchResults) == 0 {
		return t
	}
	likeness := s.AnalysisResults.Dense
	if likeness == 0 {
		likeness = usualLikeness
	}
	t.value = bestLexical(s)/rarest + wholeWeight*(s.Profile.Coverage(termsOf(s.SearchResults[0]))+likeness)
	return t
}
