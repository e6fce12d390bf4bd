package threadsource

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// channel is a channel whose threads are written down, as a reader sees it.
type channel struct {
	place   chat.Place
	threads map[chat.ThreadID]chat.ChannelThread
	broken  error // of the listing
	reads   []chat.ThreadID
	lists   int
}

func (c *channel) DescribeChannel(context.Context, chat.ChannelID) (chat.Channel, error) {
	return chat.Channel{Name: "support", Place: c.place}, nil
}

func (c *channel) ListThreads(context.Context, chat.ChannelID, time.Time) iter.Seq2[chat.ThreadHead, error] {
	c.lists++
	return func(yield func(chat.ThreadHead, error) bool) {
		for _, id := range slices.Sorted(maps.Keys(c.threads)) {
			if !yield(c.threads[id].ThreadHead, nil) {
				return
			}
		}
		if c.broken != nil {
			yield(chat.ThreadHead{}, c.broken)
		}
	}
}

func (c *channel) ReadThread(_ context.Context, _ chat.ChannelID, id chat.ThreadID) (chat.ChannelThread, error) {
	c.reads = append(c.reads, id)
	thread, ok := c.threads[id]
	if !ok {
		return chat.ChannelThread{}, chat.ErrGone
	}
	return thread, nil
}

func (c *channel) put(id chat.ThreadID, state string, lines ...string) {
	thread := said(lines...)
	thread.Thread, thread.State = id, state
	c.threads[id] = thread
}

const (
	first  = chat.ThreadID("slack:T1:C1:1.1")
	second = chat.ThreadID("slack:T1:C1:2.1")
)

func newChannel() *channel {
	c := &channel{place: chat.Place{Channel: "C1", Team: "T1", Open: true}, threads: make(map[chat.ThreadID]chat.ChannelThread)}
	c.put(first, "a", "ann: how do I rotate the key", "ben: run keyctl rotate", "ann: thanks")
	c.put(second, "a", "ann: who has the door key", "ben: which one?")
	return c
}

func (c *channel) source(memory *Memory) *Source {
	return New(Options{Source: "talk", Channel: "slack:T1:C1", Reader: c, Memory: memory, Now: func() time.Time { return monday }})
}

func syncSource(t *testing.T, s *Source, known connect.Known) map[connect.ChangeKind][]connect.Change {
	t.Helper()
	changes := make(map[connect.ChangeKind][]connect.Change)
	for change, err := range s.Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		changes[change.Kind] = append(changes[change.Kind], change)
	}
	return changes
}

func TestAnAnsweredThreadIsADocument(t *testing.T) {
	c := newChannel()
	changes := syncSource(t, c.source(nil), nil)
	if len(changes[connect.Upserted]) != 1 || len(changes) != 1 {
		t.Fatalf("%+v", changes)
	}
	change := changes[connect.Upserted][0]
	document := change.Document
	if document.ID != "talk:slack:T1:C1:1.1" || document.Kind != knowledge.KindConversation || document.Title != "how do I rotate the key" ||
		document.Owner != "ben" || document.URL != "https://x.example/archives/C1/p11" || document.Audience != "channel:slack:C1 team:slack:T1" ||
		document.Path != "#support/1.1" || !document.Modified.Equal(monday.Add(time.Hour)) {
		t.Errorf("%+v", document)
	}
	if text := string(change.Content); !strings.Contains(text, "<h2>ben, 2026-11-02</h2>\n<p>run keyctl rotate</p>") {
		t.Error(text)
	}
}

func TestAPrivateChannelIsForItsMembers(t *testing.T) {
	c := newChannel()
	c.place = chat.Place{Channel: "C1", Team: "T1", Members: []chat.UserID{"ann"}, Complete: true}
	if audience := syncSource(t, c.source(nil), nil)[connect.Upserted][0].Document.Audience; audience != "channel:slack:C1" {
		t.Error(audience)
	}
}

