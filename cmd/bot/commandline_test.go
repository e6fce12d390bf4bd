package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jessevdk/go-flags"
)

// asks gives the command that the arguments ask for, which must make sense.
func asks(t *testing.T, args ...string) asked {
	t.Helper()
	parsed, err := parseArguments(args)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return parsed
}

// says runs the program and gives its exit code and what it prints.
func says(t *testing.T, args ...string) (code int, out, told string) {
	t.Helper()
	command := (&program{t: t}).command(args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func TestArgumentsReachTheirCommand(t *testing.T) {
	ask := &askCommand{Depth: "brief", Why: true}
	ask.Args.Question = []string{"how", "--odd", "-q"}
	ingest := &ingestCommand{Quiet: true}
	ingest.Args.Folders = []string{"a", "b"}
	repo := &repoCommand{Out: "."}
	analyze := &analyzeCommand{Yes: true}
	analyze.Place.Where, analyze.Out, analyze.Args.Question = "@handbook", ".", []string{"why", "so"}
	show := &runsShowCommand{}
	show.Args.Run = "run-1"
	demo := &demoCommand{Listen: "127.0.0.1:0"}
	demo.Args.Folder = "docs"
	for args, want := range map[string]command{
		"ask how --why --depth=brief -- --odd -q": ask,
		"ingest a -q b":                        ingest,
		"ingest --quiet=true a b":              ingest,
		"repo":                                 repo,
		"analyze @handbook why --yes so":       analyze,
		"runs show run-1":                      show,
		"demo docs --listen 127.0.0.1:0":       demo,
		"serve":                                &serveCommand{Role: roleFlag{"intake", "worker"}},
		"serve --role slack,web --role worker": &serveCommand{Role: roleFlag{"slack", "web", "worker"}},
		"runs":                                 &runsListCommand{Limit: 20},
		"runs --status failed":                 &runsListCommand{Limit: 20, Status: "failed"},
		"runs --limit=3 --thread web:1":        &runsListCommand{Limit: 3, Thread: "web:1"},
		"runs list --limit -1":                 &runsListCommand{Limit: -1},
		"slack manifest --mode http":           &slackManifestCommand{Mode: "http", Pane: "agent"},
		"forget --user=-odd":                   &forgetCommand{User: "-odd"},
		"eval x --side words":                  evalOf("x", "words"),
		"config check --models":                &configCheckCommand{Models: true},
		"version":                              &versionCommand{},
		"discord invite --application 1":       &discordInviteCommand{Application: "1"},
		"flows --format svg":                   &flowsCommand{Format: "svg"},
		"context docs Payment service --out .": overviewOf("docs", "Payment", "service"),
		"migrate --check":                      &migrateCommand{Check: true},
		"doctor --channel C1 --json":           &doctorCommand{Channel: "C1", JSON: true},
		"web --listen 127.0.0.1:8080":          &webCommand{Listen: "127.0.0.1:8080"},
	} {
		if got := asks(t, strings.Fields(args)...).command; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
	}
}

func evalOf(set, side string) *evalCommand {
	c := &evalCommand{Side: side, Verifier: "honest"}
	c.Args.Set = set
	return c
}

func overviewOf(where string, name ...string) *contextCommand {
	c := &contextCommand{}
	c.Place.Where, c.Out, c.Args.Name = where, ".", name
	return c
}

func TestFlagsOfEveryCommandMayStandAnywhere(t *testing.T) {
	want := global{Data: "d", Config: "c.yaml"}
	for _, args := range [][]string{
		{"--data", "d", "--config=c.yaml", "runs", "list"},
		{"runs", "--data=d", "--config", "c.yaml"},
		{"runs", "list", "--config", "c.yaml", "--data", "d"},
	} {
		if got := asks(t, args...); got.global != want {
			t.Errorf("%q: %+v", args, got.global)
		}
	}
}

func TestCtrlCIsLeftToCommandsThatTalk(t *testing.T) {
	for args, want := range map[string]bool{"chat": true, "demo": true, "demo docs": true, "ask why": false, "runs": false, "serve": false} {
		if got := takesInterrupts[asks(t, strings.Fields(args)...).name]; got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

func TestWrongUseIsToldWithItsRemedy(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"bogus":                    "Unknown command `bogus'. Please specify one command of: analyze, ask, ",
		"ingset":                   "Unknown command `ingset', did you mean `ingest'?",
		"config bogus":             "Unknown command `bogus'. Please specify one command of: check or example",
		"config":                   "Please specify one command of: check or example",
		"runs bogus":               "unexpected argument \"bogus\"\nSee `cairn runs --help`",
		"demo a b":                 "unexpected argument \"b\"\nSee `cairn demo --help`",
		"--bogus":                  "unknown flag `--bogus': cairn takes --data, ",
		"ingest --nmae x":          "unknown flag `--nmae': cairn ingest takes --name, ",
		"ingest -x":                "unknown flag `-x': cairn ingest takes --name, ",
		"runs --bogus":             "unknown flag `--bogus': cairn runs list takes --status, ",
		"runs show --status x":     "unknown flag `--status': cairn runs show takes --data, ",
		"ingest --name":            "expected argument for flag `--name'\nSee `cairn ingest --help`",
		"ingest --name --quiet":    "expected argument for flag `--name', but got option `--quiet'",
		"ask":                      "the required argument `QUESTION (at least 1 argument)` was not provided",
		"eval":                     "the required argument `SET` was not provided",
		"context docs":             "the required argument `NAME (at least 1 argument)` was not provided",
		"forget":                   "the required flag `--user' was not specified",
		"eval x --side colour":     "Invalid value `colour' for option `--side'. Allowed values are: fused, words or meaning",
		"ask x --depth deep":       "Invalid value `deep' for option `--depth'. Allowed values are: brief, detailed or comprehensive",
		"serve --role worker,cook": "Invalid value `cook' for option `--role'. Allowed values are: intake, worker, slack, discord or web",
		"runs --status asleep":     "Invalid value `asleep' for option `--status'. Allowed values are: queued, running, waiting, done, failed, cancelled or expired",
		"runs list --limit many":   "invalid argument for flag `--limit' (expected int)",
	} {
		code, out, told := says(t, strings.Fields(args)...)
		if code != exitUsage || out != "" {
			t.Errorf("%s: exit code %d, on standard output:\n%s", args, code, out)
		}
		if !strings.HasPrefix(told, "cairn: ") || !strings.Contains(told, want) || !strings.Contains(told, "--help`\n") {
			t.Errorf("%s: said %q, want %q", args, told, want)
		}
	}
}

func TestHelpTellsAllOfEveryCommand(t *testing.T) {
	t.Parallel() // it waits for processes
	shown := help(t)
	if !strings.Contains(shown, "$CAIRN_CONFIG") {
		t.Errorf("where the configuration is looked for is not said:\n%s", shown)
	}
	if code, alone, _ := says(t); code != exitOK || alone != shown {
		t.Errorf("without arguments: exit code %d\n%s", code, alone)
	}
	checkHelp(t, entries())
}

// help is what --help shows of a command. It must go to where output goes.
func help(t *testing.T, path ...string) string {
	t.Helper()
	code, out, told := says(t, append(slices.Clone(path), "--help")...)
	if code != exitOK || told != "" {
		t.Fatalf("help of %q: exit code %d, %s", path, code, told)
	}
	return out
}

func checkHelp(t *testing.T, of []entry, path ...string) {
	t.Helper()
	above := help(t, path...)
	for _, e := range of {
		named := append(slices.Clone(path), e.name)
		shown := help(t, named...)
		want := []string{e.help, "--data=DIR", "--config=FILE", "--help", "--version"}
		if e.family == nil {
			want = append(want, fieldsOf(t, e.command)...)
		}
		for _, part := range want {
			if !strings.Contains(shown, part) {
				t.Errorf("the help of %q is without %q:\n%s", named, part, shown)
			}
		}
		for line := range strings.Lines(shown) {
			if len(line) > 81 {
				t.Errorf("the help of %q is wider than a terminal: %q", named, line)
			}
		}
		if !strings.Contains(above, e.name+" ") || !strings.Contains(above, e.help) {
			t.Errorf("the help of %q does not list %s:\n%s", path, e.name, above)
		}
		checkHelp(t, e.family, named...)
	}
}

// fieldsOf are a command's flags and arguments, all of which must be explained.
func fieldsOf(t *testing.T, of command) []string {
	t.Helper()
	parsed, err := flags.NewNamedParser("", flags.None).AddCommand("it", "", "", of)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, option := range parsed.Options() {
		if option.Description == "" {
			t.Errorf("--%s is not explained", option.LongName)
		}
		named = append(named, "--"+option.LongName)
	}
	for _, arg := range parsed.Args() {
		if arg.Description == "" {
			t.Errorf("%s is not explained", arg.Name)
		}
		named = append(named, arg.Name)
	}
	return named
}

// TestBashCompletesCommands does what docs/commands.md says about the Tab key.
func TestBashCompletesCommands(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(docs), "```bash\n")
	setup, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/commands.md does not say how bash completes commands")
	}
	cairn := (&program{t: t}).command().Path
	for typed, want := range map[string]string{
		"ing":            "ingest",
		"runs ":          "cancel discard list replay show",
		"runs re":        "replay",
		"serve --ro":     "--role",
		"flows --format": "--format",
	} {
		const press = `
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_cairn
echo "${COMPREPLY[*]}"`
		words := append([]string{"-c", setup + press, "bash", cairn}, strings.Split(typed, " ")...)
		out, err := exec.CommandContext(t.Context(), "bash", words...).CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
			t.Errorf("%q is completed to %q, %v; want %q", typed, got, err, want)
		}
	}
}
