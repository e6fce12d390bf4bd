package answer

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

var sizes = map[flows.Depth]quoting.Size{
	flows.Brief:         {Passages: 4, Characters: 300, Floor: 0.6, Chance: 0.06},
	flows.Detailed:      {Passages: 8, Characters: 860, Floor: 0.4, Chance: 0.06},
	flows.Comprehensive: {Passages: 12, Characters: 4500, Floor: 0.3},
}

// quoter drafts answers from sentences of the evidence.
type quoter struct {
	documents int            // quoted from at most
	observe   func(Quotable) // is told of what quotes are chosen from; nil: nobody is
}

// quote makes the draft of an answer from the evidence.
func (q *quoter) quote(s State) Draft {
	passages, positions := quotable(s, q.documents, language.Detect(s.OriginalQuery).Or(language.English))
	if len(passages) == 0 {
		return Draft{}
	}
	question, size := questionOf(s), sizes[s.Depth]
	if isDoubtful(s) {
		size.Characters = 0 // nothing beside the best quote
	}
	if q.observe != nil {
		paths := make([]string, len(positions))
		for i, position := range positions {
			paths[i] = s.SearchResults[position].Document.Path
		}
		q.observe(Quotable{Question: question, Passages: passages, Paths: paths, Size: size})
	}
	var draft Draft
	for _, chosen := range quoting.Choose(question, passages, size) {
		draft.Sentences = append(draft.Sentences, Sentence{
			Text: chosen.Text, Evidence: positions[chosen.Passage], Position: chosen.Position, Block: chosen.Block, Score: chosen.Score,
		})
	}
	return draft
}

// attachedFloor is what the score of an attached file's passage has to be against the
// best one's: such a file is there anyway, and need not bear on the question.
const attachedFloor = 0.6

// quotable gives the evidence as passages to quote from, best first, and their positions
// in it. Pages in another language than the asked one are left out where there are some in
// that: a page and its translations say the same. So are sections of which there is a newer
// version, and pages that tell how things were, or may be, unless the best is one of them. Headings without text are left out, unless
// one is the best.
func quotable(s State, documents int, asked language.Tag) (passages []quoting.Passage, positions []int) {
	evidence := s.SearchResults
	known := make(map[knowledge.DocumentID]bool)
	foreign := inOtherLanguage(s, asked)
	replaced := superseded(evidence, s.OriginalQuery)
	aside := positionsAside(evidence, s.OriginalQuery)
	for i, e := range evidence {
		if _, ok := replaced[i]; ok || foreign[i] || i > 0 && (isHeadingAlone(e) || aside[i] && !aside[0]) {
			continue
		}
		if !known[e.Document.ID] && len(known) == documents || isAttached(e) && e.Score < attachedFloor*evidence[0].Score {
			continue
		}
		known[e.Document.ID] = true
		positions = append(positions, i)
		passages = append(passages, quoting.Passage{
			Document: string(e.Document.ID), Title: e.Document.Title, Headings: e.Passage.Headings,
			Language: language.Parse(e.Document.Language), Text: e.Passage.Text,
			Score: e.Score,
		})
	}
	return passages, positions
}

// isHeadingAlone tells whether the text of a passage is its heading, or its document's title: it
// says where something belongs, and states nothing.
func isHeadingAlone(e retrieve.Evidence) bool {
	heading := e.Document.Title
	if count := len(e.Passage.Headings); count > 0 {
		heading = e.Passage.Headings[count-1]
	}
	return strings.TrimSpace(e.Passage.Text) == strings.TrimSpace(heading)
}

// inOtherLanguage gives the positions of the evidence in another language than the asked
// one; none where all that bears nearly as much on the question as the best is in others.
func inOtherLanguage(s State, asked language.Tag) map[int]bool {
	evidence := s.SearchResults
	foreign := make(map[int]bool)
	native, covered, most := false, 0.0, 0.0
	for i, e := range evidence {
		of := language.Parse(e.Document.Language)
		held := s.Profile.Coverage(termsOf(e))
		most = max(most, held)
		switch {
		case asked != language.Unknown && of != language.Unknown && of != asked:
			foreign[i] = true
		case e.Score >= nativeFloor*evidence[0].Score:
			native, covered = true, max(covered, held)
		}
	}
	if !native || covered < nativeCoverage*most {
		return nil
	}
	return foreign
}

// nativeFloor is what a passage in the asked language has to score against the best one,
// nativeCoverage what part of the question it has to hold against the most that one does.
const (
	nativeFloor    = 0.4
	nativeCoverage = 0.8
)

// questionOf is the question that quotes are chosen for.
func questionOf(s State) quoting.Question {
	q := quoting.Question{Text: s.Query, Profile: s.Profile, Intent: string(s.Intent)}
	q.Profile.Terms = slices.Concat(q.Profile.Terms, s.Around)
	if len(s.Parts) < 2 {
		return q
	}
	for _, part := range s.Parts {
		if profile := profileOfPart(s.Profile, part); len(profile.Terms) > 0 {
			q.Parts = append(q.Parts, profile)
		}
	}
	return q
}

// profileOfPart is what a part of a question is about.
func profileOfPart(whole support.Profile, part string) support.Profile {
	set := support.Of(part)
	profile := support.Profile{Passages: whole.Passages}
	for _, term := range whole.Terms {
		if term.Holds(set) {
			profile.Terms = append(profile.Terms, term)
		}
	}
	return profile
}
