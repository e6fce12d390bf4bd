package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts call the program as "cairn".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cairn": func() {
			os.Exit(run(context.Background(), os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// TestScripts tells what a person does with the program, and what they see.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: modelCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAIRN_DATA_DIR", env.WorkDir+"/data")
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
	})
}
