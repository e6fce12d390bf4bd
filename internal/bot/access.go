package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/session"
)

// Access decides whom answers are shown to; *access.Resolver is one.
type Access interface {
	Resolve(ctx context.Context, question access.Question) access.Decision
	FindReaders(ctx context.Context, question access.Question) (access.Readers, bool)
	DescribeRoom(ctx context.Context, question access.Question) (access.Room, bool)
}

// Library is the index as the bot looks at it beside its flows, behind index.Guard.
type Library interface {
	Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error)
	Search(ctx context.Context, query retrieve.Query) (retrieve.Result, error)
}

// maxRemakes is how often an answer is made again because what it cites has changed.
const maxRemakes = 2

// documentAccess tells whom answers are shown to, and whom documents are for.
type documentAccess struct {
	access  Access
	library Library
	viewer  Viewer
	check   Check
	refresh func(context.Context, []knowledge.Audience) // nil: groups are as they are known
}

// refreshGroups has those asked for anew who may read what an answer rests on.
func (a documentAccess) refreshGroups(ctx context.Context, evidence []flows.Candidate) {
	var audiences []knowledge.Audience
	for _, candidate := range evidence {
		if candidate.Audience != "" && candidate.Audience != knowledge.PublicAudience && !slices.Contains(audiences, candidate.Audience) {
			audiences = append(audiences, candidate.Audience)
		}
	}
	if a.refresh != nil && len(audiences) > 0 {
		a.refresh(ctx, audiences)
	}
}

// resolveAccess decides whom the answer to the record's run is shown to.
func (a documentAccess) resolveAccess(ctx context.Context, thread chat.ThreadID, asker chat.UserID, identity *chat.Identity) access.Decision {
	if a.access == nil {
		return access.Decision{}
	}
	return a.access.Resolve(ctx, access.Question{Thread: thread, Asker: asker, Identity: identity})
}

// pendingDecision is whom a run's answer is shown to. It is found out when it is first asked
// for, so a run that reads no document costs the platform no call.
type pendingDecision struct {
	resolve func(context.Context) access.Decision

	mu       sync.Mutex
	decision *access.Decision // nil until somebody asked for it
}

func (p *pendingDecision) awaitDecision(ctx context.Context) access.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decision == nil {
		decision := p.resolve(ctx)
		p.decision = &decision
	}
	return *p.decision
}

// accessNotes say how it was found, and nothing where nobody asked for it.
func (p *pendingDecision) accessNotes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decision == nil {
		return nil
	}
	return p.decision.Notes
}

// renewAccess has whom the answer is shown to found out anew, and gives a context for them.
func (r *flowRun) renewAccess(ctx context.Context) context.Context {
	r.access = &pendingDecision{resolve: func(ctx context.Context) access.Decision {
		return r.documents.resolveAccess(ctx, r.job.record.Thread, r.job.record.Author, r.job.record.Asker)
	}}
	decision := r.access
	return knowledge.WithViewersFunc(ctx, func() knowledge.Viewers { return decision.awaitDecision(ctx).Here })
}

// driveAllowed runs the flow for those who will see its answer. Before it is told, what it
// cites is looked at again: where that was deleted, changed or closed to somebody, the
// answer is made again without it.
func (r *flowRun) driveAllowed(ctx context.Context, flow flows.Flow, runtime flows.Runtime) (flows.Outcome, error) {
	outcome, err := r.driveFlow(r.renewAccess(ctx), flow, runtime)
	var remarks []string
	for round := 0; err == nil; round++ {
		r.documents.refreshGroups(ctx, outcome.Trace.Evidence)
		allowed := r.renewAccess(ctx)
		lost, lookErr := r.lostCitations(allowed, outcome)
		if lookErr != nil {
			return flows.Outcome{}, lookErr
		}
		if lost == 0 {
			break
		}
		remarks = append(remarks, fmt.Sprintf("access: before it was posted, %s of its evidence had been deleted, changed or closed to somebody here", countNoun(lost, "passage")))
		if round == maxRemakes {
			outcome = flows.Outcome{Kind: flows.Abstained, Text: "The documents that answer this are changing while I read them. Please ask again in a moment.", Trace: outcome.Trace}
			outcome.Trace.Evidence = nil
			break
		}
		request, requestErr := r.requestAgain(ctx)
		if requestErr != nil {
			return flows.Outcome{}, requestErr
		}
		outcome, err = flow.Start(allowed, request, runtime)
		if outcome.Kind == flows.Asked && flow.Name() != r.first {
			anew := *outcome.Question
			anew.Text = remadeDraft + "\n\n" + anew.Text
			outcome.Question = &anew
		}
	}
	outcome.Trace.Notes = slices.Concat(r.access.accessNotes(), remarks, outcome.Trace.Notes)
	return outcome, err
}

