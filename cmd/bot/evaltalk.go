package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// talkSet is the word before the folder of a talk set.
const talkSet = "talk"

// talkAdapter is the adapter of the threads in which a talk set's messages are said.
const talkAdapter = "eval"

// measureTalk says each message of a talk set to the bot, in the conversation that it
// comes in, and measures what the bot does.
func (c *evalCommand) measureTalk(ctx context.Context, in *invocation, a *measuredLibrary, set questionSet) (eval.Report, error) {
	items, err := eval.LoadTalk(set.dir)
	if err != nil {
		return eval.Report{}, err
	}
	root, err := eval.FindTalkPages(set.dir)
	if err != nil {
		return eval.Report{}, err
	}
	var questions []eval.Question
	for _, item := range items {
		questions = append(questions, eval.Question{Gold: item.Gold})
	}
	source := files.New(files.Options{Root: root, Source: pagesSource, Include: topFolders(questions)})
	if err := c.sync(ctx, in, a, source); err != nil {
		return eval.Report{}, err
	}
	observed := c.observeOrder(a)
	answers, runOf, err := c.talk(ctx, a, filepath.Base(set.dir), items)
	if err != nil {
		return eval.Report{}, err
	}
	pages, err := eval.OpenPages(root)
	if err != nil {
		return eval.Report{}, err
	}
	halves := eval.Halves(items)
	for _, item := range items {
		if err := c.keepOrdered(orderedQuestion{set: filepath.Base(set.dir), half: halves[item.ID]}, observed.of(runOf[item.ID]), item.Gold, pages); err != nil {
			return eval.Report{}, errors.Join(err, pages.Close())
		}
	}
	scores, stray, err := eval.ScoreTalk(items, answers, pages)
	report := eval.ReportTalk(scores, stray, eval.TalkOptions{ByKind: c.ByKind, Split: c.Split})
	return report, errors.Join(err, pages.Close())
}

