package analyze

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/document/extract"
	"github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// prepare does what the person said last: it makes the output of the draft, drafts anew, or
// asks what is to be different. The first draft needs no word.
func (f *Flow) prepare(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if len(s.AnalysisHistory) == 0 {
		return f.draft(ctx, step)
	}
	last := s.AnalysisHistory[len(s.AnalysisHistory)-1]
	switch {
	case last.Decision == Approved:
		return approveDraft(s), nil
	case last.Decision == Stopped:
		return graph.Update(stopped.Set(true)), nil
	case last.Decision == Revise:
		return graph.Update(currentAnalysisQuery.Set(s.speaker().Text(phrases.DraftChanges))), nil
	case len(feedbackTexts(s)) > maxRounds:
		return graph.Update(currentAnalysisQuery.Set(s.speaker().Text(phrases.DraftRounds, maxRounds))), nil
	}
	return f.draft(ctx, step)
}

// feedbackTexts gives what the person said to the drafts, in order.
func feedbackTexts(s State) []string {
	var said []string
	for _, turn := range s.AnalysisHistory {
		if turn.Decision == Feedback {
			said = append(said, turn.Text)
		}
	}
	return said
}

func (f *Flow) draft(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	made := Draft{}
	var uses []flows.ModelUse
	var remarks []string
	if f.surveyor != nil {
		result, err := f.surveyor.Survey(ctx, documentSet(s), survey.Task{
			Run: s.RequestID, Goal: survey.Analysis, Query: s.UserInput, Feedback: feedbackTexts(s), Draft: s.Draft.Parts, Language: s.language(),
		}, step.Detail)
		if err != nil {
			return graph.Result[State]{}, fmt.Errorf("draft the analysis: %w", err)
		}
		uses, remarks = result.Uses, result.Remarks
		made = Draft{Parts: result.Parts, Note: result.Note}
	}
	if len(made.Parts) == 0 {
		byRules := draftByRules(s)
		byRules.Note = strings.TrimSpace(made.Note + " " + byRules.Note)
		made = byRules
	}
	return graph.Update(
		draft.Set(made), currentAnalysisQuery.Set(wordQuestion(s, made)), modelUses.Set(uses), notes.Set(remarks),
		analysisHistory.Set([]Turn{{Role: flows.Assistant, Text: report.Digest(s.Documents, made.Parts, s.language())}}),
	), nil
}

func documentSet(s State) document.Set {
	return document.Set{Documents: s.Documents, Texts: s.Inputs, Skipped: s.Skipped}
}

// wordQuestion words the question: the draft in short, and what can be done about it.
func wordQuestion(s State, made Draft) string {
	round, speaker := len(feedbackTexts(s))+1, s.speaker()
	paragraphs := []string{strings.TrimSpace(speaker.Text(phrases.DraftNumber, round, describeSource(s)) + " " + made.Note)}
	if round > 1 {
		paragraphs = append(paragraphs, describeChange(speaker, s.Draft.Parts, made.Parts))
	}
	if digest := report.Digest(s.Documents, made.Parts, s.language()); digest != "" {
		paragraphs = append(paragraphs, digest)
	}
	var sizes []string
	for _, part := range made.Parts {
		size := strconv.Itoa(len(part.Statements))
		if part.More > 0 {
			size = fmt.Sprintf("%d/%d", len(part.Statements), len(part.Statements)+part.More)
		}
		sizes = append(sizes, fmt.Sprintf("%s (%s)", report.Clean(part.Title), size))
	}
	contents := made.Remark
	if len(sizes) > 0 {
		contents = strings.TrimSpace(speaker.Text(phrases.DraftParts, strings.Join(sizes, ", ")) + " " + made.Remark)
	}
	if contents != "" {
		paragraphs = append(paragraphs, contents)
	}
	if note := documentSet(s).Note(s.language()); note != "" && round == 1 {
		paragraphs = append(paragraphs, report.ShortenMarkdown(report.Clean(note), maxNote))
	}
	return strings.Join(append(paragraphs, speaker.Text(phrases.DraftReply)), "\n\n")
}

// describeChange says what a draft has that the one before it had not, and the other way round.
func describeChange(speaker phrases.Speaker, before, after []evidence.Part) string {
	known := make(map[string]evidence.Part)
	for _, part := range before {
		known[part.Title] = part
	}
	var added, gone, changed []string
	for _, part := range after {
		old, ok := known[part.Title]
		delete(known, part.Title)
		fresh, lost := countNew(old, part), countNew(part, old)
		switch name := report.Clean(part.Title); {
		case !ok:
			added = append(added, name)
		case fresh+lost > 0:
			changed = append(changed, speaker.Text(phrases.PartChange, name, fresh, lost))
		}
	}
	for _, part := range before {
		if _, ok := known[part.Title]; ok {
			gone = append(gone, report.Clean(part.Title))
		}
	}
	var said []string
	for _, one := range []struct {
		what  phrases.Key
		parts []string
	}{{phrases.PartsNew, added}, {phrases.PartsGone, gone}, {phrases.PartsChanged, changed}} {
		if len(one.parts) > 0 {
			said = append(said, speaker.Text(one.what, strings.Join(one.parts, ", ")))
		}
	}
	if len(said) == 0 {
		return speaker.Text(phrases.DraftUnchanged)
	}
	return speaker.Text(phrases.DraftChanged, strings.Join(said, "; "))
}

