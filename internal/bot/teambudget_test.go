package bot_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// metered is a flow that uses 60 tokens a run, and none where its run is closed, and what teams may
// use of that.
type metered struct {
	*quota.TeamLimiter
	mu     sync.Mutex
	used   map[string]int
	closed map[chat.RunID]bool
}

func (m *metered) Name() string       { return "answer" }
func (m *metered) Shape() graph.Shape { return graph.Shape{Name: "answer"} }

func (m *metered) Start(_ context.Context, request flows.Request, _ flows.Runtime) (flows.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed[chat.RunID(request.Run)] {
		return flows.Outcome{Kind: flows.Answered, Text: "a quote", Trace: flows.Trace{Models: []flows.ModelUse{{Failure: "over budget"}}}}, nil
	}
	m.used[request.Run] += 60
	return flows.Outcome{Kind: flows.Answered, Text: "an answer"}, nil
}

func (m *metered) Resume(context.Context, string, []graph.Answer, flows.Runtime) (flows.Outcome, error) {
	return flows.Outcome{}, graph.ErrNoCheckpoint
}

func (m *metered) Close(run chat.RunID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed[run] = true
}

func (m *metered) Open(run chat.RunID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.closed, run)
}

func TestATeamWithoutBudgetIsAnsweredWithoutModels(t *testing.T) {
	dir := t.TempDir()
	m := &metered{used: make(map[string]int), closed: make(map[chat.RunID]bool)}
	m.TeamLimiter = quota.NewTeamLimiter(quota.TeamOptions{
		Limits: quota.TeamLimits{Tokens: 100}, Counts: quota.OpenSQLite(sqlitetest.Open(t, dir)),
		Team: func(message chat.Message) string {
			_, local, _ := strings.Cut(string(message.Thread), ":")
			return local[:1]
		},
		Used: func(run string) (int, float64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.used[run], 0
		},
	})
	o := openWith(t, dir, func(options *bot.Options) {
		options.Flows, options.ModelBudget = []flows.Flow{m}, m
	})
	for i, want := range []string{"an answer", "an answer", "a quote"} {
		if got := o.says("ann", "test:a1", "what is question "+string(rune('1'+i))); !strings.HasPrefix(got, want) {
			t.Errorf("question %d got %q, want %q", i+1, got, want)
		}
	}
	if got := o.says("ann", "test:b1", "what is the question"); got != "an answer" {
		t.Errorf("another team got %q", got)
	}
	turns, err := o.bot.Transcript(t.Context(), "test:a1")
	if err != nil {
		t.Fatal(err)
	}
	if last := turns[len(turns)-1]; last.Reply == nil || !strings.Contains(last.Reply.Note, "your team's budget for today") {
		t.Errorf("the last turn says %+v", last)
	}
	if left, err := m.UsedUp(t.Context(), chat.Message{Thread: "test:a1"}); err != nil || left <= 0 || left > 24*time.Hour {
		t.Errorf("for %s, %v", left, err)
	}
}
