package embedded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
	keeper "github.com/cairn-bot/cairn/internal/store"
)

// killedAt is set for a process that this test starts: the directory it works in, and
// the save at which it kills itself ("3" before, "3+" after the write; "0" never).
const killedAt = "EMBEDDED_TEST_KILLED_AT"

func TestMain(m *testing.M) {
	if at := os.Getenv(killedAt); at != "" {
		if err := live(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if at := os.Getenv(queueKilledAt); at != "" {
		if err := work(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// logged is the state of the graph that is killed: what ran to its end.
type logged struct{ Names []string }

var loggedNames = graph.Append("names", func(s *logged) *[]string { return &s.Names })

// killGraph is split → three branches → join → ask → after. Each node writes its name
// to a file when it has worked.
func killGraph(log string) (*graph.Compiled[logged], error) {
	work := func(_ context.Context, step graph.Step[logged]) (graph.Result[logged], error) {
		if step.Node == "ask" {
			if _, ok := step.Answer("go"); !ok {
				return graph.Ask[logged](graph.Question{Key: "go", Text: "Go on?", FreeText: true}), nil
			}
		}
		file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return graph.Result[logged]{}, err
		}
		_, err = file.WriteString(step.Node + "\n")
		return graph.Update(loggedNames.Set([]string{step.Node})), errors.Join(err, file.Close())
	}
	g := graph.New("killed", 1, loggedNames)
	for _, node := range []string{"split", "a", "b", "c", "join", "ask", "after"} {
		g.Node(node, work)
	}
	for _, branch := range []string{"a", "b", "c"} {
		g.Edge("split", branch)
	}
	g.Join("join", "a", "b", "c")
	g.Edge("join", "ask")
	g.Edge("ask", "after")
	g.Edge("after", graph.End)
	g.Start("split")
	return g.Compile()
}

// killer is a store that kills its own process at one save.
type killer struct {
	graph.Store
	at    string
	saves atomic.Int64
}

func (k *killer) Save(ctx context.Context, run string, checkpoint []byte) error {
	at := fmt.Sprint(k.saves.Add(1))
	if k.at == at {
		return die()
	}
	err := k.Store.Save(ctx, run, checkpoint)
	if k.at == at+"+" {
		return errors.Join(err, die())
	}
	return err
}

// die does not return: the process gets no chance to do anything else.
func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		return err
	}
	select {}
}

// live is the life of one process: it takes the run up and goes on to its end.
func live(at string) error {
	ctx := context.Background()
	dir, at, _ := strings.Cut(at, "|")
	db, err := sqlite.OpenData(ctx, dir)
	if err != nil {
		return err
	}
	store, err := embedded.Open(ctx, db, runs.Options{LeaseTTL: runs.MinLeaseTTL})
	if err != nil {
		return err
	}
	journal, err := leased(ctx, store)
	if err != nil {
		return err
	}
	c, err := killGraph(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	options := graph.Options{Store: &killer{Store: journal, at: at}}
	outcome, err := c.Resume(ctx, "run", nil, options)
	if errors.Is(err, graph.ErrNoCheckpoint) {
		outcome, err = c.Start(ctx, "run", logged{}, options)
	}
	for err == nil && outcome.Status == graph.Waiting {
		outcome, err = c.Resume(ctx, "run", []graph.Answer{{QuestionID: outcome.Questions[0].ID, Text: "yes"}}, options)
	}
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(outcome.State.Names, " "))
	return db.Close()
}

// leased gives the journal of the run's job, once the lease of an earlier life has run out.
func leased(ctx context.Context, store *embedded.Store) (keeper.Journal, error) {
	if _, err := store.Enqueue(ctx, runs.Job{Event: "said", Message: chat.Message{Thread: "t"}}); err != nil {
		return nil, err
	}
	lease, err := store.Claim(ctx, "killed")
	return store.Journal(lease), err
}

// TestKilledAtEverySave kills a process at each of its saves, before and after the
// write, and lets another go on: it ends as if nothing had happened, and runs nothing
// again that a checkpoint had.
func TestKilledAtEverySave(t *testing.T) {
	const whole = "split a b c join ask after\n"
	for save := 1; ; save++ {
		for _, when := range []string{"", "+"} {
			dir := t.TempDir()
			first, killed := process(t, dir, fmt.Sprint(save, when))
			if !killed {
				if first != whole || save < 6 {
					t.Errorf("after %d saves it ended in %q", save-1, first)
				}
				return
			}
			before := ran(t, dir)
			kept := inCheckpoint(t, dir)
			if second, killed := process(t, dir, "0"); killed || second != whole {
				t.Errorf("killed at save %d%s it ended in %q, want %q", save, when, second, whole)
			}
			for _, node := range ran(t, dir)[len(before):] {
				if slices.Contains(kept, node) {
					t.Errorf("killed at save %d%s it ran %s again, which the checkpoint had", save, when, node)
				}
			}
		}
	}
}

func process(t *testing.T, dir, at string) (output string, killed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	command := exec.CommandContext(t.Context(), self)
	command.Env = append(os.Environ(), killedAt+"="+dir+"|"+at)
	command.Stderr = &errs
	written, err := command.Output()
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() == -1 {
		return "", true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return string(written), false
}

// ran are the nodes that worked, in order.
func ran(t *testing.T, dir string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(content))
}

// inCheckpoint are the nodes whose results a dead process left.
func inCheckpoint(t *testing.T, dir string) []string {
	t.Helper()
	store, err := embedded.Open(t.Context(), sqlitetest.Open(t, dir), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := store.Journal(runs.Lease{}).Load(t.Context(), "run")
	if errors.Is(err, graph.ErrNoCheckpoint) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var checkpoint struct {
		Graph struct {
			State logged
			Tasks []struct {
				Node string
				Done bool
			}
		}
	}
	if err := json.Unmarshal(raw, &checkpoint); err != nil {
		t.Fatal(err)
	}
	kept := checkpoint.Graph.State.Names
	for _, task := range checkpoint.Graph.Tasks {
		if task.Done {
			kept = append(kept, task.Node)
		}
	}
	return kept
}
