package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

var update = flag.Bool("update", false, "write testdata/format-2 anew from testdata/format-1")

// TestFormat1IsRead goes on with runs whose checkpoints were written in format 1, by
// the engine of that time.
func TestFormat1IsRead(t *testing.T) {
	said := graph.Answer{By: "u3", At: time.Unix(1700000009, 0).UTC()}
	for _, test := range []struct {
		file    string
		graph   func(*counter) *graph.Compiled[tally]
		answers []graph.Answer
		names   []string
		again   []string // the nodes that run
	}{
		{"done.json", func(*counter) *graph.Compiled[tally] { return lineGraph(t, 8) }, nil, nil, nil},
		{"killed-in-fan-out.json", func(*counter) *graph.Compiled[tally] { return fanGraph(t, 3) }, nil, []string{"b0", "b1", "b2"}, nil},
		{"nested-questions.json", func(calls *counter) *graph.Compiled[tally] { return deepGraph(t, calls) }, []graph.Answer{
			{QuestionID: "q-7371dfe839d894d8", Choice: "b", By: said.By, At: said.At},
			{QuestionID: "q-db144ae112d740cd", Text: "fine", By: said.By, At: said.At},
			// Taken when the checkpoint was of format 1, and delivered again.
			{QuestionID: "q-6b7981ca6378b78d", Choice: "a", By: "u1"},
		}, []string{"short", "long", "split", "before", "ask first a", "ask second b", "beside first so <be> it", "beside second fine", "join", "join"},
			[]string{"ask", "beside", "join", "join"}},
	} {
		t.Run(test.file, func(t *testing.T) {
			calls, store := newCounter(), graphtest.NewMemory()
			checkpoint := readTestdata(t, "format-1", test.file)
			if !bytes.Contains(checkpoint, []byte(`"format": 1,`)) {
				t.Fatal("the file is not of format 1")
			}
			if err := store.Save(t.Context(), "run", checkpoint); err != nil {
				t.Fatal(err)
			}
			outcome := resume(t, test.graph(calls), graph.Options{Store: store}, test.answers...)
			if outcome.Status != graph.Done {
				t.Errorf("outcome %+v, want the end", outcome)
			}
			wantNames(t, outcome, test.names...)
			for _, node := range []string{"short", "long", "split", "before", "ask", "beside", "join"} {
				want := 0
				for _, again := range test.again {
					if again == node {
						want++
					}
				}
				if calls.of(node) != want {
					t.Errorf("%s ran %d times, want %d", node, calls.of(node), want)
				}
			}
			after, err := store.Load(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			saved := store.Saves() > 1
			if saved != bytes.HasPrefix(after, []byte(`{"format":2,`)) {
				t.Errorf("after the run the checkpoint is\n%s", after)
			}
		})
	}
}

// TestFormat2 holds the layout still: a change of these files is a new format.
func TestFormat2(t *testing.T) {
	for file, c := range map[string]*graph.Compiled[tally]{
		"done.json": lineGraph(t, 8), "killed-in-fan-out.json": fanGraph(t, 3), "nested-questions.json": deepGraph(t, newCounter()),
	} {
		written, err := graph.Recode(c, "run", readTestdata(t, "format-1", file))
		if err != nil {
			t.Fatal(err)
		}
		var compact, shown bytes.Buffer
		if err := json.Compact(&compact, written); err != nil {
			t.Fatalf("%s: %v in\n%s", file, err, written)
		}
		if err := json.Indent(&shown, compact.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		shown.WriteByte('\n')
		if *update {
			if err := os.WriteFile(filepath.Join("testdata", "format-2", file), shown.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := readTestdata(t, "format-2", file); !bytes.Equal(shown.Bytes(), want) {
			t.Errorf("%s: format 2 is\n%s\nand was\n%s", file, shown.Bytes(), want)
		}
		again, err := graph.Recode(c, "run", written)
		if err != nil || !bytes.Equal(again, written) {
			t.Errorf("%s: read and written again it is\n%s\nnot\n%s (%v)", file, again, written, err)
		}
	}
}

// TestAnswersAreReadAsGiven takes answers and questions with every field and awkward
// text through a restart.
func TestAnswersAreReadAsGiven(t *testing.T) {
	asked := graph.Question{
		Key: "k \"1\"", Text: "Which \"one\"\\?\n\t\u2028 日本 <b>", FreeText: true, Who: graph.Thread, Deadline: time.Hour,
		Choices: []graph.Choice{{ID: "a/ä", Label: "A \x01", Detail: "first"}, {ID: "b", Label: "B"}},
	}
	given := graph.Answer{Choice: "a/ä", Text: "as \"said\"\r\n\u202e", By: "U1", At: time.Date(2026, 2, 3, 4, 5, 6, 789, time.FixedZone("", 3600))}
	broken := true
	var got graph.Answer
	c := single(t, func(_ ctx, step graph.Step[tally]) (graph.Result[tally], error) {
		answer, ok := step.Answer(asked.Key)
		if !ok {
			return graph.Ask[tally](asked), nil
		}
		if broken {
			return graph.Result[tally]{}, errors.New("no")
		}
		got = answer
		return graph.Update[tally](), nil
	})
	options := graph.Options{Store: graphtest.NewMemory()}
	first := start(t, c, options).Questions[0]
	again := resume(t, c, options).Questions[0]
	want := asked
	want.ID, want.Node = first.ID, "only"
	if asJSON(t, first) != asJSON(t, want) || asJSON(t, again) != asJSON(t, want) {
		t.Errorf("the question is\n%+v, after a restart\n%+v, want\n%+v", first, again, want)
	}
	given.QuestionID = first.ID
	if _, err := c.Resume(t.Context(), "run", []graph.Answer{given}, options); err == nil {
		t.Fatal("the node did not fail")
	}
	broken = false
	resume(t, c, options) // the answer comes from the checkpoint
	if !got.At.Equal(given.At) {
		t.Errorf("the answer is of %s, want %s", got.At, given.At)
	}
	got.At = given.At
	if got != given {
		t.Errorf("the answer is %+v, want %+v", got, given)
	}
}

// TestDamageIsNamed breaks a checkpoint of today's format in single places.
func TestDamageIsNamed(t *testing.T) {
	c := deepGraph(t, newCounter())
	whole := string(readTestdata(t, "format-2", "nested-questions.json"))
	for _, test := range []struct{ old, new, want string }{
		{`"steps": 2`, `"steps": "2"`, "a whole number"},
		{`"steps": 2`, `"steps": -2`, "count -2"},
		{`"steps": 2`, `"stops": 2`, `unknown member "stops"`},
		{`"steps": 2`, `"steps": 2, "done": 1`, "true or false"},
		{`"visit": 1`, `"visit": 0`, "visit 0"},
		{`"tasks": [`, `"tasks": [{}, `, `""`},
		{`"tasks": [`, `"tasks": [7, `, "want an object"},
		{`"count": 1`, `"count": "x"`, `decode field "count"`},
		{`"count": 1`, `"count": 1, "count": 2`, "duplicate field"},
		{`"at": "2023-11-14T22:13:21Z"`, `"at": "yesterday"`, "time of an answer"},
		{`"question_id": "q-6b7981ca6378b78d"`, `"question_id": "q-0"`, "unknown answer"},
		{`"question_id": "q-ab9cd1c29b6cd9ac"`, `"question_id": "q-6b7981ca6378b78d"`, "duplicate answer"},
		{`"joins": {`, `"joins": {"join": ["nested"], `, "complete"},
		{`"joins": {`, `"joins": {"long": [], `, "is not a join"},
		{`"beside": 1`, `"beside": 1, "beside": 1073741824`, "visits"},
		{`"text": "ask, second?"`, `"text": ""`, "has no text"},
	} {
		damaged := strings.Replace(whole, test.old, test.new, 1)
		if damaged == whole {
			t.Fatalf("there is no %s to break", test.old)
		}
		_, err := graph.Recode(c, "run", []byte(damaged))
		if err == nil || !strings.Contains(err.Error(), test.want) || !typed(err) {
			t.Errorf("%s instead of %s = %v, want an error with %q", test.new, test.old, err, test.want)
		}
	}
}

// TestCutOffCheckpointIsAnError cuts a checkpoint after each of its bytes.
func TestCutOffCheckpointIsAnError(t *testing.T) {
	c := deepGraph(t, newCounter())
	whole := bytes.TrimSpace(readTestdata(t, "format-2", "nested-questions.json"))
	for size := range whole {
		if _, err := graph.Recode(c, "run", whole[:size]); err == nil || !typed(err) {
			t.Fatalf("the first %d bytes of %d = %v", size, len(whole), err)
		}
	}
}

// FuzzCheckpoint reads any bytes. What is taken is written so that it reads the same
// again, costs memory in proportion to its size, and leads to an end within the step
// limit or to a typed error.
func FuzzCheckpoint(f *testing.F) {
	calls := newCounter()
	graphs := []*graph.Compiled[tally]{nestedGraph(f, calls), fanGraph(f, 3), askGraph(f), deepGraph(f, calls)}
	for _, seed := range seeds(f, graphs) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, checkpoint []byte) {
		for _, c := range graphs {
			boundedRead(t, c, checkpoint)
			store := graphtest.NewMemory()
			if err := store.Save(t.Context(), "run", checkpoint); err != nil {
				t.Fatal(err)
			}
			outcome, err := c.Resume(t.Context(), "run", nil, graph.Options{Store: store, MaxSteps: 50})
			if err == nil && outcome.Status == graph.Waiting && len(outcome.Questions) == 0 {
				t.Error("the run waits for no question")
			}
			if err != nil && !typed(err) {
				t.Errorf("error without a type: %v", err)
			}
		}
	})
}

// boundedRead reads a checkpoint and what it is written as.
func boundedRead(t *testing.T, c *graph.Compiled[tally], checkpoint []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	written, err := graph.Recode(c, "run", checkpoint)
	runtime.ReadMemStats(&after)
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<18+400*len(checkpoint)); used > most {
		t.Errorf("%d bytes of memory for a checkpoint of %d", used, len(checkpoint))
	}
	if err != nil {
		if !typed(err) {
			t.Errorf("error without a type: %v", err)
		}
		return
	}
	written = slices.Clone(written)
	again, err := graph.Recode(c, "run", written)
	if err != nil || !bytes.Equal(again, written) {
		t.Errorf("read and written again it is\n%s\nnot\n%s (%v)", again, written, err)
	}
}

// seeds are checkpoints from all along the runs of the graphs, in today's format and
// in the older ones.
func seeds(f *testing.F, graphs []*graph.Compiled[tally]) (found [][]byte) {
	store := graphtest.NewMemory()
	for save := 1; save < 12; save++ {
		for _, c := range graphs {
			crashing := graphtest.NewCrashing(store, graphtest.CrashPoint{Save: save, Written: true})
			_, err := c.Start(f.Context(), "run", tally{}, graph.Options{Store: crashing})
			if err != nil && !errors.Is(err, graphtest.ErrCrash) {
				f.Fatal(err)
			}
			checkpoint, err := store.Load(f.Context(), "run")
			if err != nil {
				f.Fatal(err)
			}
			found = append(found, checkpoint)
		}
	}
	for _, format := range []string{"format-1", "format-2"} {
		for _, file := range []string{"done.json", "killed-in-fan-out.json", "nested-questions.json"} {
			found = append(found, readTestdata(f, format, file))
		}
	}
	return found
}

func typed(err error) bool {
	var (
		schema  *graph.SchemaError
		node    *graph.UnknownNodeError
		field   *graph.UnknownFieldError
		damaged *graph.CheckpointError
		limit   *graph.StepLimitError
		stalled *graph.StalledError
		failed  *graph.NodeError
	)
	return errors.As(err, &schema) || errors.As(err, &node) || errors.As(err, &field) || errors.As(err, &damaged) ||
		errors.As(err, &limit) || errors.As(err, &stalled) || errors.As(err, &failed)
}
