package app

import (
	"context"
	"log/slog"
	"time"

	"cairn/internal/config"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/knowledge/index"
)

// logLimit bounds the writing of a row: a person waits for the answer meanwhile.
const logLimit = 2 * time.Second

// loggedFlow is a flow whose answers are noted in the index's query log.
type loggedFlow struct {
	flows.Flow
	log    index.QueryLog
	logger *slog.Logger
}

// withQueryLog has a flow's answers noted, where the index can and is asked to.
func (l *Library) withQueryLog(flow flows.Flow) flows.Flow {
	log, ok := l.Index.(index.QueryLog)
	if !ok || l.Config.Postgres.QueryLog == config.QueriesOff {
		return flow
	}
	return &loggedFlow{Flow: flow, log: log, logger: l.Logger}
}

// Start runs a request, and notes how it was answered.
func (l *loggedFlow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	outcome, err := l.Flow.Start(ctx, request, runtime)
	if err == nil {
		l.note(ctx, request.Run, outcome)
	}
	return outcome, err
}

// Resume goes on with a run, and notes how it was answered.
func (l *loggedFlow) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	outcome, err := l.Flow.Resume(ctx, run, answers, runtime)
	if err == nil {
		l.note(ctx, run, outcome)
	}
	return outcome, err
}

// note writes a row. An answer that can't be noted is given all the same.
func (l *loggedFlow) note(ctx context.Context, run string, outcome flows.Outcome) {
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

// ForgetQueries takes what was asked in runs out of the query log, where the index keeps one.
func (l *Library) ForgetQueries(ctx context.Context, runs []string) error {
	log, ok := l.Index.(index.QueryLog)
	if !ok {
		return nil
	}
	_, err := log.ForgetQueries(ctx, runs)
	return err
}
