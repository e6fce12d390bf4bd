package analyze

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/extract"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// layout is what an analysis by rules is made of: which kinds of statements, in which order, how
// many of each, and which words are looked for besides.
type layout struct {
	kinds  []extract.Kind // in their order
	wanted map[extract.Kind]bool
	words  []string // of each feedback that names something to look for
	// subject are the words that the kinds are asked for: "only the risks" after "on security"
	// are those on security.
	subject []string
	brief   bool
}

// standard is the order of an analysis that nobody asked for anything of.
var standard = []extract.Kind{
	extract.Outline, extract.Risks, extract.Decisions, extract.Questions, extract.Contradictions,
	extract.Dates, extract.People, extract.Numbers, extract.Terms,
}

const (
	brief  = 3   // statements of a kind of a short analysis
	usual  = 200 // statements of a kind
	asked  = 300 // of a kind that was asked for
	onWord = 20  // of what is looked for
)

// kindLimit is how many statements of a kind an analysis has.
func (l layout) kindLimit(kind extract.Kind) int {
	switch {
	case l.brief:
		return brief
	case l.wanted[kind]:
		return asked
	}
	return usual
}

// aliases are how people name the kinds, in English.
var aliases = []struct {
	kind  extract.Kind
	words *regexp.Regexp
}{
	{extract.Outline, regexp.MustCompile(`(?i)\b(?:outlines?|structure|overview|table of contents|toc)\b`)},
	{extract.Risks, regexp.MustCompile(`(?i)\b(?:risks?|dangers?|warnings?|threats?|weakness(?:es)?|vulnerabilit(?:y|ies))\b`)},
	{extract.Decisions, regexp.MustCompile(`(?i)\b(?:decisions?|decided|choices made|trade-?offs?|rationales?)\b`)},
	{extract.Questions, regexp.MustCompile(`(?i)\b(?:open (?:questions?|points?|issues?)|questions|unknowns?|to-?dos?|undecided)\b`)},
	{extract.Contradictions, regexp.MustCompile(`(?i)\b(?:contradict(?:ions?|s|ory)?|conflicts?|inconsisten(?:t|cy|cies)|disagree(?:ments?)?)\b`)},
	{extract.Dates, regexp.MustCompile(`(?i)\b(?:dates?|deadlines?|timelines?|schedules?|milestones?)\b`)},
	{extract.People, regexp.MustCompile(`(?i)\b(?:people|persons?|owners?|names?|contacts?|responsible|who)\b`)},
	{extract.Numbers, regexp.MustCompile(`(?i)\b(?:numbers?|figures?|amounts?|quantit(?:y|ies)|statistics|metrics)\b`)},
	{extract.Terms, regexp.MustCompile(`(?i)\b(?:terms?|terminology|glossary|definitions?|abbreviations?|acronyms?)\b`)},
}

// namedKinds gives the kinds that a text names, and the text without their names.
func namedKinds(text string) (kinds []extract.Kind, rest string) {
	for _, alias := range aliases {
		if alias.words.MatchString(text) {
			kinds = append(kinds, alias.kind)
			text = alias.words.ReplaceAllString(text, " ")
		}
	}
	return kinds, text
}

// layoutOf is what an analysis of a query looks like before anybody said more.
func layoutOf(query string) layout {
	l := layout{kinds: standard, wanted: make(map[extract.Kind]bool)}
	kinds, rest := namedKinds(query)
	if strings.TrimSpace(query) != "" {
		l.kinds = append(slices.Clone(standard[1:]), standard[0]) // who asks something knows the documents
	}
	l.moveFirst(kinds)
	if words := tellingWords(rest); words != "" {
		l.words, l.subject = []string{words}, []string{words}
	}
	return l
}

// moveFirst moves kinds to the beginning, and gives them more room.
func (l *layout) moveFirst(kinds []extract.Kind) {
	rest := slices.DeleteFunc(slices.Clone(l.kinds), func(kind extract.Kind) bool { return slices.Contains(kinds, kind) })
	l.kinds = slices.Concat(kinds, rest)
	for _, kind := range kinds {
		l.wanted[kind] = true
	}
}