// TestWhatChangedIsReadAgain follows a channel over its life, by what is read of it.
func TestWhatChangedIsReadAgain(t *testing.T) {
	c, memory := newChannel(), NewMemory()
	document := syncSource(t, c.source(memory), nil)[connect.Upserted][0].Document
	known := connect.Known{document.ID: document.Hash, "other:x": "h"}
	steps := []struct {
		name   string
		change func()
		reads  []chat.ThreadID
		kind   connect.ChangeKind // of the first thread's document
		all    int                // changes
	}{
		{"nothing", func() {}, nil, connect.Unchanged, 1},
		{"a reaction, which no listing shows", func() {
			c.put(second, "a", "ann: who has the door key", "ben: Cleo has it [✅ ann]")
			memory.NoteChange(second)
		}, []chat.ThreadID{second}, connect.Unchanged, 2},
		{"a message more", func() {
			c.put(first, "b", "ann: how do I rotate the key", "ben: run keyctl rotate", "ann: thanks", "ben: you're welcome")
		}, []chat.ThreadID{first}, connect.Upserted, 1},
		{"it becomes private", func() { c.place.Open = false }, []chat.ThreadID{first}, connect.Upserted, 1},
		{"the answer is deleted", func() {
			c.put(first, "b", "ann: how do I rotate the key", "ann: thanks")
			memory.NoteChange(first)
		}, []chat.ThreadID{first}, connect.Deleted, 1},
		{"all of it is deleted", func() {
			delete(c.threads, first)
			memory.NoteChange(first)
		}, []chat.ThreadID{first}, connect.Deleted, 1},
	}
	for _, step := range steps {
		c.reads = nil
		step.change()
		changes := syncSource(t, c.source(memory), known)
		var kind connect.ChangeKind
		count := 0
		for of, list := range changes {
			count += len(list)
			for _, change := range list {
				if change.Document.ID == document.ID {
					kind = of
				}
			}
		}
		if kind != step.kind || count != step.all || !slices.Equal(c.reads, step.reads) {
			t.Errorf("%s: kind %d of %d changes, read %v; want %d of %d, %v", step.name, kind, count, c.reads, step.kind, step.all, step.reads)
		}
	}
	if c.lists != 4 {
		t.Errorf("listed %d times: events alone call for none", c.lists)
	}
}

func TestABrokenListingDeletesNothing(t *testing.T) {
	c := newChannel()
	c.broken = &chat.RetryAfterError{After: time.Minute, Err: errors.New("limited")}
	c.threads = nil
	var last error
	for change, err := range c.source(nil).Sync(t.Context(), connect.Known{"talk:slack:T1:C1:1.1": "h"}) {
		if last = err; err == nil {
			t.Errorf("%+v", change)
		}
	}
	if later, ok := errors.AsType[*connect.UnavailableError](last); !ok || later.After != time.Minute {
		t.Errorf("ended with %v", last)
	}
}

func TestCheck(t *testing.T) {
	c := newChannel()
	document := syncSource(t, c.source(nil), nil)[connect.Upserted][0].Document
	for _, test := range []struct {
		state  knowledge.State
		change func()
	}{
		{knowledge.StateLive, func() {}},
		{knowledge.StateLive, func() {
			c.threads[first] = said("ann: how do I rotate the key", "ben: run keyctl rotate", "ann: thanks", "ben: np")
		}},
		{knowledge.StateChanged, func() {
			c.threads[first] = said("ann: how do I rotate the key", "ben: run keyctl renew", "ann: thanks")
		}},
		{knowledge.StateGone, func() { c.threads[first] = said("ann: how do I rotate the key", "ann: thanks") }},
		{knowledge.StateGone, func() { delete(c.threads, first) }},
	} {
		test.change()
		if state, err := c.source(nil).Check(t.Context(), document); err != nil || state != test.state {
			t.Errorf("%s, %v; want %s", state, err, test.state)
		}
	}
	if _, err := c.source(nil).Check(t.Context(), knowledge.Document{ID: "other:x"}); err == nil {
		t.Error("another source's document was checked")
	}
}