// countNew counts the statements of a part that an older one has not.
func countNew(old, part evidence.Part) int {
	known := make(map[string]bool)
	for _, s := range old.Statements {
		known[s.Text] = true
	}
	count := 0
	for _, s := range part.Statements {
		if !known[s.Text] {
			count++
		}
	}
	return count
}

// maxNote is the length of what is said of skipped documents, in characters.
const maxNote = 600

// language is that of what the person wrote, as far as it is recognized.
func (s State) language() language.Tag {
	return language.Detect(strings.Join(append([]string{s.UserInput}, feedbackTexts(s)...), "\n"))
}

func (s State) speaker() phrases.Speaker { return phrases.In(s.language()) }

// describeSource names what is analysed: "`leave.md`", "12 documents in @handbook".
func describeSource(s State) string {
	speaker := s.speaker()
	switch {
	case len(s.Documents) == 1:
		return report.Code(s.Documents[0].Name, maxTitle)
	case s.InputLocation.Place == flows.Attached:
		return speaker.Count(phrases.AttachedFiles, len(s.Documents))
	}
	return speaker.Text(phrases.DocumentsIn, speaker.Count(phrases.Documents, len(s.Documents)), report.Clean(s.InputLocation.String()))
}

// approveDraft makes the output of the draft.
func approveDraft(s State) graph.Result[State] {
	speaker := s.speaker()
	about := report.ShortenMarkdown(s.UserInput, maxTitle)
	title := speaker.Text(phrases.AnalysisOf, describeSource(s))
	if strings.TrimSpace(about) != "" {
		title = speaker.Text(phrases.AnalysisAbout, about)
	}
	lines := []string{speaker.Text(phrases.MadeFrom, describeSource(s)) + " " + s.Draft.Note}
	if note := documentSet(s).Note(s.language()); note != "" {
		lines = append(lines, note)
	}
	written := report.Write(s.Documents, report.Report{
		Title: title, Notes: lines, Parts: s.Draft.Parts, Empty: speaker.Text(phrases.NothingFound), Language: s.language(),
	})
	return graph.Update(
		analysisOutput.Set(written.Markdown), summary.Set(written.Summary), sources.Set(written.Groups),
		outputFileName.Set(report.FileName(cmp.Or(tellingWords(about), s.locationName()), "documents", "_analysis.md")),
	)
}

// locationName is the last part of what was read, without the ending of a file.
func (s State) locationName() string {
	name := path.Base(s.InputLocation.Name)
	if s.InputLocation.Place != flows.Folder || name == "." || name == "/" {
		return s.InputLocation.Name
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// maxTitle is the length of an analysis's title, in characters.
const maxTitle = 120

// draftByRules puts an analysis together from sentences of the documents.
func draftByRules(s State) Draft {
	corpus := extract.Read(documentSet(s))
	l := layoutOf(s.UserInput)
	query := strings.Join(l.words, " ")
	speaker := s.speaker()
	made := Draft{Note: speaker.Text(phrases.DigestByRules)}
	for i, said := range feedbackTexts(s) {
		understood := l.applyFeedback(said)
		if i == len(feedbackTexts(s))-1 {
			made.Remark = feedbackRemark(speaker, corpus, said, understood)
		}
	}
	for _, words := range l.words {
		found := corpus.About(extract.Focus{Words: words, Limit: onWord})
		if len(found) > 0 || words == query {
			made.Parts = append(made.Parts, evidence.Part{Title: speaker.Text(phrases.PartAbout, report.ShortenMarkdown(words, maxTitle)), Statements: found})
		}
	}
	subject := strings.Join(l.subject, " ")
	narrowed := subject != "" && len(l.words) == 0
	for _, kind := range l.kinds {
		focus := extract.Focus{Words: subject, Only: narrowed, Limit: l.kindLimit(kind)}
		title := speaker.Text(titles[kind])
		if narrowed {
			title = speaker.Text(phrases.PartNarrowed, title, report.ShortenMarkdown(subject, maxTitle))
		}
		statements, more := corpus.Find(kind, focus)
		if len(statements) == 0 && !l.wanted[kind] {
			continue
		}
		made.Parts = append(made.Parts, evidence.Part{Title: title, Statements: statements, More: more})
	}
	return made
}

// feedbackRemark says what rules could not do about feedback.
func feedbackRemark(speaker phrases.Speaker, corpus *extract.Corpus, said string, understood bool) string {
	limit := speaker.Text(phrases.RulesLimit)
	if !understood {
		return limit
	}
	_, rest := namedKinds(said)
	if unknown := corpus.Unknown(tellingWords(drops.ReplaceAllString(rest, " "))); len(unknown) > 0 {
		return speaker.Text(phrases.WordsUnmentioned, report.Clean(strings.Join(unknown, " "))) + " " + limit
	}
	return ""
}

// titles are those of the parts of an analysis by rules.
var titles = map[extract.Kind]phrases.Key{
	extract.Outline: phrases.PartOutline, extract.Risks: phrases.PartRisks,
	extract.Decisions: phrases.PartDecisions, extract.Questions: phrases.PartQuestions,
	extract.Contradictions: phrases.PartContradictions, extract.Dates: phrases.PartDates, extract.People: phrases.PartPeople,
	extract.Numbers: phrases.PartNumbers, extract.Terms: phrases.PartTerms,
}
