package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// maxListed is how many conversations the list beside one shows.
const maxListed = 200

// people tells those who watch their list of conversations that it changed. The zero
// people has none.
type people struct {
	mu       sync.Mutex
	watching map[chat.UserID]*watched
}

// watched is a person whose list somebody watches.
type watched struct {
	watchers int
	changed  chan struct{} // closed at the next change
}

// addWatcher counts a watcher in, until leave is called.
func (p *people) addWatcher(who chat.UserID) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watching == nil {
		p.watching = make(map[chat.UserID]*watched)
	}
	w := p.watching[who]
	if w == nil {
		w = &watched{changed: make(chan struct{})}
		p.watching[who] = w
	}
	w.watchers++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.watchers--; w.watchers == 0 {
			delete(p.watching, who)
		}
	}
}

// changeSignal gives the channel that is closed at the next change of a person's list, nil
// for one whom nobody watches.
func (p *people) changeSignal(who chat.UserID) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.watching[who]; w != nil {
		return w.changed
	}
	return nil
}

func (p *people) notifyChange(who chat.UserID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.watching[who]; w != nil {
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// listed is a conversation as the list shows it.
type listed struct {
	id      string
	title   string
	updated time.Time
	waiting bool // for an answer to a question
	working bool
}

// listThreads gives a person's conversations, the last used first.
func (ts *threads) listThreads(ctx context.Context, who chat.UserID) ([]listed, error) {
	if who == "" {
		return nil, nil
	}
	summaries, err := ts.options.Threads.Threads(ctx, name, who, maxListed)
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	active := ts.activeThreads(who)
	list := make([]listed, 0, len(summaries)+len(active))
	for _, summary := range summaries {
		id := strings.TrimPrefix(string(summary.Thread), name+":")
		if !threadID.MatchString(id) {
			continue
		}
		entry := listed{id: id, title: exchangeTitle(summary.Title), updated: summary.Updated, waiting: summary.Waiting}
		if now, ok := active[id]; ok {
			entry.working, entry.waiting = now.working, entry.waiting && !now.working
			delete(active, id)
		}
		list = append(list, entry)
	}
	for _, now := range active { // the bot has not kept these yet
		if now.working {
			list = append(list, now)
		}
	}
	slices.SortStableFunc(list, func(a, b listed) int {
		return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(a.id, b.id))
	})
	return list[:min(len(list), maxListed)], nil
}

// activeThreads gives the conversations of a person that are in memory, by id.
func (ts *threads) activeThreads(who chat.UserID) map[string]listed {
	ts.mu.Lock()
	held := make([]*thread, 0, len(ts.byID))
	for _, t := range ts.byID {
		held = append(held, t)
	}
	ts.mu.Unlock()
	active := make(map[string]listed)
	for _, t := range held {
		if now, ok := t.listEntry(who); ok {
			active[t.id] = now
		}
	}
	return active
}

func (t *thread) listEntry(who chat.UserID) (listed, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owner != who || len(t.exchanges) == 0 {
		return listed{}, false
	}
	return listed{
		id: t.id, title: exchangeTitle(cmp.Or(t.exchanges[0].text, fileNames(t.exchanges[0].files))), updated: t.exchanges[len(t.exchanges)-1].at,
		working: slices.ContainsFunc(t.exchanges, func(e *exchange) bool { return e.state != done }),
	}, true
}

// listView is the list beside a conversation.
type listView struct {
	Threads []listedView
	Wanted  bool // they are those that were searched for
}

type listedView struct {
	ID, Title, Age   string
	Current          bool
	Waiting, Working bool
}

func (w *Web) listView(ctx context.Context, ts *threads, who chat.UserID, current string) (listView, error) {
	list, err := ts.listThreads(ctx, who)
	v := listView{}
	for _, entry := range list {
		v.Threads = append(v.Threads, listedView{
			ID: entry.id, Title: cmp.Or(entry.title, "Untitled"), Age: markup.Age(w.options.Now(), entry.updated),
			Current: entry.id == current, Waiting: entry.waiting, Working: entry.working,
		})
	}
	return v, err
}
