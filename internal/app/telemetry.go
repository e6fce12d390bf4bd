package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/listen"
	"github.com/cairn-bot/cairn/internal/telemetry"
)

// openTelemetry begins to measure, where the configuration asks for it; nil where it does
// not.
func openTelemetry(ctx context.Context, setup Setup) (*telemetry.Telemetry, error) {
	settings := setup.Config.Telemetry
	if settings.Listen == "" && settings.Traces == "" {
		return nil, nil //nolint:nilnil // a nil Telemetry measures nothing
	}
	options := telemetry.Options{Adapters: adapterNames(setup.Config), Logger: setup.Logger, Version: setup.Version, Commit: setup.Commit}
	if settings.Traces != "" {
		headers, err := settings.Headers()
		if err != nil {
			return nil, err
		}
		options.Traces = &telemetry.Traces{URL: settings.Traces, Headers: headers, Instance: processName()}
	}
	return telemetry.New(ctx, options)
}

// processName tells this process from others.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "-" + strconv.Itoa(os.Getpid())
}

func adapterNames(configured config.Config) []string {
	names := []string{"web"}
	if configured.Slack.Mode != config.SlackOff {
		names = append(names, slack.Name)
	}
	if configured.Discord.Mode != config.DiscordOff {
		names = append(names, discord.Name)
	}
	return names
}

// watchStores has the metrics tell how the stores stand.
func (c *Cairn) watchStores() error {
	ingests, _ := c.Index.(index.IngestStates)
	threads := c.Storage.Threads
	return c.Telemetry.Watch(telemetry.Watched{Queue: threads.Runs, Records: threads.Records, Ingests: ingests, Logger: c.Logger})
}

// ReportAgents saves how the agents of this process are, for those who run Cairn, until ctx ends.
func (c *Cairn) ReportAgents(ctx context.Context) error {
	reports.Run(ctx, c.Storage.Agents, processName(), c.answers.Agents, c.Logger)
	return nil
}

// probeThread is a thread in which nobody ever said anything, and probeTerm a word that is
// looked up to see whether the index answers.
const (
	probeThread chat.ThreadID = "telemetry:ready"
	probeTerm   string        = "ready"
)

// dependencies are what the process needs for its roles.
func (c *Cairn) dependencies(does Roles) []telemetry.Dependency {
	storage := "data"
	if c.Storage.InRedis {
		storage = "redis"
	}
	needed := []telemetry.Dependency{
		{Name: storage, Ask: func(ctx context.Context) error {
			_, err := c.Storage.Runs.State(ctx, probeThread)
			return err
		}},
	}
	if does[RoleWorker] || does[RoleWeb] {
		name := "index"
		if !c.Config.Postgres.URL.IsZero() {
			name = "postgres"
		}
		needed = append(needed, telemetry.Dependency{Name: name, Ask: func(ctx context.Context) error {
			_, err := c.Index.Terms(ctx, []string{probeTerm})
			return err
		}})
	}
	if does[RoleSlack] && c.Slack != nil {
		needed = append(needed, adapterDependency(slack.Name, c.Slack.adapter.Ready()))
	}
	if does[RoleDiscord] && c.Discord != nil {
		needed = append(needed, adapterDependency(discord.Name, c.Discord.adapter.Ready()))
	}
	return needed
}

// adapterDependency is there once an adapter takes messages.
func adapterDependency(name string, ready <-chan struct{}) telemetry.Dependency {
	return telemetry.Dependency{Name: name, Ask: func(context.Context) error {
		select {
		case <-ready:
			return nil
		default:
			return errors.New("the adapter takes no messages yet")
		}
	}}
}

// withTelemetry works while metrics, readiness and profiles are served at the configured
// addresses: also while the process is about to end, which ctx says. Work is given a context
// that ends as well when they can't be served any more.
func (c *Cairn) withTelemetry(ctx context.Context, out io.Writer, does Roles, work func(ctx context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	serving, quit := context.WithCancel(context.WithoutCancel(ctx))
	defer quit()
	var servers errgroup.Group
	start := func(e endpoint) error {
		listener, err := listen.TCP(ctx, e.address)
		if err != nil {
			return fmt.Errorf("telemetry: %w", listen.WithRemedy(err, e.setting))
		}
		fmt.Fprintf(out, "Telemetry at http://%s%s\n", listener.Addr(), e.path)
		servers.Go(func() error {
			defer stop()
			return telemetry.Serve(serving, listener, e.handler, c.Logger)
		})
		return nil
	}
	endpoints, err := c.telemetryEndpoints(telemetry.Served{Dependencies: c.dependencies(does), Ending: ctx.Done(), Logger: c.Logger})
	for _, e := range endpoints {
		if err == nil {
			err = start(e)
		}
	}
	if err == nil {
		err = work(working)
	}
	quit()
	return errors.Join(err, servers.Wait())
}

// endpoint is served over HTTP at an address that a setting names.
type endpoint struct {
	setting, address, path string
	handler                http.Handler
}

// telemetryEndpoints are those that are configured.
func (c *Cairn) telemetryEndpoints(served telemetry.Served) ([]endpoint, error) {
	var endpoints []endpoint
	if address := c.Config.Telemetry.Listen; address != "" {
		handler, err := c.Telemetry.Handler(served)
		if err != nil {
			return nil, err
		}
		endpoints = append(endpoints, endpoint{"telemetry.listen", address, "/metrics", handler})
	}
	if address := c.Config.Telemetry.Profile; address != "" {
		endpoints = append(endpoints, endpoint{"telemetry.profile", address, "/debug/pprof/", telemetry.Profiles()})
	}
	return endpoints, nil
}