// remadeDraft is said of a draft that takes the place of one that can't be shown any more.
const remadeDraft = "Documents behind the last draft were changed, deleted or closed to somebody here, so I made it anew."

// requestAgain is the request, and in the flow that answers what its asker said when asked
// back. What is said to a draft is of that draft.
func (r *flowRun) requestAgain(ctx context.Context) (flows.Request, error) {
	request, err := r.buildRequest(ctx)
	request.Attachments = r.attached
	if work := r.conversation.session.Work; work != nil && work.Answer != nil && r.job.record.Flow == r.first {
		if said := strings.TrimSpace(work.Answer.Text + " " + r.conversation.labelOf(work.Answer.QuestionID, work.Answer.Choice)); said != "" {
			request.Text += " (" + said + ")"
		}
	}
	return request, err
}

// lostCitations counts the passages that an answer was made from and that are not there any
// more as they were read, or are not for the viewers of the context.
func (r *flowRun) lostCitations(ctx context.Context, outcome flows.Outcome) (int, error) {
	read := make(map[knowledge.PassageID]string)
	var ids []knowledge.PassageID
	for _, candidate := range outcome.Trace.Evidence {
		if candidate.Hash != "" && candidate.Kept && read[candidate.Passage] == "" {
			read[candidate.Passage] = candidate.Hash
			ids = append(ids, candidate.Passage)
		}
	}
	if r.documents.library == nil || len(ids) == 0 {
		return 0, nil
	}
	found, err := r.documents.library.Passages(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("look at the citations again: %w", err)
	}
	lost := len(ids)
	for _, f := range found {
		if f.Passage.Hash == read[f.Passage.ID] && f.Document.State != knowledge.StateGone {
			lost--
		}
	}
	return lost, nil
}

// explainAccess writes into the trace why each passage may be shown here.
func explainAccess(ctx context.Context, trace *chat.Trace, evidence []flows.Candidate, decided *pendingDecision) {
	for i, candidate := range evidence {
		if candidate.Audience == "" {
			continue
		}
		reason, ok := decided.awaitDecision(ctx).Here.Reason(candidate.Audience)
		if !ok {
			reason = string(knowledge.Nobody) // it was closed since it was read
		}
		trace.Evidence[i].Access = reason
	}
}

// documentAudiences gives the audiences of documents of the index; those that are not there
// (any more) are left out.
func (a documentAccess) documentAudiences(ctx context.Context, ids []string) (map[string]knowledge.Audience, error) {
	documents, err := a.loadDocuments(ctx, ids)
	audiences := make(map[string]knowledge.Audience, len(documents))
	for id, document := range documents {
		audiences[id] = document.Audience.OrPublic()
	}
	return audiences, err
}

// loadDocuments gives documents of the index by their ids; those that are not there (any more)
// are left out.
func (a documentAccess) loadDocuments(ctx context.Context, ids []string) (map[string]knowledge.Document, error) {
	documents := make(map[string]knowledge.Document)
	if a.library == nil || len(ids) == 0 {
		return documents, nil
	}
	first := make([]knowledge.PassageID, len(ids))
	for i, id := range ids {
		first[i] = knowledge.MakePassageID(knowledge.DocumentID(id), 0)
	}
	found, err := a.library.Passages(knowledge.WithViewers(ctx, knowledge.Unrestricted()), first)
	if err != nil {
		return nil, fmt.Errorf("look up %d documents: %w", len(ids), err)
	}
	for _, f := range found {
		if f.Document.State != knowledge.StateGone {
			documents[string(f.Document.ID)] = f.Document
		}
	}
	return documents, nil
}

