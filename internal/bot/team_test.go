package bot_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// playing is a flow that plays the bot of chattest.TestTeam.
type playing struct {
	graph *graph.Compiled[state]

	mu     sync.Mutex
	broken bool // AskFailing failed already
}

func newPlaying(t *testing.T) *playing {
	t.Helper()
	p := &playing{}
	g := graph.New("play", 1, text, color)
	g.Node("play", p.play, graph.Policy{Asks: true})
	g.Start("play")
	g.Edge("play", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	p.graph = compiled
	return p
}

func (p *playing) play(ctx context.Context, step graph.Step[state]) (graph.Result[state], error) {
	switch step.State.Text {
	case chattest.AskMeant:
		answer, answered := step.Answer("meant")
		if !answered {
			asked := graph.Question{Key: "meant", Text: chattest.Question().Text, FreeText: true}
			for _, choice := range chattest.Question().Choices {
				asked.Choices = append(asked.Choices, graph.Choice{ID: choice.ID, Label: choice.Label, Detail: choice.Detail})
			}
			return graph.Ask[state](asked), nil
		}
		if answer.Choice != "" {
			return graph.Update(color.Set("You chose " + answer.Choice)), nil
		}
		return graph.Update(color.Set("You meant " + answer.Text)), nil
	case chattest.AskFailing:
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.broken {
			p.broken = true
			return graph.Result[state]{}, errors.New("the index is broken")
		}
		return graph.Update(color.Set("Now none is broken any more.")), nil
	case chattest.AskEndless:
		step.Emit("Eternity is ")
		<-ctx.Done()
		return graph.Result[state]{}, ctx.Err()
	}
	return graph.Update(color.Set("You said: " + step.State.Text)), nil
}

func (p *playing) Name() string       { return "play" }
func (p *playing) Shape() graph.Shape { return p.graph.Shape() }

func (p *playing) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return played(p.graph.Start(ctx, request.Run, state{Text: request.Text}, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func (p *playing) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	return played(p.graph.Resume(ctx, run, answers, graph.Options{Store: runtime.Store, Observe: runtime.Observe}))
}

func played(run graph.Outcome[state], err error) (flows.Outcome, error) {
	switch {
	case err != nil:
		return flows.Outcome{}, err
	case run.Status == graph.Waiting:
		return flows.Outcome{Kind: flows.Asked, Question: &run.Questions[0]}, nil
	case run.State.Text == chattest.AskAnswered:
		return flows.Outcome{Kind: flows.Answered, Text: "A release is rolled back with **one command** [1], which is told [2].", Groups: playedSources, Trace: playedTrace}, nil
	case run.State.Text == chattest.AskAbstained:
		return flows.Outcome{Kind: flows.Abstained, Text: chattest.Abstained().Text, Groups: playedSources[:0]}, nil
	}
	return flows.Outcome{Kind: flows.Answered, Text: run.State.Color}, nil
}

var (
	playedSources = []flows.SourceGroup{{Sources: []flows.Source{
		{Title: "Deploying the API", State: knowledge.StateLive, Sections: []flows.Section{{Number: 1, Heading: "Rolling back", URL: "https://docs.example.org/deploy.md#rolling-back"}}},
		{Title: "Runbook: failed releases", State: knowledge.StateChanged, Sections: []flows.Section{{Number: 2, Heading: "Who to tell"}}},
	}}}
	playedTrace = flows.Trace{
		Queries:  []flows.Query{{Text: "roll back a release", Used: []string{"roll", "back", "release"}, Lexical: 4}},
		Evidence: []flows.Candidate{{Passage: "deploy#1", Title: "Deploying the API", Section: "Rolling back", Score: .9, Kept: true}},
	}
)

// postingAdapter is an adapter of a platform with buttons.
type postingAdapter interface {
	chat.Adapter
	chat.Poster
	Ready() <-chan struct{}
}

// openTeamBot makes a bot with a flow behind an adapter, and gives its ratings.
func openTeamBot(t *testing.T, adapter postingAdapter, flow flows.Flow, change ...func(*bot.Options)) (*office, func(t *testing.T) []chat.Rating) {
	t.Helper()
	o := openWith(t, t.TempDir(), func(options *bot.Options) {
		options.Flows, options.ReadFile = []flows.Flow{flow}, readRecording
		options.Adapters = map[string]chat.Poster{adapter.Name(): adapter}
		for _, apply := range change {
			apply(options)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- adapter.Run(ctx, o.bot) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run the adapter: %v", err)
		}
	})
	<-adapter.Ready()
	return o, func(t *testing.T) []chat.Rating {
		t.Helper()
		records, err := o.records.List(t.Context(), runs.Filter{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		var kept []chat.Rating
		for _, record := range records {
			ratings, err := o.bot.RatingsOf(t.Context(), record.ID)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, ratings...)
		}
		return kept
	}
}

// TestATextPlatform has the adapter of a platform of its own pass what Slack's and Discord's do.
func TestATextPlatform(t *testing.T) {
	chattest.TestTeam(t, func(t *testing.T) (chattest.Team, func(*testing.T) []chat.Rating) {
		t.Helper()
		adapter := chattest.NewTextAdapter(&chattest.Platform{}, openSettings(t), slog.New(slog.DiscardHandler))
		_, ratings := openTeamBot(t, adapter, newPlaying(t))
		return chattest.NewTextTeam(adapter), ratings
	})
}

func openSettings(t *testing.T) settings.Store {
	t.Helper()
	return settings.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
}
