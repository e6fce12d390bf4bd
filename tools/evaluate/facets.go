package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/store"
)

// measureFacets acts the person who is asked back: for each facet of each topic it
// makes the request, and replies with what people said who had that facet in mind.
func (e *evaluation) measureFacets(ctx context.Context) (report eval.Report, err error) {
	topics, err := eval.LoadTopics(e.folder)
	if err == nil && len(topics) == 0 {
		err = errors.New("it holds no qulac.jsonl with requests")
	}
	if err != nil {
		return eval.Report{}, err
	}
	library, err := e.openLibrary(ctx)
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	if err := syncDocuments(ctx, library, &eval.Corpus{Documents: eval.FacetDocuments(topics)}); err != nil {
		return eval.Report{}, err
	}
	models, err := app.NewModels(library.Setup)
	if err != nil {
		return eval.Report{}, err
	}
	flow, err := app.NewAnswers(library, models.Models, app.Tuning{})
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = errors.Join(err, app.CloseAnswers(ctx, flow)) }()
	checkpoints, done, err := openJournal(ctx, e.config.DataDir)
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var led []eval.Led
	for _, topic := range topics {
		for _, facet := range topic.Facets {
			run, err := playFacet(ctx, flow, flows.Runtime{Store: checkpoints}, topic, facet.ID)
			if err != nil {
				return eval.Report{}, fmt.Errorf("act facet %s: %w", facet.ID, err)
			}
			led = append(led, run)
		}
	}
	return eval.Report{Groups: []eval.Group{eval.FacetGroup(led)}}, nil
}

// openJournal keeps the checkpoints of runs that belong to no thread, in a data directory, until
// done.
func openJournal(ctx context.Context, dir string) (kept store.Journal, done func() error, err error) {
	db, err := sqlite.OpenData(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	opened, err := embedded.Open(ctx, db, runs.Options{LeaseTTL: time.Hour})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	job := runs.Job{Event: runs.EventID(rand.Text()), Message: chat.Message{Thread: chat.NewThreadID("eval", "facets")}}
	if _, err := opened.Enqueue(ctx, job); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	lease, err := opened.Claim(ctx, "eval")
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	done = func() error {
		return errors.Join(opened.Finish(context.WithoutCancel(ctx), lease, runs.Result{}), db.Close())
	}
	return opened.Journal(lease), done, nil
}

// playFacet makes one request and replies where it is asked about.
func playFacet(ctx context.Context, flow flows.Flow, runtime flows.Runtime, topic eval.Topic, facet string) (eval.Led, error) {
	led := eval.Led{Type: topic.Type, Facet: facet}
	run := "eval-facet-" + facet
	outcome, err := flow.Start(ctx, flows.Request{Run: run, Text: topic.Request, Depth: flows.Detailed}, runtime)
	if err != nil || outcome.Kind != flows.Asked {
		return led, err
	}
	led.Asked, led.Before = true, firstFound(outcome)
	reply, ok := topic.Reply(outcome.Text, facet)
	if !ok {
		return led, nil
	}
	outcome, err = flow.Resume(ctx, run, []graph.Answer{{QuestionID: outcome.Question.ID, Text: reply}}, runtime)
	led.Replied, led.After, led.Answered = true, firstFound(outcome), outcome.Kind == flows.Answered
	return led, err
}

// firstFound is the path of the best evidence, "" where nothing was found.
func firstFound(outcome flows.Outcome) string {
	if len(outcome.Trace.Evidence) == 0 {
		return ""
	}
	return outcome.Trace.Evidence[0].Path
}
