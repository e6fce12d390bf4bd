package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"cairn/internal/chat"
	"cairn/internal/config"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/knowledge/index"
	"cairn/internal/runs"
)

// logLimit bounds the writing of a row: a person waits for the answer meanwhile.
const logLimit = 2 * time.Second

// logged is a flow whose answers are noted in the index's query log.
type logged struct {
	flows.Flow
	log    index.QueryLog
	logger *slog.Logger
}

// withQueryLog has a flow's answers noted, where the index can and is asked to.
func (a *app) withQueryLog(flow flows.Flow) flows.Flow {
	log, ok := a.index.(index.QueryLog)
	if !ok || a.config.Postgres.QueryLog == config.QueriesOff {
		return flow
	}
	return &logged{Flow: flow, log: log, logger: a.logger}
}

// Start runs a request, and notes how it was answered.
func (l *logged) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	outcome, err := l.Flow.Start(ctx, request, runtime)
	if err == nil {
		l.note(ctx, request.Run, outcome)
	}
	return outcome, err
}

// Resume goes on with a run, and notes how it was answered.
func (l *logged) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	outcome, err := l.Flow.Resume(ctx, run, answers, runtime)
	if err == nil {
		l.note(ctx, run, outcome)
	}
	return outcome, err
}

// note writes a row. An answer that can't be noted is given all the same.
func (l *logged) note(ctx context.Context, run string, outcome flows.Outcome) {
	if outcome.Kind == flows.Asked || len(outcome.Trace.Queries) == 0 {
		return
	}
	record := index.QueryRecord{At: time.Now(), Run: run, Question: outcome.Trace.Queries[0].Text, Total: outcome.Trace.Took}
	for _, query := range outcome.Trace.Queries {
		record.Lexical += query.Lexical
		record.Dense += query.Dense
		record.Search += query.Took
	}
	for _, group := range outcome.Groups {
		record.Shown += len(group.Sources)
	}
	ctx, cancel := context.WithTimeout(ctx, logLimit)
	defer cancel()
	if err := l.log.LogQuery(ctx, record); err != nil {
		l.logger.WarnContext(ctx, "an answer is missing in the query log", "run", run, "error", err)
	}
}

// forgetQueries takes what a person asked out of the query log. It goes by the records of
// runs, and so comes before those are erased.
func (a *app) forgetQueries(ctx context.Context, user chat.UserID) error {
	log, ok := a.index.(index.QueryLog)
	if !ok {
		return nil
	}
	opened, err := a.openStores(ctx)
	if err != nil {
		return err
	}
	const fewest = 1000
	for limit := fewest; ; limit *= 2 {
		listed, err := opened.records.List(ctx, runs.Filter{Author: user}, limit)
		if err != nil {
			return fmt.Errorf("list the runs of %s: %w", user, err)
		}
		if len(listed) == limit { // there may be more
			continue
		}
		ids := make([]string, len(listed))
		for i, record := range listed {
			ids[i] = string(record.ID)
		}
		_, err = log.ForgetQueries(ctx, ids)
		return err
	}
}