var (
	clauseEnd = regexp.MustCompile(`(?i)[.;,\n!]|\bbut\b|\band then\b`)
	drops     = regexp.MustCompile(`(?i)\b(?:drop|remove|delete|without|skip|hide|omit|leave out|take out|no more|no|fewer|less|get rid of)\b`)
	keepsOnly = regexp.MustCompile(`(?i)\b(?:only|just|nothing but|solely)\b`)
	shorter   = regexp.MustCompile(`(?i)\b(?:make it |keep it |much |a bit |more )*(?:shorter|shorten(?: it)?|brief(?:er|ly)?|concise|too long|tl;?dr|cut it down)\b`)
	longer    = regexp.MustCompile(`(?i)\b(?:make it |a bit )*(?:longer|more details?|in (?:more )?detail|expand it|too short)\b`)
	// instructing words say what is to be done, not what is looked for.
	instructing = regexp.MustCompile(`(?i)\b(?:please|add|include|show|more|also|focus|on|concentrate|mention|analy[sz]e|analysis|section|sections|part|parts|details?|expand|list|find|give|tell|want|need|like|would|could|should|make|put|shorter|longer|rewrite|rephrase|summari[sz]e|better|everything|all|about|yes|ok|good|nice|fine|great|document|documents|file|files|here|there|write|word|words|again|other|less|main|important|key)\b`)
)

// applyFeedback changes the layout by what a person said of it, and tells whether that was
// anything that rules can do.
func (l *layout) applyFeedback(feedback string) (understood bool) {
	dropping, only := false, false
	for clause := range strings.SplitSeq(clauseEnd.ReplaceAllString(feedback, "\x00"), "\x00") {
		if strings.TrimSpace(clause) == "" {
			continue
		}
		if shorter.MatchString(clause) || longer.MatchString(clause) {
			l.brief, understood = shorter.MatchString(clause), true
			clause = longer.ReplaceAllString(shorter.ReplaceAllString(clause, " "), " ")
		}
		kinds, rest := namedKinds(clause)
		switch {
		case drops.MatchString(clause):
			dropping, only = true, false
		case keepsOnly.MatchString(clause):
			dropping, only = false, true
		case instructing.MatchString(clause):
			dropping, only = false, false
		}
		rest = drops.ReplaceAllString(keepsOnly.ReplaceAllString(rest, " "), " ")
		words := tellingWords(rest)
		if dropping {
			l.kinds = slices.DeleteFunc(slices.Clone(l.kinds), func(kind extract.Kind) bool { return slices.Contains(kinds, kind) })
			dropped := func(known string) bool { return words != "" && shareTerm(known, words) }
			l.words, l.subject = slices.DeleteFunc(slices.Clone(l.words), dropped), slices.DeleteFunc(slices.Clone(l.subject), dropped)
			understood = understood || len(kinds) > 0
			continue
		}
		if only && len(kinds) == 0 && words == "" {
			continue
		}
		if only {
			l.kinds, l.words = nil, nil
			if words != "" {
				l.subject = nil
			}
			only = false // what follows is kept as well
		}
		l.moveFirst(kinds)
		if words != "" && !slices.Contains(l.words, words) {
			l.words = append([]string{words}, l.words...)
			l.subject = append([]string{words}, l.subject...)
		}
		understood = understood || len(kinds) > 0 || words != ""
	}
	if len(l.kinds) == 0 && len(l.words) == 0 {
		l.kinds = standard // all was dropped
	}
	return understood
}

// tellingWords gives the words of a text that something can be looked for by.
func tellingWords(text string) string {
	text = instructing.ReplaceAllString(text, " ")
	var kept []string
	for _, word := range lexical.Words(text) {
		for _, term := range lexical.Analyze(word.Text) {
			if !lexical.IsFiller(term) {
				kept = append(kept, word.Text)
				break
			}
		}
	}
	return strings.Join(kept, " ")
}

func shareTerm(a, b string) bool {
	terms := lexical.Analyze(a)
	return slices.ContainsFunc(lexical.Analyze(b), func(term string) bool { return slices.Contains(terms, term) })
}
