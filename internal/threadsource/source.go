package threadsource

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

const (
	// oldest is how long ago a thread may have begun. What is older is left out, and removed.
	oldest = 2 * 365 * 24 * time.Hour
	// maxThreads is how many threads of a channel are read.
	maxThreads = 20_000
	// listAfter is how long the last listing of a channel serves those syncs that events call for.
	listAfter = 10 * time.Minute
)

// Options are what a Source reads. Source and Channel are required.
type Options struct {
	Source  knowledge.SourceID
	Channel chat.ChannelID
	Reader  chat.ChannelReader // nil: the platform is off, and nothing can be read
	// Confirmed gives the answers of Cairn's in a thread that people rated up, oldest first; nil: none.
	Confirmed func(ctx context.Context, thread chat.ThreadID) ([]ConfirmedAnswer, error)
	// Memory is what is remembered from one sync to the next; nil: every thread is read.
	Memory *Memory
	Now    func() time.Time // nil: time.Now
}

// Source reads the answered threads of a channel.
type Source struct{ options Options }

var (
	_ connect.Connector = (*Source)(nil)
	_ connect.Checker   = (*Source)(nil)
)

// New makes a source.
func New(options Options) *Source {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Memory == nil {
		options.Memory = NewMemory()
		options.Memory.thorough = true
	}
	return &Source{options}
}

// Source implements connect.Connector.
func (s *Source) Source() knowledge.SourceID { return s.options.Source }

// Audience is who may read what is said in a channel: all of the team where it is open to that, else
// its members.
func Audience(channel chat.ChannelID, place chat.Place) (knowledge.Audience, error) {
	adapter, _, id := channel.Split()
	members, err := knowledge.Channel(adapter + ":" + id)
	if err != nil {
		return "", err
	}
	principals := []knowledge.Principal{members}
	if place.Open && place.Team != "" {
		team, err := knowledge.Team(adapter + ":" + place.Team)
		if err != nil {
			return "", err
		}
		principals = append(principals, team)
	}
	return knowledge.NewAudience(principals...)
}

// syncing is one Sync.
type syncing struct {
	*Source
	known    connect.Known
	channel  chat.Channel
	audience knowledge.Audience
	there    map[knowledge.DocumentID]bool
	done     map[chat.ThreadID]bool // threads that were read
	yield    func(connect.Change, error) bool
}

// Sync implements connect.Connector. A thread that is no answered one any more is gone.
func (s *Source) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		channel, audience, err := s.describeChannel(ctx)
		if err != nil {
			yield(connect.Change{}, err)
			return
		}
		changed := s.options.Memory.takeChanged()
		one := &syncing{s, known, channel, audience, make(map[knowledge.DocumentID]bool), make(map[chat.ThreadID]bool), yield}
		done, err := one.readThreads(ctx, changed)
		if err == nil && done {
			done = one.yieldGone()
		}
		if err != nil || !done {
			s.options.Memory.returnChanged(changed)
		}
		if err != nil {
			yield(connect.Change{}, err)
		}
	}
}

func (s *Source) describeChannel(ctx context.Context) (chat.Channel, knowledge.Audience, error) {
	if s.options.Reader == nil {
		adapter, _, _ := s.options.Channel.Split()
		return chat.Channel{}, "", fmt.Errorf("read channel %s: %s is off here: turn it on", s.options.Channel, adapter)
	}
	channel, err := s.options.Reader.DescribeChannel(ctx, s.options.Channel)
	if errors.Is(err, chat.ErrGone) {
		return channel, "", fmt.Errorf("read channel %s: it is not there, or the bot is not in it: invite it (%w)", s.options.Channel, err)
	}
	if err != nil {
		return channel, "", s.readError(err)
	}
	audience, err := Audience(s.options.Channel, channel.Place)
	return channel, audience, err
}

// readError tells of a platform that asks to be left alone when to ask again.
func (s *Source) readError(err error) error {
	err = fmt.Errorf("read channel %s: %w", s.options.Channel, err)
	if later, ok := errors.AsType[*chat.RetryAfterError](err); ok {
		return &connect.UnavailableError{After: max(later.After, time.Second), Reason: err}
	}
	return err
}

// readThreads yields what became of each thread; done is false where the caller wants no more.
func (s *syncing) readThreads(ctx context.Context, changed map[chat.ThreadID]bool) (done bool, err error) {
	heads, err := s.listThreads(ctx, len(changed) > 0)
	if err != nil {
		return false, err
	}
	for _, thread := range slices.Sorted(maps.Keys(changed)) {
		if goOn, err := s.readThread(ctx, chat.ThreadHead{Thread: thread}); err != nil || !goOn {
			return false, err
		}
	}
	for _, head := range heads {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if changed[head.Thread] || s.done[head.Thread] {
			continue
		}
		if s.isAsKnown(head) {
			id := connect.NewDocumentID(s.options.Source, string(head.Thread))
			if hash, ok := s.known[id]; ok {
				s.there[id] = true
				if !s.yield(connect.Change{Kind: connect.Unchanged, Document: knowledge.Document{
					ID: id, Source: s.options.Source, Kind: knowledge.KindConversation, Path: threadPath(s.channel, head.Thread), Hash: hash, Audience: s.audience, State: knowledge.StateLive,
				}}, nil) {
					return false, nil
				}
			}
			continue
		}
		if goOn, err := s.readThread(ctx, head); err != nil || !goOn {
			return false, err
		}
	}
	return true, nil
}

