package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Curation is how answers are pinned to questions.
type Curation struct {
	Store curated.Store
	// Keep is how long an answer is given.
	Keep   time.Duration
	Owners access.Owners
	// Identify tells who somebody is.
	Identify func(ctx context.Context, question access.Question) (access.Person, error)
}

// The refusals of those who want to pin.
const (
	notPinned      = "This answer is not pinned."
	notPinnable    = "Only an answer from the documents can be pinned."
	restsOnFiles   = "This answer rests on files or messages that came with the question, which not everybody who asks it may read. It can't be pinned."
	restsOnLost    = "A document that this answer rests on is not there any more. Please ask the question again, and pin the new answer."
	mayNotPin      = "Pinning is for those who look after the collections that an answer rests on."
	pinsAreFull    = "As many answers are pinned as are kept. Please unpin some first: cairn answers list."
	pinnedQuestion = "pinned: "
)

// listPinActions gives what people may do about the pin of the run's answer. On a platform those who
// may are found out when they press; elsewhere the asker alone sees the answer.
func (r *flowRun) listPinActions(ctx context.Context, outcome flows.Outcome) []chat.Action {
	record := r.job.record
	if r.curation == nil || r.curation.Owners.IsEmpty() || record.Flow != r.first || outcome.Kind != flows.Answered {
		return nil
	}
	if r.job.poster == nil {
		person, err := r.curation.Identify(ctx, access.Question{Thread: record.Thread, Asker: record.Author, Identity: withoutMachine(record.Asker)})
		if err != nil || !r.curation.Owners.OwnsAny(person) {
			return nil
		}
	}
	if wasPinned(outcome.Trace.Notes) {
		return []chat.Action{chat.UnpinAnswer}
	}
	return []chat.Action{chat.PinAnswer}
}

// wasPinned reports whether a run was answered by a pinned answer.
func wasPinned(notes []string) bool {
	return slices.ContainsFunc(notes, func(note string) bool { return strings.HasPrefix(note, pinnedQuestion) })
}

// Curator pins answers for people who look after collections.
type Curator struct {
	bot      *Bot
	curation *Curation
}

var _ chat.AnswerPinner = (*Curator)(nil)

// Curator gives who pins answers; nil where none can be pinned.
func (b *Bot) Curator() chat.AnswerPinner {
	if b.options.Curation == nil {
		return nil
	}
	return NewCurator(b)
}

// NewCurator makes the curator of a bot that has Options.Curation.
func NewCurator(bot *Bot) *Curator { return &Curator{bot, bot.options.Curation} }

// DraftPin implements chat.AnswerPinner.
func (c *Curator) DraftPin(ctx context.Context, run chat.RunID, by chat.Reader) (chat.PinDraft, error) {
	answer, err := c.preparePin(ctx, run, by)
	return chat.PinDraft{Question: answer.Question, Text: answer.Text}, err
}

// preparePin gives the answer of a run as it would be pinned by somebody who may.
func (c *Curator) preparePin(ctx context.Context, run chat.RunID, by chat.Reader) (curated.Answer, error) {
	record, reply, err := c.findPinnable(ctx, run)
	if err != nil {
		return curated.Answer{}, err
	}
	documents, err := c.documentsOfRun(ctx, record, reply)
	if err != nil {
		return curated.Answer{}, err
	}
	person, err := c.admitCurator(ctx, record.Thread, by, documents)
	if err != nil {
		return curated.Answer{}, err
	}
	now := c.bot.now()
	return curated.Answer{
		ID: curated.NewID(), Question: shorten.Head(c.standaloneQuestion(ctx, record), curated.MaxQuestion), Text: reply.Text, Groups: groupsOf(reply, documents),
		RestsOn: slices.Sorted(maps.Keys(documents)), Author: by.User, Name: shorten.Line(person.Name, curated.MaxName), Run: run, Pinned: now, Expires: now.Add(c.curation.Keep),
	}, nil
}

