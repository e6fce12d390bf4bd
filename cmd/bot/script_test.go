package main

import (
	"maps"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts call the program as "cairn".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cairn": main,
	})
}

// TestScripts tells what a person does with the program, and what they see.
func TestScripts(t *testing.T) {
	commands := databaseCommands(t)
	maps.Copy(commands, modelCommands)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAIRN_DATA_DIR", env.WorkDir+"/data")
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
	})
}