// closedHistory is what an answer says whose thread rests on documents that are not for all
// who see it now.
const closedHistory = "Earlier parts of this thread rest on documents that are gone or not for everybody here; I left them out. Ask me in private for more."

// cutHistory takes out of a session what rests on documents that not everybody who sees the
// thread may read, and tells whether there was any.
func (r *flowRun) cutHistory(ctx context.Context, before session.Session) (session.Session, bool, error) {
	var cited []string
	for _, turn := range before.Turns {
		if turn.Reply != nil {
			cited = append(cited, turn.Reply.Cited()...)
		}
	}
	for _, topic := range before.Earlier {
		cited = append(cited, topic.Cited...)
	}
	slices.Sort(cited)
	audiences, err := r.documents.documentAudiences(ctx, slices.Compact(cited))
	if err != nil || r.documents.library == nil {
		return before, false, err
	}
	hidden := func(ids []string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			audience, ok := audiences[id]
			return !ok || !r.access.awaitDecision(ctx).Here.MaySee(audience)
		})
	}
	kept := before
	kept.Turns = slices.DeleteFunc(slices.Clone(before.Turns), func(turn chat.Turn) bool {
		return turn.Reply != nil && hidden(turn.Reply.Cited())
	})
	kept.Earlier = slices.Clone(before.Earlier)
	closed := len(kept.Turns) < len(before.Turns)
	for i := range kept.Earlier {
		if topic := &kept.Earlier[i]; hidden(topic.Cited) {
			topic.Answered, topic.Documents, topic.Cited, closed = "", nil, nil, true
		}
	}
	if closed { // what was asked back named places in documents as well
		kept.Turns = slices.DeleteFunc(kept.Turns, func(turn chat.Turn) bool { return turn.Question != nil })
	}
	return kept, closed, nil
}

// nameCited gives the sources of a reply the ids of their documents, where the index has
// them, and the addresses that show their passages: what was read from a folder or came with
// the message has none.
func (r *flowRun) nameCited(ctx context.Context, reply *chat.Reply, outcome flows.Outcome) error {
	var ids []string
	for _, group := range outcome.Groups {
		for _, source := range group.Sources {
			ids = append(ids, string(source.Document))
		}
	}
	indexed, err := r.documents.loadDocuments(ctx, ids)
	if err != nil {
		return err
	}
	states := r.documents.checkSources(ctx, indexed)
	for i, group := range outcome.Groups {
		for j, source := range group.Sources {
			document, ok := indexed[string(source.Document)]
			if !ok {
				continue
			}
			shown := &reply.Sources[i].Sources[j]
			shown.Document = string(source.Document)
			for k := range shown.Sections {
				section := &shown.Sections[k]
				section.View = r.documents.viewer.Address(chat.SourceRef{Document: shown.Document, Passage: section.Passage}, document.Audience.OrPublic())
			}
			if state := states[document.ID]; state == knowledge.StateChanged || state == knowledge.StateGone {
				shown.State = string(state)
			}
		}
	}
	return nil
}

// maxOffered is how many of the best passages are looked at for an offer.
const maxOffered = 5

// findOffer tells whether the asker alone may read something about the question that not
// everybody here may.
func (r *flowRun) findOffer(ctx context.Context) (bool, error) {
	if r.access == nil || r.documents.library == nil || r.job.record.Flow != r.first || r.openers[r.job.record.Thread.Adapter()] == nil {
		return false, nil
	}
	decision := r.access.awaitDecision(ctx)
	if decision.Private || decision.Asker.IsPublic() {
		return false, nil
	}
	query := retrieve.Query{Text: r.job.record.Request, Limit: maxOffered}
	query.Filter.Sources = r.allowedCollections()
	found, err := r.documents.library.Search(knowledge.WithViewers(ctx, decision.Asker), query)
	if err != nil {
		return false, fmt.Errorf("look for what the asker may read in private: %w", err)
	}
	return slices.ContainsFunc(found.Evidence, func(e retrieve.Evidence) bool {
		return !decision.Here.MaySee(e.Document.Audience)
	}), nil
}

const offerText = "There is more about this in documents that you may read and not everybody here. I can answer you in private."
