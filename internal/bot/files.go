package bot

import (
	"context"
	"slices"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows/routing"
	"cairn/internal/language"
	"cairn/internal/language/smalltalk"
	"cairn/internal/phrases"
	"cairn/internal/runs"
)

// The choices of what to do with a file that came without a word.
const (
	fileChoice      = "file-" // begins all of them
	summarizeChoice = fileChoice + "summarize"
	questionChoice  = fileChoice + "question"
	searchChoice    = fileChoice + "search"
)

// choosePhrases speaks the language of the message, or else that of what its author wrote last.
func (t *turn) choosePhrases() phrases.Speaker {
	if tag := language.Detect(t.message.Text); tag != language.Unknown {
		return phrases.In(tag)
	}
	for _, turn := range slices.Backward(t.session.Turns) {
		if turn.Role != chat.Person {
			continue
		}
		if tag := language.Detect(turn.Text); tag != language.Unknown {
			return phrases.In(tag)
		}
	}
	return phrases.In(language.English)
}

// fileQuestion asks what to do with files that came without a word; nil where the message has
// words, answers that question, or has no files.
func (t *turn) fileQuestion() *graph.Question {
	wordless := strings.TrimSpace(t.record.Request+t.message.Text) == "" && t.message.Answers == nil
	if t.record.Flow != t.first || !wordless || len(t.message.Files) == 0 {
		return nil
	}
	speaker := t.choosePhrases()
	return &graph.Question{Text: speaker.Text(phrases.WhatWithFile), FreeText: true, Choices: []graph.Choice{
		{ID: summarizeChoice, Label: speaker.Text(phrases.SummarizeFile)},
		{ID: questionChoice, Label: speaker.Text(phrases.AskAboutFile)},
		{ID: searchChoice, Label: speaker.Text(phrases.SearchForFile)},
	}}
}

// isFileQuestion tells the question of fileQuestion.
func isFileQuestion(question chat.Question) bool {
	return slices.ContainsFunc(question.Choices, func(choice chat.Choice) bool { return strings.HasPrefix(choice.ID, fileChoice) })
}

// doWithFile starts what was chosen to be done with a file: a run of its own, about the files
// of the message that they came with.
func (t *turn) doWithFile(ctx, held context.Context, answer plan) (runs.Result, error) {
	waiting := *t.session.Waiting
	asked := personTurn(t.session.Turns, t.open.Message)
	if asked >= 0 && len(t.message.Files) == 0 {
		t.message.Files = t.session.Turns[asked].Files
	}
	speaker := t.choosePhrases()
	t.closeQuestion(answer.answerText(waiting.Question), t.message.Author)
	t.closeWaitingRun(runs.Done, "its question was answered")
	wanted := plan{kind: asks, text: answer.text}
	switch answer.choice {
	case questionChoice:
		return t.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Noticed, Text: speaker.Text(phrases.WhichQuestion)})
	case summarizeChoice:
		wanted.text = routing.Analyze + ": " + speaker.Text(phrases.SummarizeFile)
	}
	return t.startRun(ctx, held, wanted)
}

// isAboutFiles tells whether a thread was about files or about what a flow made of them:
// its questions are answered from those first.
func (t *turn) isAboutFiles() bool {
	return slices.ContainsFunc(t.session.Turns, func(turn chat.Turn) bool {
		return len(turn.Files) > 0 || turn.Reply != nil && len(turn.Reply.Documents) > 0
	})
}

// filesFor gives the files that a run of a flow is about: those of the message, or else those
// of the thread, where the flow reads documents, the thread was about files, or the message
// points at one.
func (t *turn) filesFor(ctx context.Context, flow string) []chat.File {
	if len(t.message.Files) > 0 {
		return t.message.Files
	}
	points := smalltalk.PointsAtFile(t.message.Text) || smalltalk.Points(t.message.Text)
	switch {
	case readsDocuments(flow):
		return t.threadFiles(ctx, flow == routing.Context)
	case flow == t.first && (t.isAboutFiles() || points):
		return t.threadFiles(ctx, true)
	}
	return nil
}

// attachMade attaches the documents that runs made in the thread and that no platform keeps.
func (r *fileReader) attachMade(flow string) {
	if flow != r.first {
		return
	}
	for _, turn := range r.session.Turns {
		if turn.Reply == nil {
			continue
		}
		for _, document := range turn.Reply.Documents {
			if document.Kept() && strings.HasPrefix(document.MediaType, "text/") && r.letters < r.all {
				r.attachText(shownName(document.Name), document.Name, string(document.Content))
			}
		}
	}
}