// PinAnswer implements chat.AnswerPinner.
func (c *Curator) PinAnswer(ctx context.Context, run chat.RunID, by chat.Reader, draft chat.PinDraft) (chat.PinnedAnswer, error) {
	answer, err := c.preparePin(ctx, run, by)
	if err != nil {
		return chat.PinnedAnswer{}, err
	}
	answer.Question, answer.Text = cmp.Or(strings.TrimSpace(draft.Question), answer.Question), cmp.Or(strings.TrimSpace(draft.Text), answer.Text)
	if err := answer.Validate(); err != nil {
		return chat.PinnedAnswer{}, &chat.PinError{Text: "Nothing was pinned: " + err.Error() + "."}
	}
	pinned, err := curated.Pin(ctx, c.curation.Store, answer, answer.Pinned)
	if errors.Is(err, curated.ErrFull) {
		return chat.PinnedAnswer{}, &chat.PinError{Text: pinsAreFull}
	}
	if err != nil {
		return chat.PinnedAnswer{}, err
	}
	c.bot.logger.InfoContext(ctx, "pin answer", "pin", string(pinned.ID), "run", string(run), "by", string(by.User), "adapter", by.Adapter)
	return chat.PinnedAnswer{Question: pinned.Question, Expires: pinned.Expires}, nil
}

// UnpinAnswer implements chat.AnswerPinner.
func (c *Curator) UnpinAnswer(ctx context.Context, run chat.RunID, by chat.Reader) (chat.PinnedAnswer, error) {
	record, reply, err := c.findPinnable(ctx, run)
	if err != nil {
		return chat.PinnedAnswer{}, err
	}
	documents, err := c.documentsOfRun(ctx, record, reply)
	if err != nil {
		return chat.PinnedAnswer{}, err
	}
	if _, err := c.admitCurator(ctx, record.Thread, by, documents); err != nil {
		return chat.PinnedAnswer{}, err
	}
	all, err := c.curation.Store.List(ctx)
	if err != nil {
		return chat.PinnedAnswer{}, err
	}
	at := slices.IndexFunc(all, func(a curated.Answer) bool {
		return a.Run == run || wasPinned(record.Trace.Notes) && a.Text == reply.Text
	})
	if at < 0 {
		return chat.PinnedAnswer{}, &chat.PinError{Text: notPinned}
	}
	err = c.curation.Store.Delete(ctx, all[at].ID)
	if err != nil && !errors.Is(err, curated.ErrUnknown) {
		return chat.PinnedAnswer{}, err
	}
	c.bot.logger.InfoContext(ctx, "unpin answer", "pin", string(all[at].ID), "run", string(run), "by", string(by.User), "adapter", by.Adapter)
	return chat.PinnedAnswer{Question: all[at].Question, Expires: all[at].Expires}, nil
}

// pin reads a command that pins or unpins the answer of a run: "/cairn pin run-7HWYUTVX3E".
func (c command) pin() (action chat.Action, run chat.RunID, ok bool) {
	action, run = chat.Action(c.word), chat.RunID(strings.TrimSpace(c.rest))
	ok = c.cairn && (action == chat.PinAnswer || action == chat.UnpinAnswer) && strings.HasPrefix(string(run), "run-") && !strings.ContainsAny(string(run), " \t\n")
	return action, run, ok
}

// changePin pins or unpins an answer of the thread.
func (s sideCommand) changePin(ctx context.Context, action chat.Action, run chat.RunID) (string, error) {
	curator, by := s.bot.Curator(), chat.Reader{Adapter: s.message.Thread.Adapter(), User: s.message.Author, Identity: withoutMachine(s.message.Asker)}
	thread, err := s.bot.ThreadOf(ctx, run)
	if err == nil && (thread != s.message.Thread || curator == nil) {
		err = chat.ErrUnknownRun
	}
	var pinned chat.PinnedAnswer
	switch {
	case err != nil:
	case action == chat.PinAnswer:
		pinned, err = curator.PinAnswer(ctx, run, by, chat.PinDraft{})
	default:
		pinned, err = curator.UnpinAnswer(ctx, run, by)
	}
	if refused, ok := errors.AsType[*chat.PinError](err); ok {
		return refused.Text, nil
	}
	if errors.Is(err, chat.ErrUnknownRun) {
		return "This answer is not remembered any more.", nil
	}
	return pinned.Describe(action == chat.PinAnswer), err
}

// withoutMachine is an identity without the rights of who sits at the machine: a page may give them
// to whoever opens it.
func withoutMachine(identity *chat.Identity) *chat.Identity {
	if identity == nil || !identity.Local {
		return identity
	}
	person := *identity
	person.Local = false
	return &person
}

