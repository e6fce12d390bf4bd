package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/slack"
	"cairn/internal/chat"
	"cairn/internal/config"
	"cairn/internal/knowledge/index"
	"cairn/internal/telemetry"
)

// openTelemetry begins to measure, where the configuration asks for it; nil where it does
// not.
func openTelemetry(ctx context.Context, configured config.Config, std stdio) (*telemetry.Telemetry, error) {
	settings := configured.Telemetry
	if settings.Listen == "" && settings.Traces == "" {
		return nil, nil //nolint:nilnil // a nil Telemetry measures nothing
	}
	options := telemetry.Options{Adapters: adapterNames(configured), Logger: newLogger(configured.Log, std)}
	options.Version, options.Commit = buildVersion()
	if settings.Traces != "" {
		headers, err := settings.Headers()
		if err != nil {
			return nil, err
		}
		options.Traces = &telemetry.Traces{URL: settings.Traces, Headers: headers, Instance: instance()}
	}
	return telemetry.New(ctx, options)
}

// instance tells this process from others that are measured.
func instance() string {
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

// called is how a configured model shows in a role.
func called(m config.Model, role config.Role) telemetry.Called {
	as := telemetry.Called{Role: string(role), Name: m.Name, Provider: "openai"}
	if m.AzureDeployment != "" {
		as.Provider = "azure.ai.openai"
	}
	return as
}

// searched is the index as questions are searched for in it: it shows what their viewers
// may see. All backends can spell.
func (a *app) searched() index.Spelling {
	spelling, _ := a.index.(index.Spelling)
	return a.telemetry.Index(index.Guard(spelling), a.backend())
}

// backend is what keeps the index.
func (a *app) backend() string {
	if a.config.Postgres.URL.IsZero() {
		return "embedded"
	}
	return "postgres"
}

// watchStores has the metrics tell how the stores stand.
func (a *app) watchStores(opened stores) error {
	ingests, _ := a.index.(index.IngestStates)
	return a.telemetry.Watch(telemetry.Watched{Queue: opened.runs, Records: opened.records, Ingests: ingests, Logger: a.logger})
}

// probeThread is a thread in which nobody ever said anything, and probeTerm a word that is
// looked up to see whether the index answers.
const (
	probeThread chat.ThreadID = "telemetry:ready"
	probeTerm   string        = "ready"
)

// dependencies are what the process needs for its roles.
func (a *app) dependencies(does roles) []telemetry.Dependency {
	runsIn := "data"
	if !a.config.Redis.URL.IsZero() {
		runsIn = "redis"
	}
	needed := []telemetry.Dependency{
		{Name: runsIn, Ask: func(ctx context.Context) error {
			_, err := a.opened.runs.State(ctx, probeThread)
			return err
		}},
	}
	if does[roleWorker] || does[roleWeb] {
		name := "index"
		if !a.config.Postgres.URL.IsZero() {
			name = "postgres"
		}
		needed = append(needed, telemetry.Dependency{Name: name, Ask: func(ctx context.Context) error {
			_, err := a.index.Terms(ctx, []string{probeTerm})
			return err
		}})
	}
	if does[roleSlack] && a.slackApp != nil {
		needed = append(needed, takesMessages(slack.Name, a.slackApp.adapter.Ready()))
	}
	if does[roleDiscord] && a.discordApp != nil {
		needed = append(needed, takesMessages(discord.Name, a.discordApp.adapter.Ready()))
	}
	return needed
}

// takesMessages is ready once an adapter takes messages.
func takesMessages(name string, ready <-chan struct{}) telemetry.Dependency {
	return telemetry.Dependency{Name: name, Ask: func(context.Context) error {
		select {
		case <-ready:
			return nil
		default:
			return errors.New("the adapter takes no messages yet")
		}
	}}
}

// whileTold runs work while the process tells, at the configured addresses, how it is: also
// while it is about to end, which ctx says. Work is given a context that ends as well when
// nobody can be told any more.
func (a *app) whileTold(ctx context.Context, out io.Writer, of []telemetry.Dependency, work func(ctx context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	telling, quiet := context.WithCancel(context.WithoutCancel(ctx))
	defer quiet()
	var tellers errgroup.Group
	tell := func(setting, address, path string, handler http.Handler) error {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("listen for telemetry: %w: choose another address with %s", err, setting)
		}
		fmt.Fprintf(out, "Telemetry at http://%s%s\n", listener.Addr(), path)
		tellers.Go(func() error {
			defer stop()
			return telemetry.Serve(telling, listener, handler, a.logger)
		})
		return nil
	}
	err := a.tell(telemetry.Served{Dependencies: of, Ending: ctx.Done(), Logger: a.logger}, tell)
	if err == nil {
		err = work(working)
	}
	quiet()
	return errors.Join(err, tellers.Wait())
}

// tell begins to tell what is configured.
func (a *app) tell(served telemetry.Served, tell func(setting, address, path string, handler http.Handler) error) error {
	if address := a.config.Telemetry.Listen; address != "" {
		handler, err := a.telemetry.Handler(served)
		if err != nil {
			return err
		}
		if err := tell("telemetry.listen", address, "/metrics", handler); err != nil {
			return err
		}
	}
	if address := a.config.Telemetry.Profile; address != "" {
		return tell("telemetry.profile", address, "/debug/pprof/", telemetry.Profiles())
	}
	return nil
}
