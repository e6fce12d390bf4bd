package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Manager is what adapters that keep conversations themselves, such as the web page, offer people
// beside writing.
type Manager struct{ bot *Bot }

var (
	_ chat.ThreadManager = (*Manager)(nil)
	_ chat.Rewriter      = (*Manager)(nil)
	_ chat.Offers        = (*Manager)(nil)
)

// NewManager makes the manager of a bot's threads.
func NewManager(bot *Bot) *Manager { return &Manager{bot} }

// The kinds of jobs by which a person manages a thread, or has an answer made anew.
const (
	renameJob  runs.Kind = "rename"  // Message.Text is the thread's title from now on, "" for none of its own
	shareJob   runs.Kind = "share"   // others may read the thread
	unshareJob runs.Kind = "unshare" // they may not any more
	rewriteJob runs.Kind = "rewrite" // Message is answered anew, as it is now
)

// ThreadState implements chat.ThreadManager.
func (m *Manager) ThreadState(ctx context.Context, thread chat.ThreadID) (chat.ThreadState, error) {
	remembered, err := m.bot.sessions.Load(ctx, thread)
	return chat.ThreadState{Title: remembered.Title, Shared: remembered.Shared}, err
}

// RenameThread implements chat.ThreadManager.
func (m *Manager) RenameThread(ctx context.Context, thread chat.ThreadID, by chat.UserID, title string) error {
	return m.manageThread(ctx, renameJob, chat.Message{Thread: thread, Author: by, Text: title})
}

// ShareThread implements chat.ThreadManager.
func (m *Manager) ShareThread(ctx context.Context, thread chat.ThreadID, by chat.UserID, shared bool) error {
	kind := unshareJob
	if shared {
		kind = shareJob
	}
	return m.manageThread(ctx, kind, chat.Message{Thread: thread, Author: by})
}

// DeleteThread implements chat.ThreadManager.
func (m *Manager) DeleteThread(ctx context.Context, thread chat.ThreadID, by chat.UserID) error {
	if err := m.checkOnlyAuthor(ctx, thread, by); err != nil {
		return err
	}
	if _, err := m.bot.Stop(ctx, thread, by); err != nil && !errors.Is(err, chat.ErrForbidden) {
		return fmt.Errorf("stop thread %s before it is deleted: %w", thread, err)
	}
	return m.manageThread(ctx, forgetJob, chat.Message{Thread: thread, Author: by})
}

// manageThread has a worker change how a thread is kept, behind what waits in it, and waits for
// that.
func (m *Manager) manageThread(ctx context.Context, kind runs.Kind, message chat.Message) error {
	if err := m.checkOnlyAuthor(ctx, message.Thread, message.Author); err != nil {
		return err
	}
	message.At = m.bot.now()
	if err := m.bot.awaitControl(ctx, runs.Job{Event: newEvent(kind), Kind: kind, Message: message}, nil); err != nil {
		return fmt.Errorf("%s thread %s: %w", kind, message.Thread, err)
	}
	return nil
}

// checkOnlyAuthor refuses a thread that others wrote in, or nobody.
func (m *Manager) checkOnlyAuthor(ctx context.Context, thread chat.ThreadID, by chat.UserID) error {
	remembered, err := m.bot.sessions.Load(ctx, thread)
	if err != nil {
		return err
	}
	if len(remembered.People) != 1 || remembered.People[0] != by {
		return chat.ErrForbidden
	}
	return nil
}

// changeThread changes how the thread is kept.
func (t *turn) changeThread(ctx context.Context) (runs.Result, error) {
	switch s := &t.conversation.session; t.job.entry.Kind {
	case renameJob:
		s.Rename(t.job.entry.Message.Text)
	case shareJob:
		s.Shared = true
	case unshareJob:
		s.Shared = false
	}
	t.job.message.ID = ""
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}

// Rewrite implements chat.Rewriter.
func (m *Manager) Rewrite(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	if message.ID == "" || message.Thread == "" {
		return fmt.Errorf("rewrite message %q of thread %q: it needs both ids", message.ID, message.Thread)
	}
	job := runs.Job{Event: newEvent(rewriteJob), Kind: rewriteJob, Message: message, Run: chat.RunID(NewRunID())}
	return m.bot.awaitControl(ctx, job, conversation)
}

// rewriteAnswer answers a message anew. What comes of it takes the place of what was said.
func (t *turn) rewriteAnswer(ctx, held context.Context) (runs.Result, error) {
	turns, message := t.conversation.session.Turns, &t.job.message
	at := personTurn(turns, message.ID)
	switch {
	case at < 0:
		return t.delivery.refuseJob(ctx, unknown)
	case turns[at].Author != message.Author:
		return t.delivery.refuseJob(ctx, forbidden)
	case slices.ContainsFunc(turns[at+1:], func(turn chat.Turn) bool { return turn.Role == chat.Person && turn.Author == message.Author }):
		return t.delivery.refuseJob(ctx, over)
	}
	if said := lastSaid(turns, message.ID); said >= 0 && runOf(turns[said]) != "" {
		record, err := t.bot.records.Load(ctx, runOf(turns[said]))
		switch {
		case errors.Is(err, chat.ErrUnknownRun):
		case err != nil:
			return runs.Result{}, err
		case record.Message != message.ID:
			return t.delivery.refuseJob(ctx, over)
		default:
			message.Depth = cmp.Or(message.Depth, record.Depth)
			if len(message.Collections) == 0 {
				message.Collections = record.Collections
			}
		}
	}
	message.Files = turns[at].Files
	t.conversation.rewriteTurn(*message)
	if t.conversation.session.Waiting != nil && t.conversation.askedAt() == message.ID {
		t.conversation.abandonWaiting(revised, "its message is answered anew")
	}
	return t.decideRequest(ctx, held)
}

// ReadableCollections implements chat.Offers.
func (m *Manager) ReadableCollections(ctx context.Context, by chat.Reader) ([]chat.Collection, error) {
	if m.bot.options.Catalog == nil {
		return nil, nil
	}
	return m.bot.options.Catalog.Collections(m.withReader(ctx, by))
}

// ExampleQuestions implements chat.Offers.
func (m *Manager) ExampleQuestions(ctx context.Context, by chat.Reader) ([]string, error) {
	return m.bot.exampleQuestions(m.withReader(ctx, by), string(language.English)), nil
}

// withReader has the index show what somebody may read.
func (m *Manager) withReader(ctx context.Context, by chat.Reader) context.Context {
	decision := m.bot.documents.resolveAccess(ctx, chat.NewThreadID(by.Adapter, "source"), by.User, by.Identity)
	return knowledge.WithViewers(ctx, decision.Asker)
}
