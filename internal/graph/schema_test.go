package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

// firstState and firstGraph are a flow as it was first deployed: testdata holds a
// checkpoint of it, in which branch "left" has finished and "right" asks.
type firstState struct {
	Query string
	Words string
	Debug string
	Names []string
}

func firstGraph(t *testing.T) *graph.Compiled[firstState] {
	names := graph.Append("names", func(s *firstState) *[]string { return &s.Names })
	words := graph.Replace("words", func(s *firstState) *string { return &s.Words })
	g := graph.New("evolving", 1, names, words,
		graph.Replace("query", func(s *firstState) *string { return &s.Query }),
		graph.Replace("debug", func(s *firstState) *string { return &s.Debug }))
	g.Node("split", func(_ ctx, _ graph.Step[firstState]) (graph.Result[firstState], error) {
		return graph.Update(names.Set([]string{"split"})), nil
	})
	g.Node("left", func(_ ctx, _ graph.Step[firstState]) (graph.Result[firstState], error) {
		return graph.Update(names.Set([]string{"left"}), words.Set("red green")), nil
	})
	g.Node("right", func(_ ctx, _ graph.Step[firstState]) (graph.Result[firstState], error) {
		return graph.Ask[firstState](graph.Question{Key: "which", Text: "Which?", FreeText: true}), nil
	})
	g.Node("join", func(_ ctx, _ graph.Step[firstState]) (graph.Result[firstState], error) {
		return graph.Update[firstState](), nil
	})
	g.Edge("split", "left")
	g.Edge("split", "right")
	g.Join("join", "left", "right")
	g.Edge("join", graph.End)
	g.Start("split")
	return compiled(t, g)
}

// thirdState is the same flow two versions later: words became a list, query was
// renamed, debug retired, limit is new; node "right" is called "ask".
type thirdState struct {
	Question string
	Words    []string
	Names    []string
	Limit    int
}

func thirdPlan(version int) *graph.Graph[thirdState] {
	names := graph.Append("names", func(s *thirdState) *[]string { return &s.Names })
	g := graph.New("evolving", version, names,
		graph.Replace("question", func(s *thirdState) *string { return &s.Question }).Was("query"),
		graph.Replace("terms", func(s *thirdState) *[]string { return &s.Words }),
		graph.Replace("limit", func(s *thirdState) *int { return &s.Limit }))
	pass := func(_ ctx, step graph.Step[thirdState]) (graph.Result[thirdState], error) {
		return graph.Update(names.Set([]string{step.Node})), nil
	}
	g.Node("split", pass)
	g.Node("left", pass)
	g.Node("ask", func(_ ctx, step graph.Step[thirdState]) (graph.Result[thirdState], error) {
		answer, ok := step.Answer("which")
		if !ok {
			return graph.Result[thirdState]{}, errors.New("the answer is gone")
		}
		return graph.Update(names.Set([]string{"ask " + answer.Text})), nil
	})
	g.Node("join", pass)
	g.Edge("split", "left")
	g.Edge("split", "ask")
	g.Join("join", "left", "ask")
	g.Edge("join", graph.End)
	g.Start("split")
	return g
}

// wordsToTerms is the migration from version 1, listToTerms that from version 2.
func wordsToTerms(fields map[string]json.RawMessage) error {
	raw, ok := fields["words"]
	if !ok {
		return nil
	}
	var words string
	if err := json.Unmarshal(raw, &words); err != nil {
		return fmt.Errorf("words: %w", err)
	}
	terms, err := json.Marshal(strings.Fields(words))
	delete(fields, "words")
	fields["list"] = terms
	return err
}

func listToTerms(fields map[string]json.RawMessage) error {
	if raw, ok := fields["list"]; ok {
		delete(fields, "list")
		fields["terms"] = raw
	}
	return nil
}

// oldCheckpoint gives a store with the checkpoint of version 1.
func oldCheckpoint(t *testing.T) (*graphtest.Memory, []byte) {
	t.Helper()
	store := graphtest.NewMemory()
	checkpoint := readTestdata(t, "format-1", "first-flow.json")
	if err := store.Save(t.Context(), "run", checkpoint); err != nil {
		t.Fatal(err)
	}
	return store, checkpoint
}

