package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/shorten"
)

const (
	// maxQuestion is how many characters of a question are read; what follows is a
	// pasted text that its beginning stands for.
	maxQuestion = 2000
	// maxTelling bounds the telling words of a question.
	maxTelling = 40
	// maxOpening is how many characters of the answer before a follow-up leans on.
	maxOpening = 240

	// How much a word counts in a search that the person did not write.
	expansionWeight = 0.6 // what shorthand or an abbreviation stands for
	partWordWeight  = 0.4 // a part of an identifier that the documents hold whole
	spellingWeight  = 0.9
	relatedWeight   = 0.25
	userTurnWeight  = 0.5  // of the question before
	botTurnWeight   = 0.15 // of the answer before
)

// understand resolves the question against the thread, finds out what it is about, and
// makes the first search, from whose spread the next nodes decide. A message that asks the
// documents nothing is replied to.
func (f *Flow) understand(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	text := bounded(s.OriginalQuery)
	read, err := f.readQuestion(ctx, step, analysisRequest{Run: s.RequestID, Question: text, History: s.History, Before: s.Before, Attachments: s.Attachments})
	if err != nil {
		return graph.Result[State]{}, err
	}
	meant := read.meant
	if len(text) < len(strings.TrimSpace(s.OriginalQuery)) {
		meant.Remarks = append(meant.Remarks, fmt.Sprintf("the question was cut to its first %d characters", maxQuestion))
	}
	meant.Remarks = append(meant.Remarks, read.live.Remarks...)
	if meant.isSocial() {
		read.changes = append(read.changes, answerText.Set(speakerFor(s).Text(socialReplies[meant.Intent])))
	}
	return graph.Update(append(read.changes,
		query.Set(meant.Query),
		normalizedQuery.Set(meant.Normalized),
		expandedKeywords.Set(meant.Expanded),
		parts.Set(meant.Parts),
		terms.Set(meant.Terms),
		profile.Set(meant.Profile),
		around.Set(meant.Around),
		intent.Set(meant.Intent),
		relation.Set(meant.Relation),
		unclear.Set(meant.Unclear),
		unclearChoices.Set(meant.Choices),
		followUp.Set(meant.FollowUp),
		abbreviation.Set(meant.Abbreviation),
		unresolved.Set(meant.Unresolved),
		isBroadSubject.Set(isBroad(meant, read.evidence)),
		liveFindings.Set(read.live.Findings),
		searchResults.Set(read.evidence),
		analysisResults.Set(read.analysis),
		verdict.Set(read.verdict),
		inputs.Set(read.verdict.inputs),
		queries.Set(read.made),
		modelUses.Set(meant.Uses),
		notes.Set(meant.Remarks),
	)...), nil
}

// socialReplies are the replies to what asks the documents nothing.
var socialReplies = map[Intent]phrases.Key{Greeting: phrases.Greeting, Thanks: phrases.Thanks}

// asWritten is what a question means to nobody in particular: its words.
func asWritten(text string) understanding {
	return understanding{Query: text, Normalized: normalize(text), Terms: retrieve.Terms(text), Intent: Lookup, Relation: One}
}

