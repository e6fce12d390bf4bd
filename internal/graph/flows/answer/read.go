package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// questionRead is a question as it was understood, with what the first search found.
type questionRead struct {
	meant    understanding
	found    []retrieve.Evidence // as the search gave it
	evidence []retrieve.Evidence // in the order in which it is likely to answer
	analysis Analysis
	verdict  Verdict
	live     LiveResult
	made     []flows.Query
	changes  []graph.Change[State]
}

// readQuestion understands the question by rules and makes the first search. Where a model
// reads questions, it does so beside the search; a question without a thread waits for what
// the search finds, and needs no model where the best passage covers it.
func (f *Flow) readQuestion(ctx context.Context, step graph.Step[State], request analysisRequest) (questionRead, error) {
	meant, changes, err := f.requestReading(ctx, step, request)
	if err != nil {
		return questionRead{}, err
	}
	request.ByModel = f.models.Understand != nil
	leans := len(request.History)+len(request.Before)+len(request.Attachments) > 0
	byModel := make(chan modelReading, 1)
	askModel := func() {
		told, noted, err := f.requestReading(ctx, step, request)
		byModel <- modelReading{told, noted, err}
	}
	if request.ByModel && leans {
		go askModel()
	}
	read, err := f.searchFirst(ctx, step, meant)
	read.changes = append(changes, read.changes...)
	switch {
	case err != nil && request.ByModel && leans:
		<-byModel
		return questionRead{}, err
	case err != nil:
		return questionRead{}, err
	case !request.ByModel || !leans && coversQuestion(read):
		return read, nil
	case !leans:
		askModel()
	}
	told := <-byModel
	if told.err != nil {
		return questionRead{}, told.err
	}
	return f.combineReadings(ctx, step, read, told)
}

// modelReading is a question as a model understood it.
type modelReading struct {
	meant   understanding
	changes []graph.Change[State]
	err     error
}

// requestReading has QueryUnderstander read the question.
func (f *Flow) requestReading(ctx context.Context, step graph.Step[State], request analysisRequest) (understanding, []graph.Change[State], error) {
	understand := f.agents.understanding(step)
	meant, err := understand.Request(ctx, request)
	switch {
	case isFailure(err):
		meant = asWritten(request.Question)
		meant.Failed = request.ByModel
	case err != nil:
		return meant, nil, err
	}
	if len(request.Attachments) > 0 && !meant.Failed && !meant.isSocial() {
		if meant, err = f.readAttached(ctx, request.Attachments, meant); err != nil {
			return understanding{}, nil, err
		}
	}
	return meant, understand.changes(), nil
}

// searchFirst searches for a question as it was read, and judges what was found.
func (f *Flow) searchFirst(ctx context.Context, step graph.Step[State], meant understanding) (questionRead, error) {
	searching, cancel := context.WithCancel(ctx)
	defer cancel()
	live := startLive(searching, f.live, step.State, meant)
	found, made, changes, err := f.searchQuestion(ctx, step, meant)
	if err != nil {
		cancel()
		<-live
		return questionRead{}, err
	}
	read := questionRead{meant: meant, found: found, live: <-live, made: made, changes: changes}
	f.judgeRead(step.State, &read, nil)
	return read, nil
}

// judgeRead puts what was found in order, after it what else was, and judges it.
func (f *Flow) judgeRead(s State, read *questionRead, others []retrieve.Evidence) {
	if len(s.History) == 0 && read.meant.Unresolved != "" && words.MeansProduct(s.OriginalQuery) && isOneCollection(read.found) {
		read.meant.Remarks = append(read.meant.Remarks, fmt.Sprintf("%q is what the documents are about", read.meant.Unresolved))
		read.meant.Unresolved = ""
	}
	meant := read.meant
	s.Query, s.NormalizedQuery, s.Terms, s.Profile, s.Intent = meant.Query, meant.Normalized, meant.Terms, meant.Profile, meant.Intent
	s.FollowUp, s.Abbreviation, s.Unresolved = meant.FollowUp, meant.Abbreviation, meant.Unresolved
	s.Live = read.live.Findings
	found := preferCited(meant, s.History, f.order(s, meant.Around, read.found))
	if len(others) > 0 {
		found = merge(partWeight, found, others)
	}
	read.evidence = withAttached(s, found)
	read.analysis = analyze(meant.Profile, read.evidence)
	s.SearchResults, s.AnalysisResults = read.evidence, read.analysis
	read.verdict = f.judgeQuestion(s)
}

// isOneCollection says whether what was found is of one collection: of one product, as far as
// anybody told.
func isOneCollection(found []retrieve.Evidence) bool {
	return !slices.ContainsFunc(found, func(e retrieve.Evidence) bool { return e.Document.Source != found[0].Document.Source })
}

// coversQuestion says whether a question that rules read needs no closer reading: its best
// passage holds all that it is about.
func coversQuestion(read questionRead) bool {
	meant := read.meant
	return len(read.evidence) > 0 && !meant.Failed && meant.Relation == One && meant.Unresolved == "" &&
		!read.verdict.Asks && !read.verdict.Declines && meant.Profile.Coverage(termsOf(read.evidence[0])) == 1
}

// combineReadings takes what a model read for the question, and keeps beside what is found for
// that what the rules' own search found. Where the model failed, the rules' reading stands.
func (f *Flow) combineReadings(ctx context.Context, step graph.Step[State], read questionRead, told modelReading) (questionRead, error) {
	changes := slices.Concat(read.changes, told.changes)
	switch meant := told.meant; {
	case meant.Failed:
		read.meant.Uses = append(read.meant.Uses, meant.Uses...)
		read.meant.Remarks = append(read.meant.Remarks, meant.Remarks...)
		read.changes = changes
		return read, nil
	case meant.isSocial():
		return questionRead{meant: meant, live: LiveResult{Remarks: read.live.Remarks}, made: read.made, changes: changes}, nil
	}
	combined := questionRead{meant: told.meant, found: read.found, live: read.live, made: read.made, changes: changes}
	combined.meant.Parts = distinctSearches(combined.meant.Query, slices.Concat(told.meant.Parts, read.meant.Parts))
	if told.meant.Query == read.meant.Query && sameTerms(told.meant.Terms, read.meant.Terms) {
		f.judgeRead(step.State, &combined, nil)
		return combined, nil
	}
	found, made, noted, err := f.searchQuestion(ctx, step, told.meant)
	if err != nil {
		return questionRead{}, err
	}
	combined.found, combined.made, combined.changes = found, slices.Concat(combined.made, made), slices.Concat(changes, noted)
	f.judgeRead(step.State, &combined, read.evidence)
	return combined, nil
}

// distinctSearches leaves out what is searched for already.
func distinctSearches(query string, searches []string) []string {
	var distinct []string
	same := func(other string) func(string) bool {
		return func(search string) bool {
			return strings.EqualFold(strings.TrimRight(search, " ?.!"), strings.TrimRight(other, " ?.!"))
		}
	}
	for _, search := range searches {
		if !same(query)(search) && !slices.ContainsFunc(distinct, same(search)) {
			distinct = append(distinct, search)
		}
	}
	return distinct
}

func sameTerms(a, b []index.Term) bool {
	return slices.EqualFunc(a, b, func(a, b index.Term) bool { return a == b })
}

// isSocial says whether a message asks the documents nothing.
func (u understanding) isSocial() bool { return isSocial(u.Intent) }

func isSocial(intent Intent) bool { return intent == Greeting || intent == Thanks }
