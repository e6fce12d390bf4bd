package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/cairn-bot/cairn/internal/app"
)

// asks gives the command that the arguments ask for, which must make sense.
func asks(t *testing.T, args ...string) request {
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
	ask.Question = []string{"how", "--odd", "-q"}
	ingest := &ingestCommand{Quiet: true}
	ingest.Folders = []string{"a", "b"}
	repo := &repoCommand{Out: "."}
	analyze := &analyzeCommand{Yes: true}
	analyze.Where, analyze.Out, analyze.Question = "@handbook", ".", []string{"why", "so"}
	show := &runsShowCommand{}
	show.ID = "run-1"
	demo := &demoCommand{Listen: "127.0.0.1:0"}
	demo.Folder = "docs"
	for args, want := range map[string]command{
		"ask how --why --depth=brief -- --odd -q": ask,
		"ingest a -q b":                        ingest,
		"ingest --quiet=true a b":              ingest,
		"repo":                                 repo,
		"analyze @handbook why --yes so":       analyze,
		"runs show run-1":                      show,
		"demo docs --listen 127.0.0.1:0":       demo,
		"serve":                                &serveCommand{Role: []app.Role{"intake", "worker"}},
		"serve --role slack,web --role worker": &serveCommand{Role: []app.Role{"slack", "web", "worker"}},
		"runs":                                 &runsListCommand{Limit: 20},
		"runs --status failed":                 &runsListCommand{Limit: 20, Status: "failed"},
		"runs --limit=3 --thread web:1":        &runsListCommand{Limit: 3, Thread: "web:1"},
		"runs list --limit=-1":                 &runsListCommand{Limit: -1},
		"slack manifest --mode http":           &slackManifestCommand{Mode: "http", Pane: "agent"},
		"forget --user=-odd":                   &forgetCommand{User: "-odd"},
		"eval x --verifier full":               evalOf("x", "full"),
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

func evalOf(set, verifier string) *evalCommand {
	c := &evalCommand{Verifier: verifier}
	c.Set = set
	return c
}

func overviewOf(where string, name ...string) *contextCommand {
	c := &contextCommand{}
	c.Where, c.Out, c.Name = where, ".", name
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
		"bogus":                    "unexpected argument bogus\nSee `cairn --help`",
		"ingset":                   "unexpected argument ingset, did you mean \"ingest\"?",
		"config bogus":             "unexpected argument bogus\nSee `cairn config --help`",
		"config":                   "expected one of \"check\", \"example\"",
		"runs shwo run-1":          "unexpected argument shwo, did you mean \"show\"?\nSee `cairn runs list --help`",
		"runs bogus":               "unexpected argument bogus\nSee `cairn runs list --help`",
		"demo a b":                 "unexpected argument b\nSee `cairn demo --help`",
		"--bogus":                  "unknown flag --bogus",
		"ingest --nmae x":          "unknown flag --nmae, did you mean \"--name\"?\nSee `cairn ingest --help`",
		"ingest -x":                "unknown flag -x",
		"runs --stats failed":      "unknown flag --stats, did you mean \"--status\"?",
		"runs show --status x":     "unknown flag --status\nSee `cairn runs show --help`",
		"ingest --name":            "--name: expected string value but got \"EOL\"",
		"ingest --name --quiet":    "--name: expected string value but got \"--quiet\"",
		"ask":                      "expected \"<QUESTION> ...\"",
		"eval":                     "expected \"<SET>\"",
		"context docs":             "expected \"<NAME> ...\"",
		"forget":                   "missing flags: --user=ID",
		"eval x --verifier fair":   `--verifier must be one of "honest","full","none" but got "fair"`,
		"ask x --depth deep":       `--depth must be one of "brief","detailed","comprehensive","" but got "deep"`,
		"serve --role worker,cook": `--role must be one of "intake","worker","slack","discord","web" but got "cook"`,
		"runs --status asleep":     `--status must be one of "queued","running","waiting","done","failed","cancelled","expired","" but got "asleep"`,
		"runs list --limit many":   "--limit: expected a valid 64 bit int but got \"many\"",
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
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	checkHelp(t, parser.Model.Node)
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

// checkHelp fails unless the help of a command begins with its synopsis and its examples, which
// must be what the program understands, and explains all that the command takes.
func checkHelp(t *testing.T, node *kong.Node, path ...string) {
	t.Helper()
	shown := help(t, path...)
	if !strings.HasPrefix(shown, strings.TrimSpace("Usage: cairn "+strings.Join(path, " "))) {
		t.Errorf("the help of %q does not begin with its synopsis:\n%s", path, shown)
	}
	examples := node.Tag.GetAll("example")
	if (len(examples) == 0) != (len(node.Children) > 0) {
		t.Errorf("the help of %q has %d examples", path, len(examples))
	}
	for _, example := range examples {
		arguments := splitWords(strings.TrimPrefix(example, "cairn "))
		if asks(t, arguments...).name != node.Name {
			t.Errorf("%s: that is not %q", example, path)
		}
	}
	for line := range strings.Lines(shown) {
		if len(line) > 81 {
			t.Errorf("the help of %q is wider than a terminal: %q", path, line)
		}
	}
	left := oneLine(shown)
	for _, part := range helpOf(t, node) {
		_, behind, ok := strings.Cut(left, part)
		if !ok {
			t.Fatalf("the help of %q has no %q, or not in this place:\n%s", path, part, shown)
		}
		left = behind
	}
	for _, child := range node.Children {
		if !child.Hidden {
			checkHelp(t, child, append(slices.Clone(path), child.Name)...)
		}
	}
}

// helpOf are the parts of a command's help in their order, all of which must be explained.
func helpOf(t *testing.T, node *kong.Node) []string {
	t.Helper()
	parts := []string{node.Help}
	parts = append(parts, node.Tag.GetAll("example")...)
	explained := func(name, help string) {
		if help == "" {
			t.Errorf("%s of %s is not explained", name, node.FullPath())
		}
		parts = append(parts, name)
	}
	for _, positional := range node.Positional {
		explained("<"+positional.Name+">", positional.Help)
	}
	for _, child := range node.Children {
		if !child.Hidden {
			explained(child.Path()+" ", child.Help)
			parts = append(parts, child.Help)
		}
	}
	if node.Type == kong.CommandNode {
		for _, flag := range node.Flags {
			explained("--"+flag.Name, flag.Help)
		}
	}
	return append(parts, "--help", "--data=DIR", "--config=FILE", "--version")
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
		"runs ":          "list show cancel replay discard",
		"runs re":        "replay",
		"serve --ro":     "--role",
		"flows --format": "--format",
	} {
		const press = `
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_cairn
echo "${COMPREPLY[*]}"`
		words := append([]string{"-c", setup + press, "bash", cairn}, strings.Split(typed, " ")...)
		command := exec.CommandContext(t.Context(), "bash", words...)
		command.Env = append(os.Environ(), "PATH="+filepath.Dir(cairn)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := command.CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
			t.Errorf("%q is completed to %q, %v; want %q", typed, got, err, want)
		}
	}
}

// TestManualPageHasEveryCommand has the page made of the commands, with nothing in it that roff
// would take for a request.
func TestManualPageHasEveryCommand(t *testing.T) {
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	page := manPage(parser.Model)
	for _, want := range []string{".SS \"cairn runs show\"\n\\fBcairn runs show <RUN> [flags]\\fR\n", ".SS \"cairn reply\"", ".SH \"EXIT STATUS\""} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, `"cairn complete"`) {
		t.Error("the page has a hidden command")
	}
	for line := range strings.Lines(page) {
		known := slices.ContainsFunc([]string{".TH ", ".SH ", ".SS ", ".TP\n", ".PP\n", ".EX\n", ".EE\n"}, func(macro string) bool { return strings.HasPrefix(line, macro) })
		if (line[0] == '.' || line[0] == '\'') && !known {
			t.Errorf("%q is taken for a request", line)
		}
	}
}

func TestHelpExplainsACommand(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{"help": "Usage: cairn <command>", "help runs show": "Usage: cairn runs show <RUN>"} {
		if code, out, told := says(t, strings.Fields(args)...); code != exitOK || !strings.HasPrefix(out, want) || told != "" {
			t.Errorf("%s: %d, %q, %q", args, code, out, told)
		}
	}
	if code, _, told := says(t, "help", "bogus"); code == exitOK || !strings.Contains(told, "bogus") {
		t.Errorf("%d, %q", code, told)
	}
}
