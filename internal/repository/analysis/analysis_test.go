package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/analysis"
)

// checkout makes a folder with files and opens it.
func checkout(t *testing.T, files map[string]string) *analysis.Analyst {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return analysis.New(open(t, root))
}

// kinds lists risks as "kind: places".
func kinds(risks []analysis.Risk) string {
	var all []string
	for _, risk := range risks {
		one := string(risk.Kind)
		for _, place := range risk.Places {
			one += " " + place.Path
		}
		all = append(all, one)
	}
	return strings.Join(all, "; ")
}

func TestRisks(t *testing.T) {
	const mit = "MIT License\n\nPermission is hereby granted, free of charge, to any person\nobtaining a copy"
	tests := "def test_x(): pass\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":                   {map[string]string{"LICENSE": mit, "a.py": "", "test_a.py": tests}, ""},
		"no license":             {map[string]string{"a.py": "", "test_a.py": tests}, "no license"},
		"no tests":               {map[string]string{"COPYING": mit, "a.py": ""}, "no tests"},
		"no code":                {map[string]string{"LICENSE.md": mit, "a.md": ""}, ""},
		"huge":                   {map[string]string{"LICENSE": mit, "a.bin": strings.Repeat("x", 6<<20)}, "huge file a.bin"},
		"no lock":                {map[string]string{"LICENSE": mit, "web/package.json": `{"dependencies":{"a":"1"}}`}, "no lock file web/package.json"},
		"a lock":                 {map[string]string{"LICENSE": mit, "web/package.json": `{"dependencies":{"a":"1"}}`, "web/yarn.lock": ""}, ""},
		"a workspace's lock":     {map[string]string{"LICENSE": mit, "packages/a/package.json": `{"dependencies":{"a":"1"}}`, "package.json": `{"workspaces":["packages/*"]}`, "yarn.lock": ""}, ""},
		"pnpm's workspace":       {map[string]string{"LICENSE": mit, "web/a/package.json": `{"dependencies":{"a":"1"}}`, "pnpm-workspace.yaml": "packages:\n- web/**\n", "pnpm-lock.yaml": ""}, ""},
		"Cargo's workspace":      {map[string]string{"LICENSE": mit, "crates/a/Cargo.toml": "[package]\nname = 'a'\n[dependencies]\nb = '1'", "Cargo.toml": "[workspace]\nmembers = ['crates/*']", "Cargo.lock": ""}, ""},
		"uv's workspace":         {map[string]string{"LICENSE": mit, "apps/a/pyproject.toml": "[project]\nname = 'a'\ndependencies = ['b>1']", "pyproject.toml": "[tool.uv.workspace]\nmembers = ['apps/a']", "uv.lock": ""}, ""},
		"a foreign lock":         {map[string]string{"LICENSE": mit, "web/a/package.json": `{"dependencies":{"a":"1"}}`, "package.json": `{"workspaces":["packages/*", "!web/a"]}`, "yarn.lock": ""}, "no lock file web/a/package.json"},
		"another tool's lock":    {map[string]string{"LICENSE": mit, "requirements.txt": "a>1", "pyproject.toml": "[project]\nname = 'a'", "uv.lock": ""}, "no lock file requirements.txt"},
		"an example needs none":  {map[string]string{"LICENSE": mit, "examples/web/package.json": `{"dependencies":{"a":"1"}}`}, ""},
		"an alias of an image":   {map[string]string{"LICENSE": mit, "compose.yaml": "x-i: &i team/a:1\nservices:\n  a:\n    image: *i\n"}, ""},
		"nothing to lock":        {map[string]string{"LICENSE": mit, "package.json": `{}`}, ""},
		"Python that is pinned":  {map[string]string{"LICENSE": mit, "requirements.txt": "a==1\nb===2"}, ""},
		"Python that is not":     {map[string]string{"LICENSE": mit, "requirements.txt": "a==1\nb>=2"}, "no lock file requirements.txt"},
		"Maven needs none":       {map[string]string{"LICENSE": mit, "pom.xml": "<project><dependencies><dependency><groupId>a</groupId><artifactId>b</artifactId></dependency></dependencies></project>"}, ""},
		"images":                 {map[string]string{"LICENSE": mit, "Dockerfile": "FROM a:latest", "b/Dockerfile": "FROM a:1", "c/Dockerfile": "FROM $X"}, "unpinned image Dockerfile"},
		"manifests of test data": {map[string]string{"LICENSE": mit, "testdata/package.json": `{"dependencies":{"a":"1"}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			structure, dependencies, _, _ := inspect(t, checkout(t, test.files))
			if got := kinds(append(structure.Risks, dependencies.Risks...)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestSecrets puts what looks like secrets together, so that this file holds none.
func TestSecrets(t *testing.T) {
	letters := strings.Repeat("aB3xY9", 12)
	secrets := map[string]string{
		"aws":    "AKIA" + strings.ToUpper(letters[:16]),
		"github": "ghp_" + letters[:36],
		"gitlab": "glpat-" + letters[:20],
		"slack":  "xoxb-" + "2345678901-" + letters[:24],
		"google": "AIza" + letters[:35],
		"stripe": "sk_live_" + letters[:24],
		"model":  "sk-proj-" + letters[:48],
		"npm":    "npm_" + letters[:36],
		"key":    "-----BEGIN RSA PRIVATE KEY-----\n" + letters + "\n-----END RSA PRIVATE KEY-----",
	}
	files := map[string]string{"README.md": "# A\n\nAKIAIOSFODNN7EXAMPLE is one of the documentation, sk-test is none.\n"}
	for name, secret := range secrets {
		files["src/"+name+".py"] = "import os\nkey = '" + secret + "'\n"
	}
	files["tests/test_x.py"] = "key = '" + secrets["github"] + "'\n"
	structure, _, _, code := inspect(t, checkout(t, files))
	found := map[string]bool{}
	for _, risk := range structure.Risks {
		if risk.Kind != analysis.Secret {
			continue
		}
		for _, place := range risk.Places {
			found[place.Path] = true
			if place.Path != "tests/test_x.py" && place.Line != 2 {
				t.Errorf("%s: line %d", place.Path, place.Line)
			}
		}
		if strings.Contains(risk.Text, "in tests") != (risk.Places[0].Path == "tests/test_x.py") {
			t.Errorf("%+v", risk)
		}
	}
	if len(found) != len(secrets)+1 || found["README.md"] {
		t.Errorf("found in %v", found)
	}
	for _, file := range code {
		for name, secret := range secrets {
			if strings.Contains(file.Excerpt, secret) {
				t.Errorf("the excerpt of %s shows the secret %s", file.Path, name)
			}
		}
	}
}

func TestReadmeAndLicense(t *testing.T) {
	for name, test := range map[string]struct{ readme, title, text string }{
		"badges":            {"[![b](x)](y)\n# Title #\n<p>no</p>\n\nFirst\nparagraph.\n\nSecond.", "Title", "First paragraph."},
		"underlined":        {"Title\n=====\n\nText.\n", "Title", "Text."},
		"no heading":        {"Text.\n", "", "Text."},
		"only one":          {"# Title\n", "Title", ""},
		"empty":             {"", "", ""},
		"a quote":           {"# T\n> [!NOTE]\n> Text\n> goes on.\n", "T", "Text goes on."},
		"an HTML heading":   {"<p align='center'>\n<a href='x'><img src='y'></a>\n&nbsp; &nbsp;\n<a href='x'>Releases</a> · Docs · Get help here\n</p>\n<h1>T</h1>\n<p align='center'>A server that <b>ships</b> &amp; runs.</p>\n\nMore.\n", "T", "A server that ships & runs."},
		"badges of a title": {"# T [![npm](a)](b) ![c](d) [![build][e]][f]\n\nSee [the guide](https://x.org) or [the list][l].\n", "T", "See the guide or the list."},
		"entities alone":    {"# T\n\n&nbsp; &nbsp;\n\nText\n", "T", "Text"},
		"code first":        {"# T\n```\n## A\nText", "T", "Text"},
	} {
		structure, _, _, _ := inspect(t, checkout(t, map[string]string{"readme.md": test.readme}))
		if got := structure.Readme; got == nil || got.Title != test.title || got.Text != test.text {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004": "Apache-2.0", "GNU GENERAL PUBLIC LICENSE\nVersion 3": "GPL-3.0", "All rights reserved.": "",
	} {
		structure, _, _, _ := inspect(t, checkout(t, map[string]string{"LICENSE": text}))
		if got := structure.License; got == nil || got.Name != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestLocksOfSeveralVersions reads lock files that have more than one version of a dependency:
// a manifest has the one that is for it, or none where the file does not tell.
func TestLocksOfSeveralVersions(t *testing.T) {
	const both = `{"dependencies":{"a":"^1.0.0","b":"catalog:"}}`
	for name, test := range map[string]struct {
		files map[string]string
		want  string // the version of each dependency of p/x's manifest
	}{
		"pnpm": {map[string]string{
			"pnpm-workspace.yaml": "packages: ['p/*']\n", "p/x/package.json": both,
			"pnpm-lock.yaml": "importers:\n  .:\n    dependencies:\n      a: {specifier: ^2, version: 2.0.0}\n  p/x:\n    dependencies:\n      a:\n        specifier: ^1.0.0\n        version: 1.2.0(c@3.0.0)\n      b:\n        specifier: 'catalog:'\n        version: 7.0.0\npackages:\n  a@1.2.0: {}\n  a@2.0.0: {}\n  b@7.0.0: {}\n  b@8.0.0: {}\n",
		}, "a 1.2.0, b 7.0.0"},
		"pnpm, linked": {map[string]string{
			"pnpm-workspace.yaml": "packages: ['p/*']\n", "p/x/package.json": both,
			"pnpm-lock.yaml": "importers:\n  p/x:\n    dependencies:\n      a: {specifier: ^1.0.0, version: 'link:../a'}\npackages:\n  a@2.0.0: {}\n  b@8.0.0: {}\n",
		}, "a , b "},
		"npm": {map[string]string{
			"package.json": `{"workspaces":["p/*"]}`, "p/x/package.json": both,
			"package-lock.json": `{"packages":{"node_modules/a":{"version":"2.0.0"},"p/x/node_modules/a":{"version":"1.3.0"},"node_modules/b":{"version":"8.0.0"},"node_modules/c/node_modules/b":{"version":"9.0.0"}}}`,
		}, "a 1.3.0, b 8.0.0"},
		"yarn": {map[string]string{
			"package.json": `{"workspaces":["p/*"]}`, "p/x/package.json": both,
			"yarn.lock": "a@^2.0.0:\n  version \"2.0.0\"\n\na@^1.0.0, a@^1.0.1:\n  version \"1.4.0\"\n\nb@8:\n  version \"8.0.0\"\n\nb@9:\n  version \"9.0.0\"\n",
		}, "a 1.4.0, b "},
		"Cargo": {map[string]string{
			"p/x/Cargo.toml": "[package]\nname = 'x'\n[dependencies]\na = '1'\nb = '*'\n",
			"p/x/Cargo.lock": "[[package]]\nname = 'a'\nversion = '2.0.0'\n[[package]]\nname = 'a'\nversion = '1.5.0'\n[[package]]\nname = 'b'\nversion = '1.0.0'\n[[package]]\nname = 'b'\nversion = '2.0.0'\n",
		}, "a 1.5.0, b "},
	} {
		_, dependencies, _, _ := inspect(t, checkout(t, test.files))
		var got []string
		for _, m := range dependencies.Manifests {
			for _, d := range m.Dependencies {
				got = append(got, d.Name+" "+d.Locked)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestDependenciesAreLocked(t *testing.T) {
	_, dependencies, architecture, files := inspect(t, checkout(t, map[string]string{
		"package.json":      `{"name":"a","main":"lib/i.js","dependencies":{"react":"^19"}}`,
		"package-lock.json": `{"packages":{"node_modules/react":{"version":"19.1.2"}}}`,
		"lib/i.js":          "import './x'; import 'react'",
		"lib/x.js":          "",
		"app.py":            "import lib2\nif __name__ == '__main__':\n  pass\n",
		"pyproject.toml":    "[project]\ndependencies = [\"My.Pkg>1\"]",
		"uv.lock":           "[[package]]\nname = \"my-pkg\"\nversion = \"2\"\n",
		"broken/Cargo.toml": "[",
	}))
	if len(dependencies.Manifests) != 2 || dependencies.Manifests[0].Dependencies[0].Locked != "19.1.2" || dependencies.Manifests[0].Lock != "package-lock.json" ||
		dependencies.Manifests[1].Dependencies[0].Locked != "2" || dependencies.Total != 2 {
		t.Errorf("%+v", dependencies)
	}
	if len(dependencies.Broken) != 1 || !strings.HasPrefix(dependencies.Broken[0], "read broken/Cargo.toml: it is broken") {
		t.Errorf("%q", dependencies.Broken)
	}
	var entries []string
	for _, entry := range architecture.Entries {
		entries = append(entries, entry.Path)
	}
	if got := strings.Join(entries, " "); got != "lib/i.js app.py" || files[0].Why != "library a" {
		t.Errorf("%s, %+v", got, files[0])
	}
}

// TestWhatShipsComesFirst has a library with examples, generators and tools before it in the
// order of their names.
func TestWhatShipsComesFirst(t *testing.T) {
	main := func(imports string) string { return "package main\n\n" + imports + "\nfunc main() {}\n" }
	structure, dependencies, architecture, files := inspect(t, checkout(t, map[string]string{
		"README.md":                 "# Shop\n",
		"go.mod":                    "module example.com/shop/v2\n\ngo 1.26\n",
		"shop.go":                   "package shop\n\nimport _ \"example.com/shop/v2/internal/cart\"\n",
		"zlarge.go":                 "package shop\n" + strings.Repeat("\n", 200),
		"gen.go":                    "//go:build ignore\n\n" + main(""),
		"internal/cart/cart.go":     "package cart\n\nimport _ \"example.com/shop/v2/internal/price\"\n",
		"internal/price/price.go":   "package price\n",
		"internal/price/other.go":   "package price\n" + strings.Repeat("\n", 90),
		"internal/check/main.go":    main(""),
		"cmd/shopctl/main.go":       main("import _ \"example.com/shop/v2/internal/price\""),
		"example/a/go.mod":          "module example.com/shop/example/a\n",
		"example/a/main.go":         main("import _ \"example.com/shop/v2\""),
		"example/b/go.mod":          "module example.com/shop/example/b\n",
		"example/b/main.go":         main("import _ \"example.com/shop/v2\""),
		"cmd/e2e/main.go":           main(""),
		"docs/tool/main.go":         main(""),
		"cmd/shopctl/testdata/x.go": main(""),
	}))
	var chosen []string
	for _, file := range files {
		chosen = append(chosen, file.Path+" ("+file.Why+")")
	}
	want := "README.md (readme), cmd/shopctl/main.go (program shopctl), shop.go (the root of the library), " +
		"internal/price/price.go (its folder is imported by 2 shipped files), internal/cart/cart.go (its folder is imported by another shipped file), " +
		"internal/check/main.go (largest of its folder), gen.go (script), docs/tool/main.go (program tool), example/a/main.go (program a), example/b/main.go (program b)"
	if got := strings.Join(chosen, ", "); got != want {
		t.Errorf("files to begin with:\n got %s\nwant %s", got, want)
	}
	var entries []string
	for _, entry := range architecture.Entries {
		entries = append(entries, string(entry.Role)+" "+entry.Path)
	}
	if got := strings.Join(entries, ", "); got != "shipped cmd/shopctl/main.go, tool gen.go, tool docs/tool/main.go, tool internal/check/main.go, example example/a/main.go, example example/b/main.go" {
		t.Errorf("entries: %s", got)
	}
	if first := dependencies.Manifests[0]; first.Path != "go.mod" || first.Requires != "Go 1.26" {
		t.Errorf("the first manifest is %+v", first)
	}
	if root := architecture.Modules; root[0].Path != "internal/price" && root[0].Name != "example.com/shop/v2" {
		t.Errorf("%+v", root[0])
	}
	var root []string
	for _, file := range structure.Root {
		root = append(root, fmt.Sprintf("%s=%d", file.Path, file.Bytes))
	}
	if got := strings.Join(root, " "); got != "README.md=7 gen.go=49 go.mod=36 shop.go=59 zlarge.go=213" {
		t.Errorf("files of the root: %s", got)
	}
}

// TestManifestsNamePrograms has a command and a library that their manifests name.
func TestManifestsNamePrograms(t *testing.T) {
	_, _, architecture, _ := inspect(t, checkout(t, map[string]string{
		"pyproject.toml":  "[project]\nname = \"shop\"\n[project.scripts]\nshopctl = \"shop.cli:main\"\n",
		"src/shop/cli.py": "if __name__ == '__main__':\n    main()\n", "src/shop/__main__.py": "", "setup.py": "if __name__ == '__main__':\n    setup()\n",
		"web/package.json": `{"name":"@shop/web","bin":{"shopweb":"./bin/run"}}`, "web/index.js": "", "web/bin/run.js": "",
	}))
	var all []string
	for _, e := range architecture.Entries {
		all = append(all, fmt.Sprintf("%s %s %q by %s:%d", e.Kind, e.Path, e.Name, e.Named.Path, e.Named.Line))
	}
	want := []string{
		`library web/index.js "@shop/web" by web/package.json:0`, `program src/shop/cli.py "shopctl" by pyproject.toml:4`,
		`program src/shop/__main__.py "shop" by :0`, `script setup.py "" by :0`,
	}
	if got := strings.Join(all, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestAQuestionPointsToFiles has questions whose words stand in many files, but whose answers
// are where a symbol, an identifier or an import leads.
func TestAQuestionPointsToFiles(t *testing.T) {
	filler := strings.Repeat("// nothing to see\n", 120)
	analyst := checkout(t, map[string]string{
		"README.md":             "# Orders\n\nOrders are retried. See the docs on retries and queues.\n",
		"CHANGELOG.md":          strings.Repeat("- retry the retries of retried orders in the queue\n", 40),
		"go.mod":                "module example.com/orders\n",
		"orders.go":             "package orders\n\nimport _ \"example.com/orders/internal/backoff\"\n" + filler + "\n// Submit sends an order, again if that fails.\nfunc (c *Client) submitWithRetry() {}\n",
		"orders_test.go":        "package orders\n\nfunc TestRetryRetry() {} // retry retry retry\n",
		"internal/backoff/b.go": "package backoff\n\n// Wait tells how long.\nfunc Wait() {}\n",
		"web/app.js":            "import {sign} from './token.js'\n\nexport function login() { sign() }\n",
		"web/token.js":          "export const sign = () => {}\n",
		"web/other.js":          "export const other = () => {}\n",
		"web/config.py":         "class SessionStore:\n    def save_cookie(self):\n        pass\n",
	})
	for question, want := range map[string]string{
		"Where are orders retried?":        "orders.go:124",
		"What does submitWithRetry do?":    "orders.go:124",
		"How does the login work?":         "web/app.js:1",
		"Where does SessionStore save it?": "web/config.py:1",
		"Which tests cover the retry?":     "orders_test.go:1",
	} {
		files, err := analyst.Sources(t.Context(), analysis.Selection{Most: 4, Question: question})
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", question, err)
		}
		if got := fmt.Sprintf("%s:%d", files[0].Path, files[0].Line); got != want {
			t.Errorf("%q points to %s, want %s", question, got, want)
		}
	}
	files, err := analyst.Sources(t.Context(), analysis.Selection{Most: 2, Question: "nothing of zebras?"})
	if err != nil || len(files) == 0 {
		t.Errorf("a question that points nowhere shows %v, %v", files, err)
	}
}

// TestAskedForFilesComeFirst reads a file that tells little, and none that is not there.
func TestAskedForFilesComeFirst(t *testing.T) {
	analyst := checkout(t, map[string]string{"README.md": "# A", "z.txt": "last", "m.bin": "\x00"})
	files, err := analyst.Sources(t.Context(), analysis.Selection{Most: 2, Wanted: []string{"./z.txt", "none", "../etc/passwd", "m.bin"}})
	if err != nil || len(files) != 2 || files[0].Path != "z.txt" || files[0].Excerpt != "last" || files[1].Path != "README.md" {
		t.Errorf("%+v, %v", files, err)
	}
}

// TestReadingEnds has a reading that is cancelled, and one after it that is not.
func TestReadingEnds(t *testing.T) {
	analyst := checkout(t, map[string]string{"a.go": "package a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analyst.Structure(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if structure, err := analyst.Structure(t.Context(), 3); err != nil || structure.Files != 1 {
		t.Errorf("%+v, %v", structure, err)
	}
}

func TestTheTreeIsBounded(t *testing.T) {
	files := map[string]string{"a/b/c/d/e.txt": ""}
	for i := range 300 {
		files[strings.Repeat("x", i%7+1)+"/"+strings.Repeat("y", i/7+1)+"/f"] = ""
	}
	structure, _, _, _ := inspect(t, checkout(t, files))
	if len(structure.Tree) != 120 || structure.TreeLeft == 0 || structure.Tree[0].Path != "a" || structure.Tree[0].Files != 1 {
		t.Errorf("%d folders, %d left, %+v", len(structure.Tree), structure.TreeLeft, structure.Tree[0])
	}
	for i, folder := range structure.Tree {
		if folder.Depth > 3 || i > 0 && folder.Path == structure.Tree[i-1].Path {
			t.Errorf("%+v", folder)
		}
	}
}

// TestRustPrograms has functions called main where Cargo makes no program of them.
func TestRustPrograms(t *testing.T) {
	a := checkout(t, map[string]string{
		"Cargo.toml": "[package]\nname = 'a'\n", "src/main.rs": "fn main() {}\n", "src/bin/b.rs": "fn main() {}\n", "src/inner/glue.rs": "fn main() {}\n", "build.rs": "fn main() {}\n",
		"COPYING": "Under either license.", "LICENSE-MIT": "Permission is hereby granted, free of charge, to any person obtaining a copy",
		"UNLICENSE": "This is free and unencumbered software released into the public domain.",
	})
	architecture, err := a.Architecture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, entry := range architecture.Entries {
		entries = append(entries, entry.Path)
	}
	if got := strings.Join(entries, " "); got != "src/main.rs src/bin/b.rs build.rs" {
		t.Errorf("programs begin in %s", got)
	}
	structure, err := a.Structure(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if structure.License == nil || structure.License.Name != "MIT, Unlicense" || structure.License.Path != "LICENSE-MIT" {
		t.Errorf("license %+v", structure.License)
	}
}