// normalize returns the telling words of a text in small letters, or all where none tells.
func normalize(text string) string {
	var all, telling []string
	for _, word := range lexical.Words(lexical.Fold(text)) {
		small := strings.ToLower(word.Text)
		all = append(all, small)
		if slices.ContainsFunc(lexical.Analyze(word.Text), func(term string) bool { return !isFiller(term) }) {
			telling = append(telling, small)
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	return strings.Join(telling, " ")
}

// isBroad tells whether a question is about a subject that several documents deal with, and
// says nothing to tell them apart.
func isBroad(meant understanding, evidence []retrieve.Evidence) bool {
	subject := subjectOf(meant.Profile).Terms
	return !meant.isSocial() && !meant.FollowUp && meant.Unresolved == "" && meant.Relation == One &&
		len(subject) > 0 && len(subject) <= broadWords && len(evidence) > 0 && near(evidence) >= severalDocuments
}

// broadWords is how many telling words a broad subject has at most.
const broadWords = 2

// readByRules understands a question with no model.
func (q *queryUnderstander) readByRules(ctx context.Context, request analysisRequest) (understanding, error) {
	reader := &inquiry{index: q.index, speller: q.speller, common: q.words, text: request.Question}
	if main, around := questionOfThread(request.Question, request.Before); main != "" {
		reader.text, reader.around = main, around
	}
	if len(words.PastedMessages(reader.text)) == 0 {
		if trimmed := words.TrimLogHeads(reader.text); strings.TrimSpace(trimmed) != "" {
			reader.text = trimmed
		}
	}
	if err := reader.read(ctx, request.History); err != nil {
		return understanding{}, err
	}
	return reader.understanding(), nil
}

// understanding is what an inquiry came to.
func (r *inquiry) understanding() understanding {
	meant := understanding{
		Query: r.whole, Normalized: strings.ToLower(strings.Join(r.written(), " ")), Expanded: r.expanded,
		Parts: words.Parts(r.long), Terms: r.searched, Profile: r.profile, Around: r.leanedOn, Intent: Intent(words.Intent(r.long)),
		Relation: One, FollowUp: r.followUp, Abbreviation: r.abbreviation, Unresolved: r.unresolved, Remarks: r.remarks,
	}
	messages := words.PastedMessages(r.text)
	switch {
	case len(messages) > 0:
		meant.Parts, meant.Relation = messages, Pasted
	case len(meant.Parts) > 1:
		meant.Relation = Independent
	case words.Dependent(r.long):
		meant.Relation = Dependent
	}
	return meant
}

// bounded cuts a question to what is read of it.
func bounded(text string) string {
	return strings.TrimSpace(shorten.Head(strings.ToValidUTF8(text, "\uFFFD"), maxQuestion))
}

// inquiry is one question being understood.
type inquiry struct {
	index   index.Reader
	speller index.Speller  // nil where the index can't spell
	common  embed.WordList // nil where no common words are known
	text    string         // as typed, bounded
	// around is what else was said in the thread that the question is taken from.
	around string
	long   string // with shorthand written out
	// whole is what is embedded: long, with what a follow-up leans on in front.
	whole    string
	followUp bool
	// abbreviation is what the documents say that one in the question stands for.
	abbreviation string
	unresolved   string
	leanedOn     []support.Term // words of what a follow-up leans on
	// minMisspelled is how long a term must be to be looked up for its right spelling.
	minMisspelled int
	profile       support.Profile
	parts         []string // of identifiers, as terms
	searched      []index.Term
	expanded      []string
	remarks       []string
}

func (r *inquiry) read(ctx context.Context, turns []flows.Turn) error {
	if err := r.correctSpelling(ctx); err != nil {
		return err
	}
	r.long = words.WriteOut(r.text)
	r.whole = r.long
	if err := r.tell(ctx); err != nil {
		return err
	}
	for i := range r.profile.Terms {
		if err := r.resolve(ctx, &r.profile.Terms[i]); err != nil {
			return err
		}
	}
	if err := r.translate(ctx); err != nil {
		return err
	}
	r.dropFillers()
	if err := r.join(ctx); err != nil {
		return err
	}
	r.search()
	return r.refer(ctx, turns)
}

// tell finds the telling words: those that are no fillers, or all where there is
// nothing else. Of an identifier the whole counts where the documents hold it, else
// its parts.
func (r *inquiry) tell(ctx context.Context) error {
	found := tellingTerms(r.text, isFiller)
	if len(found) == 0 {
		found = tellingTerms(r.text, lexical.IsStop)
	}
	all := support.Profile{}
	for _, word := range found {
		all.Terms = append(all.Terms, word.terms...)
	}
	if err := all.Weigh(ctx, r.index); err != nil {
		return fmt.Errorf("look up the question's words: %w", err)
	}
	r.profile.Passages = all.Passages
	for _, word := range found {
		weighed := all.Terms[:len(word.terms)]
		all.Terms = all.Terms[len(word.terms):]
		whole := weighed[len(weighed)-1]
		if len(weighed) > 1 && whole.Passages > 0 {
			for _, part := range weighed[:len(weighed)-1] {
				r.parts = append(r.parts, part.Text)
			}
			weighed = []support.Term{whole}
		} else if len(weighed) > 1 {
			weighed = weighed[:len(weighed)-1]
		}
		r.profile.Terms = append(r.profile.Terms, weighed...)
	}
	r.addPhrasalMeanings()
	return nil
}

// isFiller tells terms that say nothing about what a question is about: function words,
// and words of chat.
func isFiller(term string) bool { return lexical.IsFiller(term) || words.IsSlang(term) }

// tellingWord is a word of a question with its terms: one, or the parts of an
// identifier and the whole of it last.
type tellingWord struct{ terms []support.Term }

func tellingTerms(text string, skip func(string) bool) []tellingWord {
	if tag := language.Detect(text); tag != language.English && tag != language.Unknown {
		return tellingTermsIn(tag, text)
	}
	var telling []tellingWord
	seen := make(map[string]bool)
	for _, word := range lexical.Words(lexical.Fold(text)) {
		long, short := words.Expand(word.Text)
		var also []string
		if short {
			also = withoutStops(lexical.Analyze(long))
			if len(also) == 0 {
				continue // "pls", "w/": shorthand for a word that tells nothing
			}
		}
		var found tellingWord
		for _, term := range lexical.Analyze(word.Text) {
			if !seen[term] && !skip(term) {
				seen[term] = true
				found.terms = append(found.terms, support.Term{Text: term, Written: word.Text, Also: also})
			}
		}
		if len(found.terms) > 0 && len(telling) < maxTelling {
			telling = append(telling, found)
		}
	}
	return telling
}

// tellingTermsIn finds the telling words of a text that is not English. A word counts by
// its stem, and so does its exact form; pairs of characters count one by one.
func tellingTermsIn(tag language.Tag, text string) []tellingWord {
	var telling []tellingWord
	seen := make(map[string]bool)
	add := func(found support.Term) {
		if !seen[found.Text] && len(telling) < maxTelling {
			seen[found.Text] = true
			telling = append(telling, tellingWord{terms: []support.Term{found}})
		}
	}
	for _, pair := range lexical.TellingPairs(tag, text) {
		switch {
		case pair.Native != "" && pair.IsPlain():
			add(support.Term{Text: pair.Stem, Written: pair.Written, Also: []string{pair.Native}})
			continue
		case pair.Native != "":
			add(support.Term{Text: pair.Native, Written: pair.Written, Also: append(pair.Terms, pair.Stem)})
			continue
		}
		for _, term := range pair.Terms {
			written := pair.Written
			if len(pair.Terms) > 1 {
				written = term
			}
			add(support.Term{Text: term, Written: written})
		}
	}
	return telling
}

func withoutStops(analyzed []string) []string {
	return slices.DeleteFunc(analyzed, isFiller)
}

// resolve adds what else counts as a term: what an abbreviation stands for, and the
// right spelling of a word that the index does not hold.
func (r *inquiry) resolve(ctx context.Context, term *support.Term) error {
	if len(term.Written) <= maxAbbreviation {
		defined, err := r.index.Definitions(ctx, term.Written, knowledge.ViewersFrom(ctx))
		if err != nil {
			return fmt.Errorf("look up an abbreviation: %w", err)
		}
		if len(defined) > 0 {
			r.abbreviation = defined[0].Long
			term.Also = append(term.Also, withoutStops(lexical.Analyze(defined[0].Long))...)
			r.remarks = append(r.remarks, fmt.Sprintf("%s stands for %s in the documents", defined[0].Short, defined[0].Long))
		}
	}
	if term.Passages > 0 || len(term.Also) > 0 {
		return nil
	}
	if related := words.Related(term.Text); len(related) > 0 {
		return r.countRelated(ctx, term, related) // it is spelled right
	}
	if r.speller == nil || len(term.Text) < r.minMisspelled || r.isCommonWord(strings.ToLower(term.Written)) {
		return nil
	}
	similar, err := r.speller.Similar(ctx, term.Text, 1)
	if err != nil {
		return fmt.Errorf("look up a word's spelling: %w", err)
	}
	if len(similar) > 0 {
		term.Also = []string{similar[0].Term}
		term.IDF = lexical.IDF(max(r.profile.Passages, 1), similar[0].Passages)
		r.remarks = append(r.remarks, fmt.Sprintf("%q is not in the documents, %q is", term.Written, similar[0].Term))
	}
	return nil
}

// countRelated lets the words that ask for the same thing count as a term that the documents do
// not have: "directory" for "folder".
func (r *inquiry) countRelated(ctx context.Context, term *support.Term, related []string) error {
	stats, err := r.index.Terms(ctx, related)
	if err != nil {
		return fmt.Errorf("look up words of the same meaning: %w", err)
	}
	most := 0
	for i, stat := range stats {
		if stat.Passages > 0 {
			term.Also = append(term.Also, related[i])
			most = max(most, stat.Passages)
		}
	}
	if most > 0 {
		term.IDF = lexical.IDF(max(r.profile.Passages, 1), most)
		r.remarks = append(r.remarks, fmt.Sprintf("%q is not in the documents, %s are of the same meaning", term.Written, strings.Join(term.Also, ", ")))
	}
	return nil
}

// dropFillers leaves words out that are function words once they are spelled right.
func (r *inquiry) dropFillers() {
	telling := slices.DeleteFunc(slices.Clone(r.profile.Terms), func(term support.Term) bool {
		return term.Passages == 0 && len(term.Also) > 0 && !slices.ContainsFunc(term.Also, func(also string) bool { return !isFiller(also) })
	})
	if len(telling) > 0 {
		r.profile.Terms = telling
	}
}

// join adds to words that stand side by side what they are as one, where the documents
// write it so: "roll back" and "rollback", "log in" and "login".
func (r *inquiry) join(ctx context.Context) error {
	listed := lexical.Words(lexical.Fold(r.text))
	var pairs [][2]string
	var joined []string
	for i := range min(len(listed)-1, maxTelling) {
		whole := lexical.Analyze(listed[i].Text + listed[i+1].Text)
		first, second := lexical.Analyze(listed[i].Text), lexical.Analyze(listed[i+1].Text)
		if len(whole) == 1 && len(first) == 1 && len(second) == 1 {
			pairs = append(pairs, [2]string{first[0], second[0]})
			joined = append(joined, whole[0])
		}
	}
	stats, err := r.index.Terms(ctx, joined)
	if err != nil {
		return fmt.Errorf("look up words written as one: %w", err)
	}
	for i, stat := range stats {
		for t := range r.profile.Terms {
			term := &r.profile.Terms[t]
			if stat.Passages > 0 && (term.Text == pairs[i][0] || term.Text == pairs[i][1]) {
				term.Also = append(term.Also, joined[i])
			}
		}
	}
	return nil
}

const maxAbbreviation = 8 // characters

// search makes the terms to search by: the telling words as written, and with less
// weight what else counts as them and what asks for the same thing.
func (r *inquiry) search() {
	weights := newWeights()
	for _, term := range r.profile.Terms {
		weights.raise(term.Text, 1)
	}
	for _, term := range r.profile.Terms {
		also := expansionWeight
		if term.Passages == 0 {
			also = spellingWeight
		}
		for _, other := range term.Also {
			weights.raise(other, also)
		}
	}
	for _, part := range r.parts {
		weights.raise(part, partWordWeight)
	}
	written := len(weights.order)
	for _, term := range r.profile.Terms {
		for _, related := range words.Related(term.Text) {
			weights.raise(related, relatedWeight)
		}
	}
	r.searched = weights.terms()
	for _, term := range r.searched[written:] {
		r.expanded = append(r.expanded, term.Text)
	}
}

// written gives the telling words as the question has them.
func (r *inquiry) written() []string {
	var written []string
	for _, term := range r.profile.Terms {
		if !slices.Contains(written, term.Written) {
			written = append(written, term.Written)
		}
	}
	return written
}

// weights collects terms, each with the greatest weight it was given.
type weights struct {
	at    map[string]int
	order []index.Term
}

func newWeights() *weights { return &weights{at: make(map[string]int)} }

func (w *weights) raise(term string, weight float64) {
	i, known := w.at[term]
	if !known {
		i = len(w.order)
		w.at[term] = i
		w.order = append(w.order, index.Term{Text: term})
	}
	w.order[i].Weight = max(w.order[i].Weight, weight)
}

// raiseAll raises the words of another turn, and less what they stand for.
func (w *weights) raiseAll(found []tellingWord, weight float64) {
	for _, word := range found {
		for _, term := range word.terms {
			w.raise(term.Text, weight)
			for _, also := range term.Also {
				w.raise(also, weight*expansionWeight)
			}
		}
	}
}

func (w *weights) terms() []index.Term { return slices.Clone(w.order) }
