package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/querylog"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// logLimit bounds the writing of a row: a person waits for the answer meanwhile.
const logLimit = 2 * time.Second

// loggedFlow is a flow whose answers are noted in the query log.
type loggedFlow struct {
	flows.Flow
	log    index.QueryLog
	logger *slog.Logger
}

// openQueryLog opens the query log: that of the index where it is on a server, else one in the
// database of the data directory, which the storage has open unless it is in Redis. What is to be
// closed is added to opened.
func openQueryLog(ctx context.Context, setup Setup, found any, data *sqlite.DB, opened *closers) (index.QueryLog, error) {
	if log, ok := found.(index.QueryLog); ok {
		return log, nil
	}
	if data == nil {
		var err error
		if data, err = sqlite.OpenData(ctx, setup.Config.DataDir); err != nil {
			return nil, err
		}
		opened.add(data.Close)
	}
	search := setup.Config.Search
	return querylog.Open(data, querylog.Options{Plain: search.QueryLog == config.QueriesPlain, Keep: keepQueries(search)}), nil
}

// keepQueries is how long the query log keeps a question.
func keepQueries(search config.Search) time.Duration {
	return time.Duration(search.QueryDays) * 24 * time.Hour
}

// withQueryLog has a flow's answers noted, where that is asked for.
func withQueryLog(flow flows.Flow, log index.QueryLog, setup Setup) flows.Flow {
	if setup.Config.Search.QueryLog == config.QueriesOff {
		return flow
	}
	return &loggedFlow{Flow: flow, log: log, logger: setup.Logger}
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

// ForgetQueries takes what was asked in runs out of the query log.
func (c *Cairn) ForgetQueries(ctx context.Context, runs []string) error {
	_, err := c.queries.ForgetQueries(ctx, runs)
	return err
}
