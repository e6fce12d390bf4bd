package quoting

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// asksMeaning matches questions that a definition answers.
var asksMeaning = regexp.MustCompile(`(?i)^\W*(what'?s|whats|what is|what are|wh?at does|wtf (is|are)|wat is|define|definition of|meaning of|explain|was ist|was sind|was bedeutet|qu'est[- ]ce|c'est quoi|qué es|que es|o que é|cos'è|wat is)\b|とは|って何|什么是|是什么`)

// asksDefinition tells whether a question asks for the meaning of something.
func (q Question) asksDefinition() bool {
	return q.Intent == definition || asksMeaning.MatchString(q.Text)
}

// opening matches the headings under which pages say what they are about.
var opening = regexp.MustCompile(`(?i)^\W*(overview|introduction|synopsis|summary|about|description|what is .*)\W*$`)

// heading is what names a passage: its own heading, or its page's title.
func (p Passage) heading() string {
	own := p.Title
	if len(p.Headings) > 0 {
		own = p.Headings[len(p.Headings)-1]
	}
	if opening.MatchString(own) {
		return p.Title
	}
	return own
}

// ranked is a passage with its position in the list of the search.
type ranked struct {
	Passage
	position int
	defines  float64 // how far it defines what is asked for, 0 to 2; 0 where nothing is
	says     float64 // how far its text does, 0 to 1
}

const (
	// definesFrom is how far a passage has to define what is asked for, to go before others.
	definesFrom = 0.75
	// definers is how many passages go before others.
	definers = 2
	// openingUnits is within how many sentences of a passage a definition is looked for.
	openingUnits = 4
)

// rank puts the passages in order that define what a question asks the meaning of before
// the others: search finds those that mention it as well. The rest stay in the order of the
// search, as far as the size goes.
func rank(q Question, passages []Passage, size Size) []ranked {
	var order []ranked
	asks := (q.asksDefinition() || words.IsKeyword(q.Text)) && len(q.Parts) < 2
	for i, p := range passages {
		r := ranked{Passage: p, position: i}
		if asks {
			r.defines, r.says = measureDefinition(q.Profile, p)
		}
		order = append(order, r)
	}
	defining := slices.Clone(order)
	slices.SortStableFunc(defining, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.defines, a.defines), cmp.Compare(b.says, a.says)) })
	end := 0
	for end < len(defining) && end < definers && defining[end].defines >= definesFrom {
		end++
	}
	chosen := defining[:end:end]
	for i, r := range order {
		if i >= size.Passages || r.Score < size.Floor*passages[0].Score {
			break
		}
		if !slices.ContainsFunc(chosen[:end], func(c ranked) bool { return c.position == r.position }) {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// Defines tells whether an entry of a glossary in a text says what the words of a question are.
func Defines(profile support.Profile, tag language.Tag, text string) bool {
	for _, s := range sentence.Split(text) {
		u := unit{Sentence: s, kind: kindOf(s), plain: knowledge.WithoutAddresses(s.Text)}
		if entryTerm[u.kind] != nil && definesTerm(profile, tag, u) == 1 {
			return true
		}
	}
	return false
}

// measureDefinition tells how far a passage defines the words of a question: 1 for its heading, if
// that names them and nothing else, and 1 for one of its first sentences, if that says what
// they are, or for their entry in a glossary: the latter is given by itself as well.
func measureDefinition(profile support.Profile, p Passage) (defines, said float64) {
	byHeading := 0.0
	for _, name := range lexical.SplitNames(p.heading()) {
		byHeading = max(byHeading, profile.Exactness(support.OfIn(p.Language, name)))
	}
	for i, s := range sentence.Split(p.Text) {
		u := unit{Sentence: s, kind: kindOf(s)}
		if i < openingUnits || entryTerm[u.kind] != nil {
			u.plain = knowledge.WithoutAddresses(s.Text)
			said = max(said, definesTerm(profile, p.Language, u))
		}
	}
	return byHeading + said, said
}
