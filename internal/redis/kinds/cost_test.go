package kinds_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	redisruns "github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// What a message may cost Redis, from its intake to the end of its job: an echo that is
// posted in a thread of its own.
const (
	maxScripts    = 4
	maxRoundTrips = 6
	maxCommands   = 40 // inside and outside of scripts; the calls of scripts are counted apart
)

// roundTrips counts requests to Redis. One that waited for work in vain does not count.
type roundTrips struct{ made atomic.Int64 }

func (r *roundTrips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

func (r *roundTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		err := next(ctx, command)
		if command.Name() != "xreadgroup" || err == nil {
			r.made.Add(1)
		}
		return err
	}
}

func (r *roundTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		r.made.Add(1)
		return next(ctx, commands)
	}
}

// commandCalls returns how often each command was called, inside of scripts as well.
func commandCalls(t *testing.T, client *conn.Client) map[string]int {
	t.Helper()
	stats, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	calls := make(map[string]int)
	for line := range strings.Lines(stats) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		count, _, _ := strings.Cut(rest, ",")
		if calls[name], err = strconv.Atoi(count); err != nil {
			t.Fatal(err)
		}
	}
	return calls
}

// startEchoes has a bot with echo work over a Redis, until the test ends.
func startEchoes(t *testing.T, client *conn.Client) (*bot.Bot, *chattest.Platform) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	store, err := redisruns.Open(t.Context(), client, redisruns.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	echoes, err := echo.New()
	if err != nil {
		t.Fatal(err)
	}
	platform := &chattest.Platform{}
	made, err := bot.New(bot.Options{
		Store: store, Flows: []flows.Flow{echoes}, Logger: logger, Adapters: map[string]chat.Poster{"platform": platform}, Parallel: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { made.Work(ctx) })
	t.Cleanup(func() {
		stop()
		working.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return made, platform
}

// TestWhatAMessageCosts counts what Redis is asked for a message. Nothing else works, but
// for what workers do by the clock, such as the look for threads that are due every 200 ms: all
// messages cost the same, so that a fraction of a call for each is the clock's. It is shown
// apart, and must stay below one.
func TestWhatAMessageCosts(t *testing.T) {
	const warm, messages = 20, 200
	server := servertest.OwnRedis(t)
	client, watching := conntest.Connect(t, server.URL), conntest.Connect(t, server.URL)
	talking, platform := startEchoes(t, client)
	say := func(i int) {
		thread := chat.NewThreadID("platform", fmt.Sprint(i))
		message := chat.Message{ID: "m1", Thread: thread, Author: "ann", Text: "echo hello", At: time.Now()}
		if err := talking.Handle(t.Context(), message, nil); err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, watching, thread)
		if posted := platform.Posted(thread); len(posted) != 1 {
			t.Fatalf("in %s are posted %+v", thread, posted)
		}
	}
	for i := range warm {
		say(i)
	}
	var asked roundTrips
	client.AddHook(&asked)
	before := commandCalls(t, watching)
	for i := range messages {
		say(warm + i)
	}
	var lines []string
	var scripts, commands cost
	for name, calls := range commandCalls(t, watching) {
		calls -= before[name]
		switch name {
		case "evalsha":
			scripts.add(calls, messages)
		case "info", "exists": // this test's own
			continue
		default:
			commands.add(calls, messages)
		}
		lines = append(lines, fmt.Sprintf("%-12s %6.2f", name, float64(calls)/messages))
	}
	slices.Sort(lines)
	t.Logf("for each message:\n%s", strings.Join(lines, "\n"))
	var trips cost
	trips.add(int(asked.made.Load()), messages)
	for _, test := range []struct {
		of   string
		cost cost
		most int
	}{{"scripts", scripts, maxScripts}, {"round trips", trips, maxRoundTrips}, {"commands", commands, maxCommands}} {
		t.Logf("%d %s, and %.2f by the clock", test.cost.each, test.of, test.cost.clock)
		if test.cost.each > test.most || test.cost.clock >= 1 {
			t.Errorf("a message costs %d %s, want at most %d; by the clock %.2f, want less than 1", test.cost.each, test.of, test.most, test.cost.clock)
		}
	}
}

// cost is what one message costs; the sum of both is the mean.
type cost struct {
	each  int     // calls for every message
	clock float64 // a message's share of the calls by the clock
}

// add adds the calls that a number of messages made.
func (c *cost) add(calls, messages int) {
	share := float64(calls) / float64(messages)
	each := math.Round(share)
	c.each += int(each)
	c.clock += share - each
}

// awaitEnd waits until nothing is left to do in a thread.
func awaitEnd(t *testing.T, client *conn.Client, thread chat.ThreadID) {
	t.Helper()
	jobs := fmt.Sprintf("cairn:{%s}:jobs", thread)
	for {
		left, err := client.Exists(t.Context(), jobs).Result()
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
	}
}