// findPinnable finds the answer of a run that may be pinned.
func (c *Curator) findPinnable(ctx context.Context, run chat.RunID) (runs.Record, chat.Reply, error) {
	record, err := c.bot.records.Load(ctx, run)
	if err != nil {
		return runs.Record{}, chat.Reply{}, err
	}
	if record.Flow != c.bot.first {
		return runs.Record{}, chat.Reply{}, &chat.PinError{Text: notPinnable}
	}
	turns, err := c.bot.Transcript(ctx, record.Thread)
	if err != nil {
		return runs.Record{}, chat.Reply{}, err
	}
	for _, turn := range slices.Backward(turns) {
		if turn.Reply == nil || turn.Reply.Run != run {
			continue
		}
		if turn.Reply.Outcome != chat.Answered {
			return runs.Record{}, chat.Reply{}, &chat.PinError{Text: notPinnable}
		}
		return record, *turn.Reply, nil
	}
	return runs.Record{}, chat.Reply{}, chat.ErrUnknownRun
}

// documentsOfRun gives the documents of the index that an answer rests on, as they are now.
func (c *Curator) documentsOfRun(ctx context.Context, record runs.Record, reply chat.Reply) (map[knowledge.DocumentID]knowledge.Document, error) {
	var ids []string
	for _, evidence := range record.Trace.Evidence {
		if !evidence.Kept {
			continue
		}
		document, _, ok := knowledge.PassageID(evidence.Passage).Split()
		if !ok || evidence.Access == "" {
			return nil, &chat.PinError{Text: restsOnFiles}
		}
		ids = append(ids, string(document))
	}
	ids = append(ids, reply.Cited()...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, &chat.PinError{Text: notPinnable}
	}
	loaded, err := c.bot.documents.loadDocuments(ctx, ids)
	if err != nil {
		return nil, err
	}
	documents := make(map[knowledge.DocumentID]knowledge.Document, len(loaded))
	for _, id := range ids {
		document, ok := loaded[id]
		if !ok {
			return nil, &chat.PinError{Text: restsOnLost}
		}
		documents[document.ID] = document
	}
	return documents, nil
}

// admitCurator refuses whoever does not look after all collections of some documents.
func (c *Curator) admitCurator(ctx context.Context, thread chat.ThreadID, by chat.Reader, documents map[knowledge.DocumentID]knowledge.Document) (access.Person, error) {
	person, err := c.curation.Identify(ctx, access.Question{Thread: thread, Asker: by.User, Identity: by.Identity})
	if err != nil {
		return access.Person{}, err
	}
	var collections []knowledge.SourceID
	for _, document := range documents {
		collections = append(collections, document.Source)
	}
	slices.Sort(collections)
	collections = slices.Compact(collections)
	if !c.curation.Owners.MayCurate(person, collections) {
		names := make([]string, len(collections))
		for i, id := range collections {
			names[i] = shownName(string(id))
		}
		return access.Person{}, &chat.PinError{Text: fmt.Sprintf("%s This one rests on %s.", mayNotPin, strings.Join(names, ", "))}
	}
	return person, nil
}

// standaloneQuestion is the question of a run as it says all that it means: as it was searched for,
// where it leaned on what was said before.
func (c *Curator) standaloneQuestion(ctx context.Context, record runs.Record) string {
	turns, err := c.bot.Transcript(ctx, record.Thread)
	first := slices.IndexFunc(turns, func(turn chat.Turn) bool { return turn.Role == chat.Person })
	if err == nil && first >= 0 && turns[first].Message != record.Message && len(record.Trace.Queries) > 0 {
		return record.Trace.Queries[0].Text
	}
	return record.Request
}

// groupsOf gives the sources of a reply as flows name them.
func groupsOf(reply chat.Reply, documents map[knowledge.DocumentID]knowledge.Document) []flows.SourceGroup {
	kinds := make(map[string]knowledge.Kind, len(categories))
	for kind, category := range categories {
		kinds[category] = kind
	}
	var groups []flows.SourceGroup
	for _, group := range reply.Sources {
		converted := flows.SourceGroup{Kind: kinds[group.Category]}
		for _, source := range group.Sources {
			document := documents[knowledge.DocumentID(source.Document)]
			made := flows.Source{
				Document: document.ID, Title: document.Title, Path: document.Path, Owner: document.Owner, Modified: document.Modified, State: document.State,
			}
			for _, section := range source.Sections {
				made.Sections = append(made.Sections, flows.Section{Number: section.Number, Heading: section.Heading, Anchor: section.Anchor, URL: section.URL, Passage: section.Passage})
			}
			converted.Sources = append(converted.Sources, made)
		}
		groups = append(groups, converted)
	}
	return groups
}
