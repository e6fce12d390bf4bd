package analyze

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"cairn/internal/document"
	"cairn/internal/document/evidence"
	"cairn/internal/document/extract"
	"cairn/internal/document/report"
	"cairn/internal/document/survey"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
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
		return approve(s), nil
	case last.Decision == Stopped:
		return graph.Update(stopped.Set(true)), nil
	case last.Decision == Revise:
		return graph.Update(currentAnalysisQuery.Set("What is to be different? Say it in a few words: “only the risks”, “drop the outline”, “more on refunds”.")), nil
	case len(feedback(s)) > maxRounds:
		return graph.Update(currentAnalysisQuery.Set(fmt.Sprintf("I have revised it %d times and don't do so any more. Approve it as it is, or stop?", maxRounds))), nil
	}
	return f.draft(ctx, step)
}

// feedback gives what the person said to the drafts, in order.
func feedback(s State) []string {
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
		result, err := f.surveyor.Survey(ctx, set(s), survey.Task{
			Run: s.RequestID, Goal: survey.Analysis, Query: s.UserInput, Feedback: feedback(s), Draft: s.Draft.Parts,
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
		draft.Set(made), currentAnalysisQuery.Set(ask(s, made)), modelUses.Set(uses), notes.Set(remarks),
		analysisHistory.Set([]Turn{{Role: flows.Assistant, Text: report.Digest(s.Documents, made.Parts)}}),
	), nil
}

func set(s State) document.Set {
	return document.Set{Documents: s.Documents, Texts: s.Inputs, Skipped: s.Skipped}
}

// ask words the question: the draft in short, and what can be done about it.
func ask(s State, made Draft) string {
	round := len(feedback(s)) + 1
	paragraphs := []string{strings.TrimSpace(fmt.Sprintf("Draft %d of the analysis of %s. %s", round, described(s), made.Note))}
	if round > 1 {
		paragraphs = append(paragraphs, describeChange(s.Draft.Parts, made.Parts))
	}
	if digest := report.Digest(s.Documents, made.Parts); digest != "" {
		paragraphs = append(paragraphs, digest)
	}
	var sizes []string
	for _, part := range made.Parts {
		size := strconv.Itoa(len(part.Statements))
		if part.More > 0 {
			size = fmt.Sprintf("%d of %d", len(part.Statements), len(part.Statements)+part.More)
		}
		sizes = append(sizes, fmt.Sprintf("%s (%s)", report.Clean(part.Title), size))
	}
	paragraphs = append(paragraphs, "It has: "+strings.TrimSpace(strings.Join(sizes, ", ")+". "+made.Remark))
	if note := set(s).Note(); note != "" && round == 1 {
		paragraphs = append(paragraphs, report.Shortened(report.Clean(note), maxNote))
	}
	return strings.Join(append(paragraphs, "Approve it, say what is to be different, or stop?"), "\n\n")
}

// describeChange says what a draft has that the one before it had not, and the other way round.
func describeChange(before, after []evidence.Part) string {
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
			changed = append(changed, fmt.Sprintf("%s (%d new, %d gone)", name, fresh, lost))
		}
	}
	for _, part := range before {
		if _, ok := known[part.Title]; ok {
			gone = append(gone, report.Clean(part.Title))
		}
	}
	var said []string
	for _, one := range []struct {
		what  string
		parts []string
	}{{"new: ", added}, {"left out: ", gone}, {"changed: ", changed}} {
		if len(one.parts) > 0 {
			said = append(said, one.what+strings.Join(one.parts, ", "))
		}
	}
	if len(said) == 0 {
		return "Against the draft before, nothing changed."
	}
	return "Against the draft before: " + strings.Join(said, "; ") + "."
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

// described names what is analysed: "`leave.md`", "12 documents from @handbook".
func described(s State) string {
	switch {
	case len(s.Documents) == 1:
		return report.Code(s.Documents[0].Name, maxTitle)
	case s.InputLocation.Place == flows.Attached:
		return fmt.Sprintf("%d attached files", len(s.Documents))
	}
	return fmt.Sprintf("%d documents from %s", len(s.Documents), report.Clean(s.InputLocation.String()))
}

// approve makes the output of the draft.
func approve(s State) graph.Result[State] {
	about := report.Shortened(s.UserInput, maxTitle)
	title := "Analysis of " + described(s)
	if strings.TrimSpace(about) != "" {
		title = "Analysis: " + about
	}
	lines := []string{fmt.Sprintf("Of %s. %s", described(s), s.Draft.Note)}
	if note := set(s).Note(); note != "" {
		lines = append(lines, note)
	}
	written := report.Write(s.Documents, report.Report{Title: title, Notes: lines, Parts: s.Draft.Parts, Empty: "Nothing was found."})
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

const (
	rulesNote = "A digest by rules: sentences of the documents, put in order; no language model wrote it."
	limitNote = "Without a language model I can narrow it, drop and add sections and look for words, but not rewrite it."
)

// draftByRules puts an analysis together from sentences of the documents.
func draftByRules(s State) Draft {
	corpus := extract.Read(set(s))
	l := layoutOf(s.UserInput)
	query := strings.Join(l.words, " ")
	made := Draft{Note: rulesNote}
	for i, said := range feedback(s) {
		understood := l.apply(said)
		if i == len(feedback(s))-1 {
			made.Remark = remark(corpus, said, understood)
		}
	}
	for _, words := range l.words {
		found := corpus.About(extract.Focus{Words: words, Limit: onWord})
		if len(found) > 0 || words == query {
			made.Parts = append(made.Parts, evidence.Part{Title: fmt.Sprintf("On “%s”", report.Shortened(words, maxTitle)), Statements: found})
		}
	}
	subject := strings.Join(l.subject, " ")
	narrowed := subject != "" && len(l.words) == 0
	for _, kind := range l.kinds {
		focus := extract.Focus{Words: subject, Only: narrowed, Limit: l.limit(kind)}
		title := titled(kind)
		if narrowed {
			title += fmt.Sprintf(" on “%s”", report.Shortened(subject, maxTitle))
		}
		statements, more := corpus.Find(kind, focus)
		if len(statements) == 0 && !l.wanted[kind] {
			continue
		}
		made.Parts = append(made.Parts, evidence.Part{Title: title, Statements: statements, More: more})
	}
	return made
}

// remark says what rules could not do about feedback.
func remark(corpus *extract.Corpus, said string, understood bool) string {
	if !understood {
		return limitNote
	}
	_, rest := named(said)
	if unknown := corpus.Unknown(tellingWords(drops.ReplaceAllString(rest, " "))); len(unknown) > 0 {
		return fmt.Sprintf("No document mentions “%s”. %s", report.Clean(strings.Join(unknown, " ")), limitNote)
	}
	return ""
}

func titled(kind extract.Kind) string {
	name := string(kind)
	return strings.ToUpper(name[:1]) + name[1:]
}
