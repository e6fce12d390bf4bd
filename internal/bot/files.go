package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/runs"
)

// The choices of what to do with a file that came without a word.
const (
	fileChoice      = "file-" // begins all of them
	summarizeChoice = fileChoice + "summarize"
	questionChoice  = fileChoice + "question"
	searchChoice    = fileChoice + "search"
)

// fileQuestion asks what to do with files that came without a word; nil where the message has
// words, answers that question, or has no files.
func (r *flowRun) fileQuestion() *graph.Question {
	wordless := strings.TrimSpace(r.job.record.Request+r.job.message.Text) == "" && r.job.message.Answers == nil
	if r.job.record.Flow != r.first || !wordless || len(r.job.message.Files) == 0 {
		return nil
	}
	speaker := r.conversation.choosePhrases()
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
	waiting := *t.conversation.session.Waiting
	asked := personTurn(t.conversation.session.Turns, t.conversation.waitingRun.Message)
	if asked >= 0 && len(t.job.message.Files) == 0 {
		t.job.message.Files = t.conversation.session.Turns[asked].Files
	}
	speaker := t.conversation.choosePhrases()
	t.conversation.closeQuestion(answer.answerText(waiting.Question), t.job.message.Author)
	t.conversation.closeWaitingRun(runs.Done, "its question was answered")
	wanted := plan{kind: asks, text: answer.text}
	switch answer.choice {
	case questionChoice:
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Noticed, Text: speaker.Text(phrases.WhichQuestion)})
	case summarizeChoice:
		wanted.text = routing.Analyze + ": " + speaker.Text(phrases.SummarizeFile)
	}
	return t.startRun(ctx, held, wanted)
}

// filesFor gives the files that a run of a flow is about: those of the message, or else those
// of the thread, where the flow reads documents, the thread was about files, or the message
// points at one.
func (r *flowRun) filesFor(ctx context.Context, flow string) []chat.File {
	if len(r.job.message.Files) > 0 {
		return r.job.message.Files
	}
	points := smalltalk.PointsAtFile(r.job.message.Text) || smalltalk.Points(r.job.message.Text)
	switch {
	case readsDocuments(flow):
		return r.threadFiles(ctx, flow == routing.Context)
	case flow == r.first && (r.conversation.isAboutFiles() || points):
		return r.threadFiles(ctx, true)
	}
	return nil
}