// talk plays the conversations of the items and gives what the bot did, and by item in
// which run. Its threads and runs are kept in a folder of their own, which is removed at
// the end.
func (c *evalCommand) talk(ctx context.Context, a *measuredLibrary, set string, items []eval.TalkItem) (answers []eval.TalkAnswer, runOf map[string]string, err error) {
	dir, err := os.MkdirTemp("", "cairn-eval-talk-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the threads: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tuning := app.Tuning{Ordering: a.tuning.Ordering}
	if tuning.Judgement, err = c.readJudgement(); err != nil {
		return nil, nil, err
	}
	halves := eval.Halves(items)
	examples := &quoteExamples{set: set, halves: halves}
	tuning.Quoting = examples.observe
	talker, err := openTalker(ctx, &measuredLibrary{a.Library, tuning}, dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = closeAfter(err, talker) }()
	for _, item := range items {
		if err := talker.prepare(ctx, item); err != nil {
			return nil, nil, fmt.Errorf("prepare the thread of message %q: %w", item.ID, err)
		}
	}
	talker.StartWork(ctx)
	runOf = make(map[string]string)
	for _, item := range items {
		examples.expect(item.AsQuestion())
		answered, played, err := talker.say(ctx, item)
		if err != nil {
			return nil, nil, fmt.Errorf("say message %q: %w", item.ID, err)
		}
		if item.OpenQuestion == nil { // after one, nothing is decided anew
			c.keepJudged(judgedQuestion{set: set, half: halves[item.ID], expect: item.Expect, also: item.Also}, inputsOf(played.trace.Inputs))
		}
		runOf[item.ID] = played.run
		answers = append(answers, answered)
	}
	c.examples = append(c.examples, examples.collected()...)
	return answers, runOf, c.writeTalkAnswers(answers)
}

// talker is the bot with the stores that its threads are prepared in.
type talker struct {
	*app.App
	threads app.Threads
	answers flows.Flow
}

// openTalker opens a bot over the library that keeps its threads in a folder.
func openTalker(ctx context.Context, l *measuredLibrary, dir string) (*talker, error) {
	opened, err := app.OpenPlayed(ctx, l.Library, app.PlayOptions{Dir: dir, Adapter: talkAdapter, Tuning: l.tuning})
	if err != nil {
		return nil, err
	}
	return &talker{App: &opened.App, threads: opened.Threads, answers: opened.Answers}, nil
}

func talkThread(item eval.TalkItem) chat.ThreadID { return chat.NewThreadID(talkAdapter, item.ID) }

// talkMention is how the messages of a talk set mention the bot. Adapters take mentions off.
const talkMention = "@bot"

// talkAuthor is the person who writes an item's message.
const talkAuthor chat.UserID = "person"

// prepare puts what was said with the bot before a message into its thread. No worker may
// be at work yet.
func (t *talker) prepare(ctx context.Context, item eval.TalkItem) error {
	if len(item.History) == 0 {
		return nil
	}
	thread := session.Session{Thread: talkThread(item), Flow: answer.Name}
	for at, turn := range item.History {
		message := chat.MessageID(fmt.Sprintf("%s-%d", item.ID, at/2))
		switch {
		case turn.Role == flows.User:
			thread.Add(chat.Turn{Role: chat.Person, Author: talkAuthor, Message: message, At: time.Now(), Text: turn.Text})
		case at == len(item.History)-1 && item.OpenQuestion != nil:
			if err := t.askOpen(ctx, &thread, item, message); err != nil {
				return err
			}
		default:
			thread.Add(chat.Turn{Role: chat.Bot, Message: message, At: time.Now(), Reply: &chat.Reply{Outcome: chat.Answered, Text: turn.Text}})
		}
	}
	return t.threads.Sessions.Save(ctx, thread)
}

// askOpen has a run ask the item's open question, and puts it into the thread.
func (t *talker) askOpen(ctx context.Context, thread *session.Session, item eval.TalkItem, message chat.MessageID) error {
	run := bot.NewRunID()
	request := flows.Request{Run: run, Text: item.History[0].Text, Asks: openQuestion(*item.OpenQuestion)}
	job := runs.Job{Event: runs.EventID("open:" + item.ID), Message: chat.Message{ID: message, Thread: thread.Thread, Author: talkAuthor}}
	if _, err := t.threads.Runs.Enqueue(ctx, job); err != nil {
		return err
	}
	lease, err := t.threads.Runs.Claim(ctx, "eval")
	if err != nil {
		return err
	}
	outcome, err := t.answers.Start(ctx, request, flows.Runtime{Store: t.threads.Runs.Journal(lease)})
	if err == nil && outcome.Kind != flows.Asked {
		err = fmt.Errorf("the open question was not asked: the run %s", outcome.Kind)
	}
	if err = errors.Join(err, t.threads.Runs.Finish(ctx, lease, runs.Result{})); err != nil {
		return err
	}
	record := runs.Record{
		ID: chat.RunID(run), Thread: thread.Thread, Flow: answer.Name, Author: talkAuthor, Message: message, Request: request.Text,
	}
	record.Move(runs.Queued, time.Now(), "its message came")
	record.Move(runs.Running, time.Now(), "its turn came")
	record.Move(runs.Waiting, time.Now(), "it asked a question")
	question := chat.Question{ID: outcome.Question.ID, Run: record.ID, Text: outcome.Question.Text, FreeText: true, Asker: talkAuthor}
	for _, choice := range outcome.Question.Choices {
		question.Choices = append(question.Choices, chat.Choice{ID: choice.ID, Label: choice.Label, Detail: choice.Detail})
	}
	thread.Waiting = &session.Waiting{Run: record.ID, Flow: answer.Name, Question: question, Request: request.Text}
	thread.Add(chat.Turn{Role: chat.Bot, Message: message, At: time.Now(), Question: &question})
	return t.threads.Records.Save(ctx, record)
}

func openQuestion(open eval.OpenQuestion) *graph.Question {
	question := &graph.Question{Text: open.Text, FreeText: true}
	for at, label := range open.Choices {
		question.Choices = append(question.Choices, graph.Choice{ID: fmt.Sprintf("choice-%d", at+1), Label: label})
	}
	return question
}

// played is the run that a message of a talk set led to; it is zero where there was none.
type played struct {
	run   string
	trace chat.Trace
}

// say hands an item's message to the bot and gives what came of it, and how.
func (t *talker) say(ctx context.Context, item eval.TalkItem) (eval.TalkAnswer, played, error) {
	message := chat.Message{
		ID: chat.MessageID(item.ID), Thread: talkThread(item), Author: talkAuthor, At: time.Now(),
		Text: strings.TrimSpace(strings.TrimPrefix(item.Question, talkMention)),
	}
	for _, said := range item.Thread {
		message.Before = append(message.Before, chat.Said{Author: said.Author, Text: said.Text})
	}
	if item.Forwarded != nil {
		message.Shared = []chat.Said{{Author: item.Forwarded.Author, Text: item.Forwarded.Text}}
	}
	var said collected
	begun := time.Now()
	if err := t.Bot.Handle(ctx, message, &said); err != nil {
		return eval.TalkAnswer{}, played{}, err
	}
	took := float64(time.Since(begun)) / float64(time.Millisecond)
	var of played
	switch {
	case said.question != nil:
		var err error
		of.run = string(said.question.Run)
		if of.trace, err = t.Bot.Explain(ctx, said.question.Run); err != nil {
			return eval.TalkAnswer{}, played{}, err
		}
	case said.reply != nil:
		of = played{string(said.reply.Run), said.reply.Trace}
	}
	answered := talkAnswer(said, of.trace.Evidence)
	answered.ID, answered.LatencyMS = item.ID, &took
	return answered, of, nil
}

// talkOutcomes are the outcomes of replies as a talk set names them.
var talkOutcomes = map[chat.Outcome]eval.Outcome{
	chat.Answered: eval.OutcomeAnswered, chat.Abstained: eval.OutcomeAbstained, chat.Failure: eval.OutcomeAbstained,
	chat.Noticed: eval.OutcomeTalked, chat.Social: eval.OutcomeTalked, chat.Dropped: eval.OutcomeDropped,
}

// talkAnswer is what the bot said, as people see it in a terminal without colours. The
// sources are the passages that were considered, where documents were asked at all.
func talkAnswer(said collected, considered []chat.TraceEvidence) eval.TalkAnswer {
	answered := eval.TalkAnswer{Outcome: eval.OutcomeSilent, Choices: []string{}, Sources: []eval.Source{}}
	switch {
	case said.question != nil:
		answered.Outcome, answered.Answer = eval.OutcomeAsked, asSent(said.question.Text, nil)
		for _, choice := range said.question.Choices {
			label := choice.Label
			if choice.Detail != "" {
				label += " (" + choice.Detail + ")"
			}
			answered.Choices = append(answered.Choices, label)
		}
	case said.reply != nil:
		answered.Outcome, answered.Answer = talkOutcomes[said.reply.Outcome], asSent(said.reply.Text, said.reply.Sources)
		if said.reply.Note != "" {
			answered.Answer += "\n\n" + said.reply.Note
		}
	}
	for _, passage := range considered[:min(len(considered), maxSources)] {
		answered.Sources = append(answered.Sources, eval.Source{
			Place: eval.Place{Path: passage.Path, Anchor: passage.Anchor}, Rank: len(answered.Sources) + 1,
		})
	}
	return answered
}

// asSent is a text as people see it: its Markdown is read as adapters do.
func asSent(text string, sources []chat.SourceGroup) string {
	return render.Text(sentFormat.Read(text, sources))
}

// sentFormat is that of a platform with room for everything.
var sentFormat = render.Format{MaxAddress: 2000, MaxTitle: 200, Deepest: 5, EmptyItem: "…"}

func (c *evalCommand) writeTalkAnswers(answers []eval.TalkAnswer) (err error) {
	return c.writeFile(func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		for _, answered := range answers {
			if err := encoder.Encode(answered); err != nil {
				return fmt.Errorf("write answer %q: %w", answered.ID, err)
			}
		}
		return nil
	})
}
