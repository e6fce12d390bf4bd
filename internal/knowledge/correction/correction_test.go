package correction_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/correction"
)

const guide = `# Deploy tool
The tool is called ` + "`deployctl`" + ` and reads ` + "`deploy.yaml`" + `.
Jobs are retried after 30 seconds by default.
--workers int   Number of workers (default 4)
--retries int   Number of retries (default 4)
timeout: 20s
The master branch is protected.
Run ` + "`ship repo add acme https://old.example.com/charts`" + ` first.
--interval duration   Pause between two looks (default 100ms)

### ` + "`maxIdle`" + `

_Optional, Default=2_

It is how many connections are kept.
`

func TestFind(t *testing.T) {
	for _, test := range []struct{ said, want string }{
		{"`deployctl` was renamed to `shipctl` last spring", "The tool is called `shipctl` and reads `deploy.yaml`."},
		{"it's `ship.yaml`, not `deploy.yaml`", "The tool is called `deployctl` and reads `ship.yaml`."},
		{"--workers defaults to 8 now", "--workers int   Number of workers (default 8)"},
		{"that's wrong, timeout is 45s", "timeout: 45s"},
		{"jobs are retried after 10 seconds by default these days", "Jobs are retried after 10 seconds by default."},
		// A default stands below the heading that names its setting; Markdown's emphasis is none of it.
		{"maxIdle defaults to 200, I just checked", "_Optional, Default=200_"},
		{"that host is dead, `ship repo add acme https://charts.example.com` works", "Run `ship repo add acme https://charts.example.com` first."},
		{"`ship repo remove acme https://old.example.com/charts all` works as well", ""},
		// A value stays that is another setting's, has a unit that the new one has not, or is not the one that is said to be wrong.
		{"maxRetriesOfAll defaults to 8, not 5", ""},
		{"the default of --interval is 200 now", ""},
		{"timeout is 45s, not 10s", ""},
		// What people tell of themselves, ask and suppose corrects nothing.
		{"we use 16 --workers by default", ""},
		{"20s was not enough, so I moved it to 30s", ""},
		{"I just checked, timeout is 45s now", "timeout: 45s"},
		{"--interval defaults to 500ms, I looked it up", "--interval duration   Pause between two looks (default 500ms)"},
		{"does --workers default to 8 now?", ""},
		{"maybe --workers defaults to 8 now", ""},
		{"--workers 8 took 45s, nice", ""},
		{"the answer is too long, it has 3 paragraphs", ""},
	} {
		lines := correction.SplitLines(guide)
		made := correction.Find([]correction.Message{{Text: test.said}}, "", lines)
		got := ""
		for i, line := range correction.Apply(lines, correction.Edits(made)) {
			if line != lines[i] {
				got += line
			}
		}
		if got != test.want {
			t.Errorf("%q changes a line to %q, want %q", test.said, got, test.want)
		}
	}
}

func TestFindBest(t *testing.T) {
	first, second := []string{"--workers int (default 4)"}, []string{"Set --workers (default 4)", "use `deployctl`"}
	found := correction.FindBest([]correction.Message{{Text: "--workers defaults to 8 now"}, {Text: "`deployctl` was replaced by `shipctl`"}}, "", [][]string{first, second})
	if len(found[0]) != 1 || found[0][0].New != "8" || len(found[1]) != 1 || found[1][0].New != "shipctl" {
		t.Errorf("found %+v, want a value in the first document alone and the name in the second", found)
	}
}

// A patch is taken by git, and taken back to the same bytes.
func TestPatch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for round := range 12 {
		dir := t.TempDir()
		name := []string{"docs/a b.md", "plain.md", "ü/q\"uote.md", "back\\slash.md"}[round%4]
		var lines []string
		for range 1 + random.IntN(40) {
			lines = append(lines, []string{"", "a", "b\r", "- c", "+d", "@@ e"}[random.IntN(6)]+strings.Repeat("x", random.IntN(3)))
		}
		if lines[len(lines)-1] == "" && len(lines) == 1 {
			continue
		}
		changed := append([]string(nil), lines...)
		for i := range changed {
			if random.IntN(6) == 0 && (i < len(changed)-1 || changed[i] != "") {
				changed[i] = "new" + changed[i]
			}
		}
		before := strings.Join(lines, "\n")
		file := filepath.Join(dir, filepath.FromSlash(name))
		write(t, file, before)
		patch := correction.Patch(name, lines, changed)
		if patch == "" {
			if strings.Join(changed, "\n") != before {
				t.Fatalf("no patch for a change")
			}
			continue
		}
		write(t, filepath.Join(dir, "change.patch"), patch)
		apply(t, dir)
		if got := read(t, file); got != strings.Join(changed, "\n") {
			t.Fatalf("applied:\n%q\nwant\n%q", got, strings.Join(changed, "\n"))
		}
		apply(t, dir, "-R")
		if got := read(t, file); got != before {
			t.Fatalf("taken back:\n%q\nwant\n%q", got, before)
		}
	}
}

func apply(t *testing.T, dir string, flags ...string) {
	t.Helper()
	command := exec.Command("git", append(append([]string{"-c", "core.autocrlf=false", "apply"}, flags...), "change.patch")...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v: %s\n%s", err, out, read(t, filepath.Join(dir, "change.patch")))
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func FuzzFind(f *testing.F) {
	f.Add("--workers defaults to 8 now", guide)
	f.Add("`a` is now `b`", "use `a` _a_ a/b")
	f.Add("use --x y instead of --x z", "--x z\n--x z")
	f.Fuzz(func(_ *testing.T, said, text string) {
		lines := correction.SplitLines(text)
		made := correction.Find([]correction.Message{{Text: said, Objects: true}}, said, lines)
		correction.Patch("a.md", lines, correction.Apply(lines, correction.Edits(made)))
	})
}
