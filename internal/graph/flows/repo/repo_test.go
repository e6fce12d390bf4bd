package repo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/repo"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

// token looks like one of GitHub's. It is put together here so that this file does not
// hold what looks like one.
var token = "ghp_" + strings.Repeat("aB3x", 9)

// shop is a small repository with what a report tells of.
func shop(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"shop/README.md":               "# Shop\n\n[![badge](https://evil.example/b)](x)\n\nSells things. See https://evil.example/x @everyone\n",
		"shop/go.mod":                  "module example.com/shop\n\ngo 1.26\n\nrequire golang.org/x/text v0.1.0\n",
		"shop/cmd/shop/main.go":        "package main\n\nimport \"example.com/shop/cart\"\n\nfunc main() { cart.Run() }\n",
		"shop/cart/cart.go":            "package cart\n\nimport \"example.com/shop/price\"\n\nvar key = \"" + token + "\"\n",
		"shop/cart/cart_test.go":       "package cart\n\nimport \"testing\"\n",
		"shop/price/price.go":          "package price\n",
		"shop/web/package.json":        `{"name":"web","dependencies":{"react":"^19"}}`,
		"shop/web/src/a/a.js":          "import '../b/b'\n",
		"shop/web/src/b/b.js":          "import '../a/a'\n",
		"shop/Dockerfile":              "FROM golang\n",
		"shop/.github/workflows/a.yml": "on: push\n",
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(root, "shop", "link.go")); err != nil {
		t.Fatal(err)
	}
	return root
}

func reading(root string) repo.Open {
	return repo.Reading(repository.NewOpener(repository.Options{Roots: []string{root}}).Open)
}

func newFlow(t testing.TB, options repo.Options) *repo.Flow {
	t.Helper()
	options.Now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	flow, err := repo.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return flow
}

func start(t testing.TB, flow *repo.Flow, text string) flows.Outcome {
	t.Helper()
	outcome, err := flow.Start(t.Context(), flows.Request{Run: "run", Text: text}, flows.Runtime{Store: graphtest.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func nodes(outcome flows.Outcome) string {
	var all []string
	for _, step := range outcome.Trace.Steps {
		all = append(all, step.Node)
	}
	return strings.Join(all, " ")
}

const onePass = "planner repo_analyzer reasoner reflector generator evaluator"

// TestStepsAreInTheLanguageOfTheTask has the reasoning of a report in the asker's language.
func TestStepsAreInTheLanguageOfTheTask(t *testing.T) {
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t))}), "./shop Berichte bitte über den Aufbau, die Module und die Risiken von diesem Repository")
	if !strings.Contains(outcome.Text, "überwiegend Go") || !strings.Contains(outcome.Text, "Gesehene Risiken: ") || strings.Contains(outcome.Text, "It has ") {
		t.Errorf("%s: %s", outcome.Kind, outcome.Text)
	}
}

func TestReportWithoutAModel(t *testing.T) {
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t))}), "./shop")
	if outcome.Kind != flows.Answered || nodes(outcome) != onePass || len(outcome.Files) != 2 {
		t.Fatalf("%s: %s, %d files: %s", outcome.Kind, nodes(outcome), len(outcome.Files), outcome.Text)
	}
	file := string(outcome.Files[0].Content)
	for _, want := range []string{
		"# Report on `shop`", "calls itself “Shop”", "Sells things.", "Go module `example.com/shop` (`go.mod`)",
		"| `golang.org/x/text` | `v0.1.0` |  | 5 |", "| `react` | `^19` |", "`cmd/shop/main.go:5`: the program `shop` (Go)",
		"`cart` imports `price`: 1, first in `cart/cart.go:3`", "- Cycle 1: `web/src/a`, `web/src/b`", "`shop_architecture.svg`",
		"**no license**", "**no lock file**: There is no go.sum", "**secret**: Something looks like a token of GitHub", "`cart/cart.go:5`",
		"**unpinned image**", "`Dockerfile:1`", "1 file in folders of tests or named like tests, as `cart/cart_test.go`", "`.github/workflows/a.yml`", "Symbolic links, which were not followed: 1.",
		"<summary>Evaluation of this run: 98 of 100</summary>", "measure the process, not the truth",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	for _, said := range []string{file, outcome.Text, outcome.Note} {
		for _, bad := range []string{"evil.example", "@everyone", token, "root:"} {
			if strings.Contains(said, bad) {
				t.Errorf("%q leaks", bad)
			}
		}
	}
	if t.Failed() {
		t.Log(file)
	}
	if svg := string(outcome.Files[1].Content); !strings.Contains(svg, "edge cycle") {
		t.Error("the cycle is not drawn")
	}
	if !strings.Contains(outcome.Note, "no language model was used") || !strings.Contains(outcome.Text, "`shop_report.md`") {
		t.Errorf("%q, %q", outcome.Note, outcome.Text)
	}
}