func readTestdata(t testing.TB, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func oldCheckpointIsMigrated(t *testing.T) {
	store, _ := oldCheckpoint(t)
	g := thirdPlan(3)
	g.Alias("right", "ask")
	g.Retired("debug")
	g.Migrate(1, wordsToTerms)
	g.Migrate(2, listToTerms)
	c := compiled(t, g)
	options := graph.Options{Store: store}
	outcome, err := c.Resume(t.Context(), "run", nil, options)
	if err != nil || len(outcome.Questions) != 1 || outcome.Questions[0].Node != "ask" {
		t.Fatalf("Resume = %+v, %v; want the old question, of node ask", outcome, err)
	}
	outcome, err = c.Resume(t.Context(), "run", []graph.Answer{{QuestionID: outcome.Questions[0].ID, Text: "yes"}}, options)
	if err != nil {
		t.Fatal(err)
	}
	want := thirdState{Question: "colours?", Words: []string{"red", "green"}, Names: []string{"split", "left", "ask yes", "join"}}
	if asJSON(t, outcome.State) != asJSON(t, want) {
		t.Errorf("state %+v, want %+v", outcome.State, want)
	}
}

// mismatchLeavesTheCheckpoint: each mismatch is its own error, and the
// checkpoint stays as it was.
func mismatchLeavesTheCheckpoint(t *testing.T) {
	var (
		schema  *graph.SchemaError
		node    *graph.UnknownNodeError
		field   *graph.UnknownFieldError
		damaged *graph.CheckpointError
	)
	migrated := func() *graph.Graph[thirdState] {
		g := thirdPlan(3)
		g.Migrate(2, listToTerms)
		return g
	}
	for _, test := range []struct {
		name string
		plan func() *graph.Graph[thirdState]
		is   func(error) bool
	}{
		{"no migration", migrated, func(err error) bool { return errors.As(err, &schema) && schema.Got == 1 && schema.Want == 3 }},
		{"field not retired", func() *graph.Graph[thirdState] {
			g := migrated()
			g.Migrate(1, wordsToTerms)
			g.Alias("right", "ask")
			return g
		}, func(err error) bool { return errors.As(err, &field) && field.Field == "debug" }},
		{"node not known", func() *graph.Graph[thirdState] {
			g := migrated()
			g.Migrate(1, wordsToTerms)
			g.Retired("debug")
			return g
		}, func(err error) bool { return errors.As(err, &node) && node.Node == "right" }},
		{"migration fails", func() *graph.Graph[thirdState] {
			g := migrated()
			g.Migrate(1, func(map[string]json.RawMessage) error { panic("no") })
			return g
		}, func(err error) bool { return errors.As(err, &damaged) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			store, before := oldCheckpoint(t)
			_, err := compiled(t, test.plan()).Resume(t.Context(), "run", nil, graph.Options{Store: store})
			if err == nil || !test.is(err) {
				t.Errorf("Resume = %v", err)
			}
			after, err := store.Load(t.Context(), "run")
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the checkpoint was changed (%v)", err)
			}
		})
	}
}

func newerAndForeignCheckpoints(t *testing.T) {
	var (
		schema  *graph.SchemaError
		damaged *graph.CheckpointError
	)
	_, checkpoint := oldCheckpoint(t)
	for _, test := range []struct {
		name, old, new string
		target         any
	}{
		{"newer graph", `"version": 1`, `"version": 9`, &schema},
		{"other format", `"format": 1`, `"format": 3`, &schema},
		{"other run", `"run": "run"`, `"run": "walk"`, &damaged},
		{"other graph", `"name": "evolving"`, `"name": "other"`, &damaged},
		{"cut off", `"graph": {`, ``, &damaged},
		{"done and not done", `"done": true`, `"done": false`, &damaged},
	} {
		t.Run(test.name, func(t *testing.T) {
			broken := bytes.Replace(checkpoint, []byte(test.old), []byte(test.new), 1)
			if bytes.Equal(broken, checkpoint) {
				t.Fatal("the checkpoint has nothing to break")
			}
			store := graphtest.NewMemory()
			if err := store.Save(t.Context(), "run", broken); err != nil {
				t.Fatal(err)
			}
			_, err := firstGraph(t).Resume(t.Context(), "run", nil, graph.Options{Store: store})
			if err == nil || !errors.As(err, test.target) {
				t.Errorf("Resume = %v, want a %T", err, test.target)
			}
		})
	}
}