// listThreads gives all threads of the channel. Where events told of what changed the last listing
// serves for a while.
func (s *syncing) listThreads(ctx context.Context, told bool) ([]chat.ThreadHead, error) {
	now := s.options.Now()
	memory := s.options.Memory
	heads := memory.lastListing(now.Add(-listAfter))
	if heads == nil || !told {
		heads = make(map[chat.ThreadID]string)
		for head, err := range s.options.Reader.ListThreads(ctx, s.options.Channel, now.Add(-oldest)) {
			if err != nil {
				return nil, s.readError(err)
			}
			if heads[head.Thread] = head.State; len(heads) > maxThreads {
				return nil, fmt.Errorf("read channel %s: it has more than %d threads within two years, which is more than is read", s.options.Channel, maxThreads)
			}
		}
		memory.noteListing(now, heads)
	}
	var ordered []chat.ThreadHead
	for _, thread := range slices.Sorted(maps.Keys(heads)) {
		ordered = append(ordered, chat.ThreadHead{Thread: thread, State: heads[thread]})
	}
	return ordered, nil
}

// isAsKnown reports whether a thread needs no reading: it is as it was read before.
func (s *syncing) isAsKnown(head chat.ThreadHead) bool {
	if s.options.Memory.thorough {
		return false
	}
	hash, ok := s.known[connect.NewDocumentID(s.options.Source, string(head.Thread))]
	if ok {
		return sameState(hash, head.State, s.audience)
	}
	return s.options.Memory.isRead(head)
}

// readThread reads a thread and yields its document, if it has one.
func (s *syncing) readThread(ctx context.Context, head chat.ThreadHead) (goOn bool, err error) {
	thread, found, ok, err := s.loadThread(ctx, head.Thread)
	if errors.Is(err, chat.ErrGone) {
		s.done[head.Thread] = true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if head.State != "" {
		thread.State = head.State // of the listing, as the next one will tell
	}
	s.options.Memory.noteRead(thread.ThreadHead)
	if s.done[thread.Thread] { // two events told of it
		return true, nil
	}
	s.done[thread.Thread] = true
	if !ok {
		return true, nil
	}
	document, content := s.describeThread(s.channel, s.audience, thread, found)
	s.there[document.ID] = true
	if s.known[document.ID] == document.Hash {
		return s.yield(connect.Change{Kind: connect.Unchanged, Document: document}, nil), nil
	}
	return s.yield(connect.Change{Kind: connect.Upserted, Document: document, Content: content, MediaType: mediaType}, nil), nil
}

// loadThread reads a thread and finds what in it is an answered question.
func (s *Source) loadThread(ctx context.Context, id chat.ThreadID) (chat.ChannelThread, exchange, bool, error) {
	thread, err := s.options.Reader.ReadThread(ctx, s.options.Channel, id)
	if errors.Is(err, chat.ErrGone) {
		return thread, exchange{}, false, err
	}
	if err != nil {
		return thread, exchange{}, false, s.readError(err)
	}
	var confirmed []ConfirmedAnswer
	if s.options.Confirmed != nil && slices.ContainsFunc(thread.Messages, func(m chat.ChannelMessage) bool { return m.Self }) {
		if confirmed, err = s.options.Confirmed(ctx, id); err != nil {
			return thread, exchange{}, false, fmt.Errorf("look for ratings in thread %s: %w", id, err)
		}
	}
	found, ok := findExchange(thread, confirmed)
	return thread, found, ok, nil
}

// yieldGone yields the documents whose threads are no answered ones any more.
func (s *syncing) yieldGone() bool {
	for _, id := range slices.Sorted(maps.Keys(s.known)) {
		if s.there[id] || !connect.IsFrom(id, s.options.Source) {
			continue
		}
		path := threadPath(s.channel, threadOf(id, s.options.Source))
		if !s.yield(connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id, Source: s.options.Source, Path: path}}, nil) {
			return false
		}
	}
	return true
}

func threadOf(id knowledge.DocumentID, source knowledge.SourceID) chat.ThreadID {
	return chat.ThreadID(strings.TrimPrefix(string(id), string(source)+":"))
}

// Check implements connect.Checker: it reads the thread.
func (s *Source) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	if !connect.IsFrom(document.ID, s.options.Source) || s.options.Reader == nil {
		return "", fmt.Errorf("check document %s: it is none of source %s, or the platform is off", document.ID, s.options.Source)
	}
	thread, found, ok, err := s.loadThread(ctx, threadOf(document.ID, s.options.Source))
	if errors.Is(err, chat.ErrGone) || err == nil && !ok {
		return knowledge.StateGone, nil
	}
	if err != nil {
		return "", err
	}
	now, _ := s.describeThread(chat.Channel{}, document.Audience, thread, found)
	if contentOf(now.Hash) == contentOf(document.Hash) {
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}