// TestAFetchedRepository reports on one that git's own server gives over HTTPS.
func TestAFetchedRepository(t *testing.T) {
	served := t.TempDir()
	commit := gittest.Origin(t, served)
	server := gittest.Serve(t, served)
	opener := repository.NewOpener(repository.Options{Fetcher: git.NewFetcher(gittest.Local(server, git.Options{AllowPrivate: true}))})
	outcome := start(t, newFlow(t, repo.Options{Open: repo.Reading(opener.Open)}), "analyze "+server.URL+"/team/app.git please")
	if outcome.Kind != flows.Answered || len(outcome.Files) == 0 || outcome.Files[0].Name != "app_report.md" {
		t.Fatalf("%+v", outcome)
	}
	file := string(outcome.Files[0].Content)
	for _, want := range []string{"Report on `127.0.0.1/team/app`", commit, "Submodules, which were not fetched: `lib/other`", "links, which were not followed: 1"} {
		if !strings.Contains(file, want) {
			t.Errorf("the report does not have %q:\n%s", want, file)
		}
	}
	refused := start(t, newFlow(t, repo.Options{Open: repo.Reading(opener.Open)}), server.URL+"/team/none.git")
	if refused.Kind != flows.Abstained || !strings.Contains(refused.Text, "There is no repository at that address") || strings.Count(nodes(refused), "planner") != 1 {
		t.Errorf("%s: %s", refused.Text, nodes(refused))
	}
}

// flaky is a repository some of whose tools fail some times.
type flaky struct {
	repo.Tools
	fails map[repo.Tool]int // how many calls fail
}

func (f *flaky) fail(tool repo.Tool) error {
	if f.fails[tool] == 0 {
		return nil
	}
	f.fails[tool]--
	return fmt.Errorf("%s: the disk is away", tool)
}

func (f *flaky) Structure(ctx context.Context, depth int) (analysis.Structure, error) {
	if err := f.fail(repo.StructureTool); err != nil {
		return analysis.Structure{}, err
	}
	return f.Tools.Structure(ctx, depth)
}

func (f *flaky) Dependencies(ctx context.Context) (analysis.Dependencies, error) {
	if err := f.fail(repo.DependenciesTool); err != nil {
		return analysis.Dependencies{}, err
	}
	return f.Tools.Dependencies(ctx)
}

// failing opens repositories whose tools fail; opens is how often that itself fails.
func failing(open repo.Open, opens int, fails map[repo.Tool]int) repo.Open {
	return func(ctx context.Context, name string) (repo.Opened, error) {
		if opens > 0 {
			opens--
			return repo.Opened{}, errors.New("connection reset")
		}
		opened, err := open(ctx, name)
		opened.Tools = &flaky{opened.Tools, fails}
		return opened, err
	}
}

