package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

// flowRun drives the flow of a job's run: what it is asked, for whom, and what it reads.
type flowRun struct {
	job          *job
	conversation *conversation
	documents    documentAccess
	openers      map[string]chat.PrivateOpener // as in Options
	quota        Quota                         // nil: nothing is limited
	parseFile    fileParser                    // nil: no file is read
	first        string                        // the flow that a plain message goes to
	keepsPages   bool                          // there is a flow that keeps pages
	curation     *Curation                     // nil: no answer can be pinned
	models       ModelBudget                   // nil: nothing limits the use of models
	noModels     time.Duration                 // for how long the run's team has no models; 0: it has

	attached      []flows.Attachment
	access        *pendingDecision // whom the run's answer is shown to
	closedHistory bool             // parts of the thread are not for all who see it
}

// driveFlow runs the flow to an outcome. Only a run that was never begun is started.
func (r *flowRun) driveFlow(ctx context.Context, flow flows.Flow, runtime flows.Runtime) (flows.Outcome, error) {
	request, err := r.buildRequest(ctx)
	if err != nil {
		return flows.Outcome{}, err
	}
	request.Attachments = r.attached
	request.Before = r.loadPriorMessages(ctx)
	request.Asks = r.fileQuestion()
	fresh := !r.job.again && r.job.record.ID == r.job.entry.Run && r.job.entry.Kind != runs.Retry
	if fresh {
		return flow.Start(ctx, request, runtime)
	}
	var given []graph.Answer
	if answer := r.conversation.session.Work.Answer; answer != nil {
		given = append(given, *answer)
	}
	outcome, err := flow.Resume(ctx, request.Run, given, runtime)
	if errors.Is(err, graph.ErrNoCheckpoint) && given == nil {
		if request.Attachments, err = r.readFilesAgain(ctx); err != nil {
			return flows.Outcome{}, err
		}
		return flow.Start(ctx, request, runtime)
	}
	return outcome, err
}

// buildRequest is what the record's flow is asked, with what was said before.
func (r *flowRun) buildRequest(ctx context.Context) (flows.Request, error) {
	before := r.conversation.session
	for i, turn := range before.Turns {
		if turn.Role == chat.Person && turn.Message == r.job.record.Message {
			before.Turns = before.Turns[:i]
			break
		}
	}
	before, closed, err := r.cutHistory(ctx, before)
	if err != nil {
		return flows.Request{}, err
	}
	r.closedHistory = closed
	room, err := describeRoom(ctx, r.documents, r.job.record.Flow, access.Question{Thread: r.job.record.Thread, Asker: r.job.record.Author, Identity: r.job.record.Asker})
	if err != nil {
		return flows.Request{}, err
	}
	var made []flows.Made
	if r.job.record.Flow == routing.Page {
		made = listMade(before.Turns)
	}
	return flows.Request{
		Room: room, Made: made,
		ReadIn: r.job.record.Thread.Adapter(),
		Filter: flows.Scope{Sources: r.allowedCollections()},
		Run:    string(r.job.record.ID), Text: r.job.record.Request, Depth: flows.Depth(r.job.record.Depth), History: recallHistory(before, r.job.record.Request),
	}, nil
}

// allowedCollections are those that the run may be answered from; none: all.
func (r *flowRun) allowedCollections() []knowledge.SourceID {
	var sources []knowledge.SourceID
	for _, collection := range r.job.record.Collections {
		sources = append(sources, knowledge.SourceID(collection))
	}
	return sources
}

// recordRun adds what the run did to its record.
func (r *flowRun) recordRun(ctx context.Context, outcome flows.Outcome, err error, steps []chat.TraceStep, begun time.Time) {
	trace := &r.job.record.Trace
	worked := trace.Took + r.job.now().Sub(begun)
	if err == nil {
		converted := traceOf(outcome.Trace)
		converted.Steps = trace.Steps
		if len(trace.Notes) > 0 && strings.HasPrefix(trace.Notes[0], routed) {
			converted.Notes = slices.Concat(trace.Notes[:1], converted.Notes)
		}
		explainAccess(ctx, &converted, outcome.Trace.Evidence, r.access)
		*trace = converted
	}
	trace.Flow, trace.Took = r.job.record.Flow, worked
	r.job.record.Pass(steps)
}

// listActions gives what people can do about what a run made.
func (r *flowRun) listActions(ctx context.Context, outcome flows.Outcome) []chat.Action {
	var actions []chat.Action
	isPage := r.job.record.Flow == routing.Page
	if r.keepsPages && !isPage && slices.ContainsFunc(outcome.Files, func(f flows.File) bool { return f.MediaType == flows.Markdown }) {
		actions = append(actions, chat.KeepAsPage)
	}
	if outcome.Undoable {
		actions = append(actions, chat.UndoChange)
	}
	return append(actions, r.listPinActions(ctx, outcome)...)
}

// listMade gives the Markdown documents of a thread that are kept, the latest first.
func listMade(turns []chat.Turn) []flows.Made {
	var made []flows.Made
	for _, turn := range slices.Backward(turns) {
		if turn.Reply == nil {
			continue
		}
		for _, document := range turn.Reply.Documents {
			if document.Kept() && document.MediaType == flows.Markdown {
				made = append(made, flows.Made{Run: string(turn.Reply.Run), File: flows.File{Name: document.Name, MediaType: document.MediaType, Content: document.Content}})
			}
		}
	}
	return made
}

// hasMore tells whether an answer to a plain question leaves something out that a longer
// one would say.
func (r *flowRun) hasMore(outcome flows.Outcome) bool {
	evidence := outcome.Trace.Evidence
	if r.job.poster == nil || outcome.Kind != flows.Answered || r.job.record.Flow != r.first || r.job.record.Depth == chat.Comprehensive ||
		r.job.record.Message != r.job.message.ID || len(evidence) == 0 {
		return false
	}
	return slices.ContainsFunc(evidence, func(c flows.Candidate) bool { return !c.Kept && c.Score >= moreFloor*evidence[0].Score })
}

// watchCost begins to count what the run costs; charge is to be called once it works no
// more. A cost that can't be counted takes nothing from the answer.
func (r *flowRun) watchCost() (charge func(ctx context.Context)) {
	if r.quota == nil {
		return func(context.Context) {}
	}
	watched := r.quota.Watch(r.job.record.ID, chat.Message{Thread: r.job.record.Thread, Author: r.job.record.Author, ID: r.job.record.Message})
	return func(ctx context.Context) {
		if err := watched(ctx); err != nil {
			r.job.logger.ErrorContext(ctx, "what a run cost is not counted", "run", string(r.job.record.ID), "error", err)
		}
	}
}
