package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
	embeddedruns "github.com/cairn-bot/cairn/internal/runs/embedded"
	redisruns "github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// The variables of a process that the test starts.
const (
	envRole     = "CHAOS_ROLE"     // intake or worker
	envStore    = "CHAOS_STORE"    // the address of a Redis, or a directory
	envPlatform = "CHAOS_PLATFORM" // the URL of the platform
	envNext     = "CHAOS_NEXT"     // set for the program after an upgrade
	envSkew     = "CHAOS_SKEW"     // by how much its clock is wrong
	envTimes    = "CHAOS_TIMES"    // set for the times that stores have by default
)

// Times of the store here: short, so that much goes wrong in little time.
const (
	leaseTTL      = 2 * time.Second
	claimInterval = 500 * time.Millisecond
	lookAfter     = 200 * time.Millisecond
	tidyAfter     = 2 * time.Second
)

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		if err := live(role); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// live is the life of one process.
func live(role string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	made, closers, err := newBot(ctx, logger)
	if err != nil {
		return err
	}
	if role == "intake" {
		err = takeIn(ctx, made)
	} else {
		fmt.Println("ready")
		made.Work(ctx)
	}
	for i := len(closers) - 1; i >= 0; i-- {
		err = errors.Join(err, closers[i]())
	}
	return err
}

func newBot(ctx context.Context, logger *slog.Logger) (*bot.Bot, []func() error, error) {
	flowOf := newFlow
	if os.Getenv(envNext) != "" {
		flowOf = nextFlow
	}
	works, err := flowOf()
	if err != nil {
		return nil, nil, err
	}
	platform := &chattest.Remote{URL: os.Getenv(envPlatform), Client: &http.Client{Timeout: time.Second}}
	skew, err := time.ParseDuration(os.Getenv(envSkew))
	if err != nil {
		return nil, nil, err
	}
	options := bot.Options{
		Now:   func() time.Time { return time.Now().Add(skew) },
		Flows: []flows.Flow{works}, Logger: logger, LeaseTTL: times().LeaseTTL, LookAfter: lookAfter, TidyAfter: tidyAfter, Ending: ctx.Done(), Grace: 2 * time.Second,
		Adapters: map[string]chat.Poster{platform.Name(): platform},
	}
	open := openEmbedded
	if strings.Contains(os.Getenv(envStore), "://") {
		open = openRedis
	}
	closers, err := open(ctx, os.Getenv(envStore), &options)
	if err != nil {
		return nil, nil, err
	}
	made, err := bot.New(options)
	return made, closers, err
}

// times are those of a process's store.
func times() runs.Options {
	if os.Getenv(envTimes) != "" {
		return runs.Options{}
	}
	return runs.Options{LeaseTTL: leaseTTL, ClaimInterval: claimInterval}
}

func openEmbedded(ctx context.Context, dir string, options *bot.Options) ([]func() error, error) {
	db, err := sqlite.OpenData(ctx, dir)
	if err != nil {
		return nil, err
	}
	if options.Store, err = embeddedruns.Open(ctx, db, times()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return []func() error{db.Close}, nil
}

// openRedis waits for a Redis that is down at the moment.
func openRedis(ctx context.Context, address string, options *bot.Options) ([]func() error, error) {
	for {
		closers, err := connect(ctx, address, options)
		if err == nil || ctx.Err() != nil {
			return closers, err
		}
		wait(ctx, 100*time.Millisecond)
	}
}

func connect(ctx context.Context, address string, options *bot.Options) ([]func() error, error) {
	client, err := conn.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	queue, err := redisruns.Open(ctx, client, redisruns.Options{Options: times(), Logger: options.Logger})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	options.Store = queue
	return []func() error{client.Close, queue.Close}, nil
}

// takeIn serves the platform's events: 200 tells that one is durable.
func takeIn(ctx context.Context, handler *bot.Bot) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var message chat.Message
		err := json.NewDecoder(in.Body).Decode(&message)
		if err == nil {
			err = handler.Handle(in.Context(), message, nil)
		}
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
	})}
	fmt.Println("http://" + listener.Addr().String())
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