func TestTheReflectionLoops(t *testing.T) {
	const always = 1000
	root := shop(t)
	pass := "planner repo_analyzer reasoner reflector "
	for name, test := range map[string]struct {
		opens   int
		fails   map[repo.Tool]int
		nodes   string
		partial string
	}{
		"one tool fails once": {
			0, map[repo.Tool]int{repo.DependenciesTool: 1}, pass + "repo_analyzer reasoner reflector generator evaluator", "",
		},
		"two tools fail once": {
			0, map[repo.Tool]int{repo.DependenciesTool: 1, repo.StructureTool: 1}, pass + onePass, "",
		},
		"the first pass reads nothing": {1, nil, pass + onePass, ""},
		"one tool fails twice": {
			0, map[repo.Tool]int{repo.DependenciesTool: 2}, pass + "repo_analyzer reasoner reflector " + onePass, "",
		},
		"one tool always fails": {
			0, map[repo.Tool]int{repo.DependenciesTool: always},
			strings.Repeat(pass+"repo_analyzer reasoner reflector ", 10) + "generator evaluator", "**This report is partial.** After 10 of 10 passes there is still missing: extract_dependencies.",
		},
		"two tools always fail": {
			0, map[repo.Tool]int{repo.DependenciesTool: always, repo.StructureTool: always},
			strings.Repeat(pass, 10) + "generator evaluator", "**This report is partial.** After 10 of 10 passes there is still missing: analyze_directory_structure, extract_dependencies.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			outcome := start(t, newFlow(t, repo.Options{Open: failing(reading(root), test.opens, test.fails)}), "./shop")
			if got := nodes(outcome); got != test.nodes {
				t.Errorf("went\n%s, want\n%s", got, test.nodes)
			}
			if outcome.Kind != flows.Answered || len(outcome.Files) == 0 {
				t.Fatalf("%s %s", outcome.Kind, outcome.Text)
			}
			file := string(outcome.Files[0].Content)
			if strings.Contains(file, "report is partial") != (test.partial != "") || !strings.Contains(file, test.partial) {
				t.Errorf("want %q in\n%.600s", test.partial, file)
			}
			if partial := strings.HasPrefix(outcome.Note, "Partial, after 10 passes."); partial != (test.partial != "") {
				t.Errorf("note %q", outcome.Note)
			}
			if test.partial != "" && (!strings.Contains(file, "the disk is away") || !strings.Contains(file, "*This could not be read.*")) {
				t.Errorf("%s", file)
			}
		})
	}
}

func TestNothingCanBeRead(t *testing.T) {
	outcome := start(t, newFlow(t, repo.Options{Open: failing(reading(shop(t)), 1000, nil)}), "./shop")
	if outcome.Kind != flows.Abstained || !strings.Contains(outcome.Text, "I tried 10 times and could not read the repository: connection reset") {
		t.Errorf("%+v", outcome)
	}
}

func TestRefusalsSayWhatHelps(t *testing.T) {
	root := shop(t)
	flow := newFlow(t, repo.Options{Open: reading(root)})
	for text, want := range map[string]string{
		"./none":                     "There is no folder `./none`",
		"/etc":                       "outside of what I may read",
		"./shop/../../..":            "outside of what I may read",
		"./shop/README.md":           "is a file",
		"https://github.com/a/b":     "have the host listed in the setting `flows.repositories`",
		"where is the retry policy?": "This needs a language model",
		"./shop where is the cart?":  "This needs a language model",
		"write a README":             "This needs a language model",
		"thanks":                     "needs a language model",
	} {
		outcome := start(t, flow, text)
		if outcome.Kind != flows.Abstained || !strings.Contains(outcome.Text, want) || len(outcome.Files) != 0 {
			t.Errorf("%q: %s %q, want %q", text, outcome.Kind, outcome.Text, want)
		}
	}
}

