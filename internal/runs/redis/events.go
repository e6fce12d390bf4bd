package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// followPoll is how long a follower waits for a word from the channel before it looks
// itself: words get lost with a connection.
const followPoll = 5 * time.Second

// Follow implements runs.Events.
func (s *Store) Follow(ctx context.Context, thread chat.ThreadID, after runs.Position) iter.Seq2[runs.Event, error] {
	return s.hub.Follow(ctx, thread, after, runs.EventSource{
		Start: func(ctx context.Context, at runs.Position) (runs.Position, error) { return s.entryID(ctx, thread, at) },
		Read: func(ctx context.Context, at, upTo runs.Position) ([]runs.Event, error) {
			return s.eventsAfter(ctx, thread, at, upTo)
		},
		Poll: followPoll,
	})
}

var entryPattern = regexp.MustCompile(`^\d{1,20}-\d{1,20}$`)

// entryID returns the id of an entry of the stream, 0-0 for one before the first.
func (s *Store) entryID(ctx context.Context, thread chat.ThreadID, at runs.Position) (runs.Position, error) {
	switch at {
	case runs.Beginning:
		return "0-0", nil
	case runs.Latest:
		last, err := s.client.XRevRangeN(ctx, s.keys.eventsKey(thread), "+", "-", 1).Result()
		if err != nil {
			return "", fmt.Errorf("follow thread %s: %w", thread, explainError(err))
		}
		if len(last) == 0 {
			return "0-0", nil
		}
		return runs.Position(last[0].ID), nil
	}
	if !entryPattern.MatchString(string(at)) {
		return "", fmt.Errorf("follow thread %s: invalid position %q", thread, at)
	}
	return at, nil
}

func (s *Store) eventsAfter(ctx context.Context, thread chat.ThreadID, after, upTo runs.Position) ([]runs.Event, error) {
	end := string(upTo)
	if upTo == runs.Latest {
		end = "+"
	}
	entries, err := s.client.XRangeN(ctx, s.keys.eventsKey(thread), "("+string(after), end, 100).Result()
	if err != nil {
		return nil, fmt.Errorf("read the events of thread %s: %w", thread, explainError(err))
	}
	events := make([]runs.Event, len(entries))
	for i, entry := range entries {
		run, _ := entry.Values["r"].(string)
		kind, _ := entry.Values["k"].(string)
		body, _ := entry.Values["b"].(string)
		events[i] = runs.Event{Position: runs.Position(entry.ID), Run: chat.RunID(run), Kind: runs.EventKind(kind), Body: []byte(body)}
	}
	return events, nil
}

// channel receives the events published for the threads that this process follows, over one
// connection. It is made with the first follower.
type channel struct {
	store *Store

	mu      sync.Mutex
	threads map[string]chat.ThreadID // by name of their channel
	pubsub  *redis.PubSub
	done    chan struct{} // closed when nobody listens any more
	closed  bool
}

// followersChanged subscribes to a thread with its first follower, and unsubscribes after its last.
func (c *channel) followersChanged(thread chat.ThreadID, followed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	name := c.store.keys.liveKey(thread)
	if c.pubsub == nil {
		c.pubsub = c.store.client.Subscribe(context.Background())
		c.threads = make(map[string]chat.ThreadID)
		c.done = make(chan struct{})
		go c.forwardMessages(c.pubsub.ChannelWithSubscriptions())
	}
	ctx, cancel := context.WithTimeout(context.Background(), giveBack)
	defer cancel()
	var err error
	if followed {
		c.threads[name] = thread
		err = c.pubsub.Subscribe(ctx, name)
	} else {
		delete(c.threads, name)
		err = c.pubsub.Unsubscribe(ctx, name)
	}
	if err != nil { // it is repeated with the next connection; until then followers look themselves
		c.store.options.Logger.Warn("change subscription of thread", "thread", string(thread), "error", explainError(err))
	}
}

// forwardMessages passes published events on until the connection is closed for good.
func (c *channel) forwardMessages(messages <-chan any) {
	defer close(c.done)
	for message := range messages {
		switch message := message.(type) {
		case *redis.Subscription: // what was kept before is not told about
			c.handleMessage(message.Channel, string(runs.Latest))
		case *redis.Message:
			c.handleMessage(message.Channel, message.Payload)
		}
	}
}

func (c *channel) handleMessage(name, payload string) {
	c.mu.Lock()
	thread, ok := c.threads[name]
	c.mu.Unlock()
	if !ok {
		return
	}
	if !strings.HasPrefix(payload, "{") {
		c.store.hub.Kept(thread, runs.Position(payload))
		return
	}
	var event shown
	if err := json.Unmarshal([]byte(payload), &event); err != nil {
		c.store.options.Logger.Warn("publish event", "thread", string(thread), "error", err)
		return
	}
	c.store.hub.Show(thread, runs.Event{Run: chat.RunID(event.Run), Kind: runs.EventKind(event.Kind), Body: event.Body})
}

func (c *channel) close() error {
	c.mu.Lock()
	pubsub, done := c.pubsub, c.done
	c.closed = true
	c.mu.Unlock()
	if pubsub == nil {
		return nil
	}
	err := pubsub.Close()
	<-done
	return err
}
