package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cairn/internal/access"
	"cairn/internal/chat"
	"cairn/internal/graph/flows"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/session"
)

// Access decides whom answers are shown to; *access.Resolver is one.
type Access interface {
	Resolve(ctx context.Context, question access.Question) access.Decision
	FindReaders(ctx context.Context, question access.Question) (access.Readers, bool)
}

// Library is the index as the bot looks at it beside its flows, behind index.Guard.
type Library interface {
	Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error)
	Search(ctx context.Context, query retrieve.Query) (retrieve.Result, error)
}

// maxRemakes is how often an answer is made again because what it cites has changed.
const maxRemakes = 2

// resolveAccess decides whom the answer to the record's run is shown to.
func (b *Bot) resolveAccess(ctx context.Context, thread chat.ThreadID, asker chat.UserID, identity *chat.Identity) access.Decision {
	if b.options.Access == nil {
		return access.Decision{}
	}
	return b.options.Access.Resolve(ctx, access.Question{Thread: thread, Asker: asker, Identity: identity})
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
func (t *turn) renewAccess(ctx context.Context) context.Context {
	t.access = &pendingDecision{resolve: func(ctx context.Context) access.Decision {
		return t.resolveAccess(ctx, t.record.Thread, t.record.Author, t.record.Asker)
	}}
	decision := t.access
	return knowledge.WithViewersFunc(ctx, func() knowledge.Viewers { return decision.awaitDecision(ctx).Here })
}

// driveAllowed runs the flow for those who will see its answer. Before it is told, what it
// cites is looked at again: where that was deleted, changed or closed to somebody, the
// answer is made again without it.
func (t *turn) driveAllowed(ctx context.Context, flow flows.Flow, runtime flows.Runtime) (flows.Outcome, error) {
	outcome, err := t.driveFlow(t.renewAccess(ctx), flow, runtime)
	var remarks []string
	for round := 0; err == nil; round++ {
		allowed := t.renewAccess(ctx)
		lost, lookErr := t.lostCitations(allowed, outcome)
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
		request, requestErr := t.requestAgain(ctx)
		if requestErr != nil {
			return flows.Outcome{}, requestErr
		}
		outcome, err = flow.Start(allowed, request, runtime)
		if outcome.Kind == flows.Asked && flow.Name() != t.first {
			anew := *outcome.Question
			anew.Text = remadeDraft + "\n\n" + anew.Text
			outcome.Question = &anew
		}
	}
	outcome.Trace.Notes = slices.Concat(t.access.accessNotes(), remarks, outcome.Trace.Notes)
	return outcome, err
}

// remadeDraft is said of a draft that takes the place of one that can't be shown any more.
const remadeDraft = "Documents behind the last draft were changed, deleted or closed to somebody here, so I made it anew."

// requestAgain is the request, and in the flow that answers what its asker said when asked
// back. What is said to a draft is of that draft.
func (t *turn) requestAgain(ctx context.Context) (flows.Request, error) {
	request, err := t.buildRequest(ctx)
	request.Attachments = t.attached
	if work := t.session.Work; work != nil && work.Answer != nil && t.record.Flow == t.first {
		if said := strings.TrimSpace(work.Answer.Text + " " + t.labelOf(work.Answer.QuestionID, work.Answer.Choice)); said != "" {
			request.Text += " (" + said + ")"
		}
	}
	return request, err
}

func (t *turn) labelOf(question, choice string) string {
	for _, turn := range t.session.Turns {
		if turn.Question != nil && turn.Question.ID == question {
			for _, offered := range turn.Question.Choices {
				if offered.ID == choice {
					return offered.Label
				}
			}
		}
	}
	return ""
}

// lostCitations counts the passages that an answer was made from and that are not there any
// more as they were read, or are not for the viewers of the context.
func (t *turn) lostCitations(ctx context.Context, outcome flows.Outcome) (int, error) {
	read := make(map[knowledge.PassageID]string)
	var ids []knowledge.PassageID
	for _, candidate := range outcome.Trace.Evidence {
		if candidate.Hash != "" && candidate.Kept && read[candidate.Passage] == "" {
			read[candidate.Passage] = candidate.Hash
			ids = append(ids, candidate.Passage)
		}
	}
	if t.options.Library == nil || len(ids) == 0 {
		return 0, nil
	}
	found, err := t.options.Library.Passages(ctx, ids)
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
func (b *Bot) documentAudiences(ctx context.Context, ids []string) (map[string]knowledge.Audience, error) {
	audiences := make(map[string]knowledge.Audience)
	if b.options.Library == nil || len(ids) == 0 {
		return audiences, nil
	}
	first := make([]knowledge.PassageID, len(ids))
	for i, id := range ids {
		first[i] = knowledge.MakePassageID(knowledge.DocumentID(id), 0)
	}
	found, err := b.options.Library.Passages(knowledge.WithViewers(ctx, knowledge.Unrestricted()), first)
	if err != nil {
		return nil, fmt.Errorf("look up the audiences of %d documents: %w", len(ids), err)
	}
	for _, f := range found {
		if f.Document.State != knowledge.StateGone {
			audiences[string(f.Document.ID)] = f.Document.Audience.OrPublic()
		}
	}
	return audiences, nil
}

// closedHistory is what an answer says whose thread rests on documents that are not for all
// who see it now.
const closedHistory = "Earlier parts of this thread rest on documents that are gone or not for everybody here; I left them out. Ask me in private for more."

// cutHistory takes out of a session what rests on documents that not everybody who sees the
// thread may read, and tells whether there was any.
func (t *turn) cutHistory(ctx context.Context, before session.Session) (session.Session, bool, error) {
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
	audiences, err := t.documentAudiences(ctx, slices.Compact(cited))
	if err != nil || t.options.Library == nil {
		return before, false, err
	}
	hidden := func(ids []string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			audience, ok := audiences[id]
			return !ok || !t.access.awaitDecision(ctx).Here.MaySee(audience)
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
// them: what was read from a folder or came with the message has none.
func (t *turn) nameCited(ctx context.Context, reply *chat.Reply, outcome flows.Outcome) error {
	var ids []string
	for _, group := range outcome.Groups {
		for _, source := range group.Sources {
			ids = append(ids, string(source.Document))
		}
	}
	indexed, err := t.documentAudiences(ctx, ids)
	if err != nil {
		return err
	}
	for i, group := range outcome.Groups {
		for j, source := range group.Sources {
			if _, ok := indexed[string(source.Document)]; ok {
				reply.Sources[i].Sources[j].Document = string(source.Document)
			}
		}
	}
	return nil
}

// maxOffered is how many of the best passages are looked at for an offer.
const maxOffered = 5

// findOffer tells whether the asker alone may read something about the question that not
// everybody here may.
func (t *turn) findOffer(ctx context.Context) (bool, error) {
	if t.access == nil || t.options.Library == nil || t.record.Flow != t.first || t.options.Openers[t.record.Thread.Adapter()] == nil {
		return false, nil
	}
	decision := t.access.awaitDecision(ctx)
	if decision.Private || decision.Asker.IsPublic() {
		return false, nil
	}
	query := retrieve.Query{Text: t.record.Request, Limit: maxOffered}
	query.Filter.Sources = t.allowedCollections()
	found, err := t.options.Library.Search(knowledge.WithViewers(ctx, decision.Asker), query)
	if err != nil {
		return false, fmt.Errorf("look for what the asker may read in private: %w", err)
	}
	return slices.ContainsFunc(found.Evidence, func(e retrieve.Evidence) bool {
		return !decision.Here.MaySee(e.Document.Audience)
	}), nil
}

const offerText = "There is more about this in documents that you may read and not everybody here. I can answer you in private."

// postOffer offers the asker the rest in private. It is a convenience: an answer whose
// offer fails stands all the same.
func (t *turn) postOffer(ctx context.Context) {
	if !t.offers {
		return
	}
	offer := chat.Reply{Outcome: chat.Noticed, Text: offerText, Offer: t.record.ID}
	key := chat.PostKey(keyOf(t.job)[:20] + "OFFR")
	_, err := t.poster.Post(ctx, t.message.Thread, key, chat.Post{To: t.message.ID, Reply: &offer, Only: t.record.Author, Private: true})
	if err != nil {
		t.logger.WarnContext(ctx, "post the offer of a private answer", "run", string(t.record.ID), "error", err)
	}
}