// services are three checkouts in one folder: two of them depend on a client of Redis.
func services(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for name, files := range map[string]map[string]string{
		"orders": {
			"go.mod": "module example.com/orders\n\nrequire (\n\tgithub.com/go-redis/redis/v8 v8.11.5\n\tgolang.org/x/text v0.1.0\n)\n", "main.go": "package main\n",
			"example/go.mod": "module example.com/orders/example\n\nrequire github.com/redis/go-redis/v9 v9.1.0\n",
		},
		"billing": {"go.mod": "module example.com/billing\n\nrequire github.com/redis/go-redis/v9 v9.2.0\n"},
		"web":     {"package.json": `{"dependencies":{"react":"^19"}}`, "package-lock.json": `{"packages":{"node_modules/react":{"version":"19.1.2"}}}`},
		"broken":  {"go.mod": "no module", "Cargo.toml": "["},
		"secret":  {".cairn.yaml": "audience: [group:legal]", "go.mod": "module example.com/secret\n\nrequire github.com/go-redis/redis/v8 v8.0.0\n"},
	} {
		folder := filepath.Join(root, name)
		gittest.Write(t, folder, files)
		gittest.Run(t, folder, "init", "-q")
		gittest.Run(t, folder, "add", ".")
		gittest.Run(t, folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
		gittest.Run(t, folder, "remote", "add", "origin", "https://github.com/acme/"+name)
	}
	return root
}

// acrossServices is a flow that may open all of them.
func acrossServices(t testing.TB, root string) *repo.Flow {
	t.Helper()
	opener := repository.NewOpener(repository.Options{Roots: []string{root}})
	return newFlow(t, repo.Options{Open: repo.Reading(opener.Open), List: opener.List})
}

// TestADependencyAcrossRepositories asks which services use a version, for somebody who may
// read all but one of them.
func TestADependencyAcrossRepositories(t *testing.T) {
	flow := acrossServices(t, services(t))
	for question, wants := range map[string][]string{
		"which of our services still use go-redis v8?": {
			"1 of 4 repositories names `go-redis 8`", "- `github.com/acme/orders`: `github.com/go-redis/redis/v8 v8.11.5` in [`go.mod:4`](https://github.com/acme/orders/blob/", "go.mod#L4)",
			"Another version of it:\n\n- `github.com/acme/billing`: `github.com/redis/go-redis/v9 v9.2.0` in [`go.mod:3`]",
		},
		"Who uses react?":                        {"1 of 4 repositories names `react` in", "`react ^19`, locked at `19.1.2` in [`package.json:1`]"},
		"which repositories depend on react 18?": {"0 of 4 repositories name `react 18`", "Another version of it:\n\n- `github.com/acme/web`"},
		"what projects import golang.org/x/text": {"1 of 4 repositories names `golang.org/x/text`"},
		"which services are on `left-pad`?":      {"0 of 4 repositories name `left-pad`"},
		"which of our repos use go-redis 9.1?":   {"1 of 4 repositories", "orders`: `github.com/redis/go-redis/v9 v9.1.0` (an example's manifest) in"},
	} {
		outcome, err := flow.Start(knowledge.WithViewers(t.Context(), knowledge.Viewers{}), flows.Request{Run: "run", Text: question}, flows.Runtime{Store: graphtest.NewMemory()})
		if err != nil || outcome.Kind != flows.Answered || nodes(outcome) != onePass {
			t.Fatalf("%s: %v, %s", question, err, outcome.Text)
		}
		for _, want := range wants {
			if !strings.Contains(outcome.Text, want) {
				t.Errorf("%s: no %q in\n%s", question, want, outcome.Text)
			}
		}
		file := string(outcome.Files[0].Content)
		if strings.Contains(outcome.Text+file, "secret") || !strings.Contains(file, "Not read in `github.com/acme/broken`: read Cargo.toml") {
			t.Errorf("%s", file)
		}
	}
	empty := start(t, acrossServices(t, t.TempDir()), "which of our services use redis?")
	if empty.Kind != flows.Abstained || !strings.Contains(empty.Text, "There is no repository that I may read") {
		t.Errorf("%s %s", empty.Kind, empty.Text)
	}
}

// TestWhichRepository asks for the repository that a task does not name, and offers those of
// the thread before those that may be opened.
func TestWhichRepository(t *testing.T) {
	root := services(t)
	for answer, want := range map[graph.Answer]string{
		{Choice: "2"}: "acme/billing", {Choice: "1"}: "acme/web", {Text: "./orders"}: "acme/orders", {Text: "`orders`"}: "acme/orders", {Text: "nowhere"}: "There is no folder `./nowhere`",
	} {
		flow, store := acrossServices(t, root), graphtest.NewMemory()
		ctx := knowledge.WithViewers(t.Context(), knowledge.Viewers{})
		asked, err := flow.Start(ctx, flows.Request{Run: "run", Text: "analyze this repository", History: []flows.Turn{
			{Role: flows.User, Text: "repo: ./web"}, {Role: flows.Assistant, Text: "repo: ./none"}, {Role: flows.User, Text: "thanks for /cairn"},
		}}, flows.Runtime{Store: store})
		if err != nil || asked.Kind != flows.Asked || !strings.Contains(asked.Text, "Which repository?") {
			t.Fatalf("%v %+v", err, asked)
		}
		var offered []string
		for _, choice := range asked.Question.Choices {
			offered = append(offered, choice.Label)
			if strings.Contains(choice.Label+choice.Detail, root) {
				t.Errorf("%+v tells where the folder is", choice)
			}
		}
		if got := strings.Join(offered, " "); got != "web billing broken orders" {
			t.Errorf("offered are %s", got)
		}
		answer.QuestionID = asked.Question.ID
		outcome, err := flow.Resume(ctx, "run", []graph.Answer{answer}, flows.Runtime{Store: store})
		if err != nil || !strings.Contains(outcome.Text, want) {
			t.Errorf("%+v: %v, %s", answer, err, outcome.Text)
		}
	}
}

func TestTypeOf(t *testing.T) {
	for text, want := range map[string][3]string{
		".":                                 {".", "", "analyze_repo"},
		"./backend":                         {"./backend", "", "analyze_repo"},
		"https://github.com/golang/oscar":   {"https://github.com/golang/oscar", "", "analyze_repo"},
		"<https://github.com/golang/oscar>": {"https://github.com/golang/oscar", "", "analyze_repo"},
		"<https://github.com/a/b|github.com/a/b>":      {"https://github.com/a/b", "", "analyze_repo"},
		"Please analyze https://github.com/a/b.":       {"https://github.com/a/b", "Please analyze", "analyze_repo"},
		"./a what is tested?":                          {"./a", "what is tested?", "answer_question"},
		"where is the retry policy?":                   {"", "where is the retry policy?", "answer_question"},
		"How do we deploy":                             {"", "How do we deploy", "answer_question"},
		"Generate a README for https://github.com/a/b": {"https://github.com/a/b", "Generate a README for", "generate_content"},
		"explain this repo":                            {"", "explain this repo", "analyze_repo"},
		"analyze ./backend, please":                    {"./backend", "analyze please", "analyze_repo"},
		"review ../x":                                  {"../x", "review", "analyze_repo"},
		"what does /health do?":                        {"", "what does /health do?", "answer_question"},
		"hello":                                        {"", "hello", "general"},
		"./a security":                                 {"./a", "security", "analyze_repo"},
	} {
		repository, task, kind := repo.TypeOf(text)
		if got := [3]string{repository, task, string(kind)}; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// FuzzTypeOf checks that what is read of a request stands in it.
func FuzzTypeOf(f *testing.F) {
	for _, text := range []string{"./a b", "x https://a/b|c> d", "<https://a|b>", "\"./a b\" c", "://", "http://\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		repository, _, kind := repo.TypeOf(text)
		if !strings.Contains(text, repository) || kind == "" {
			t.Errorf("%q: %q, %s", text, repository, kind)
		}
	})
}

func TestShape(t *testing.T) {
	shape := newFlow(t, repo.Options{Open: reading(".")}).Shape()
	var edges []string
	for _, edge := range shape.Edges {
		edges = append(edges, edge.From+">"+edge.To)
	}
	want := []string{
		"planner>repo_analyzer", "planner>retriever", "planner>reasoner", "repo_analyzer>reasoner", "retriever>reasoner", "reasoner>reflector",
		"reflector>generator", "reflector>repo_analyzer", "reflector>planner", "generator>evaluator", "evaluator>end",
	}
	if slices.Sort(edges); !slices.Equal(edges, slices.Sorted(slices.Values(want))) {
		t.Errorf("%v", edges)
	}
}

// TestACrashAtEverySavePoint kills the process at every checkpoint of a report, and of one
// that is retried.
func TestACrashAtEverySavePoint(t *testing.T) {
	root := shop(t)
	for name, text := range map[string]string{"report": "./shop", "refused": "./none", "no model": "hello"} {
		t.Run(name, func(t *testing.T) {
			flow := newFlow(t, repo.Options{Open: reading(root)})
			outcome, steps := graphtest.Crashes(t, graphtest.Scenario[repo.State]{
				Graph: flow.Graph, Initial: flow.Initial(flows.Request{Run: "run", Text: text}),
			})
			if outcome.Status != graph.Done || len(steps) < 4 || (outcome.State.FinalOutput != "") != (text == "./shop") {
				t.Errorf("%s after %v", outcome.Status, steps)
			}
		})
	}
}
