package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// TestMain lets the scripts call the program as "cairn".
func TestMain(m *testing.M) {
	// Parallel tests here wait for clocks and other processes, more than they work: unless a
	// command says otherwise, more of them run at once than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testscript.Main(tidyMain{m}, map[string]func(){
		"cairn": main,
	})
}

// tidyMain runs the tests and removes what they built.
type tidyMain struct{ *testing.M }

func (m tidyMain) Run() int {
	code := m.M.Run()
	if err := errors.Join(removePlain(), webtest.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// raceScripts are run with the race detector: their commands work in parallel. The others
// are about output alone.
var raceScripts = []string{"chat", "ingest"}

// TestScripts tells what a person does with the program, and what they see.
func TestScripts(t *testing.T) {
	t.Parallel()
	plain, err := buildPlain()
	if err != nil {
		t.Fatal(err)
	}
	commands := databaseCommands(t)
	maps.Copy(commands, modelCommands)
	commands["putaside"] = putAside
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAIRN_DATA_DIR", env.WorkDir+"/data")
			env.Setenv("HOME", env.WorkDir)
			if name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-"); !slices.Contains(raceScripts, name) {
				env.Setenv("PATH", filepath.Dir(plain)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			return nil
		},
	})
}

// putAside makes a dead letter in the data directory: putaside EVENT [RUN].
func putAside(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: putaside EVENT [RUN]")
	}
	ctx := context.Background()
	db, err := sqlite.OpenData(ctx, ts.Getenv("CAIRN_DATA_DIR"))
	ts.Check(err)
	queue, err := embedded.Open(ctx, db, runs.Options{})
	ts.Check(err)
	job := runs.Job{Event: runs.EventID(args[0]), Message: chat.Message{Thread: "terminal:put-aside", Author: "ann", Text: "hello"}}
	if len(args) == 2 {
		job.Run = chat.RunID(args[1])
	}
	_, err = queue.Enqueue(ctx, job)
	ts.Check(err)
	lease, err := queue.Claim(ctx, "script")
	ts.Check(err)
	ts.Check(queue.Finish(ctx, lease, runs.Result{Next: runs.Dead, Reason: "nobody could"}))
	ts.Check(db.Close())
}
