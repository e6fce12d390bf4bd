package modules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/modules"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

func build(named modules.Named, files map[string]string) modules.Map {
	var all []modules.File
	for path, code := range files {
		language := source.LanguageOf(path)
		all = append(all, modules.File{Path: path, Language: language, Facts: source.Parse(path, []byte(code)), Test: source.IsTest(path)})
	}
	return modules.Build(all, named)
}

func edges(m modules.Map) string {
	var all []string
	for _, edge := range m.Edges {
		all = append(all, fmt.Sprintf("%s>%s", edge.From, edge.To))
	}
	return strings.Join(all, " ")
}

func TestBuild(t *testing.T) {
	for name, test := range map[string]struct {
		named modules.Named
		files map[string]string
		want  string
	}{
		"go": {
			modules.Named{Go: map[string]string{"ex.org/a": ".", "ex.org/a/sub": "sub"}},
			map[string]string{
				"main.go": "package main\nimport (\"ex.org/a/x\"; \"ex.org/a/sub/y\"; \"fmt\"; \"ex.org/a/none\")\n", "x/x.go": "package x",
				"sub/y/y.go": "package y\nimport \"ex.org/a/x\"", "x/x_test.go": "package x\nimport \"ex.org/a/sub/y\"",
			}, ".>sub/y .>x sub/y>x",
		},
		"std":    {modules.Named{Go: map[string]string{"std": "."}}, map[string]string{"fmt/a.go": "package fmt\nimport \"io/fs\"", "io/fs/b.go": "package fs"}, "fmt>io/fs"},
		"python": {modules.Named{}, map[string]string{"src/p/__init__.py": "", "src/p/a.py": "from .q import b\nfrom . import q\nimport os", "src/p/q/__init__.py": "", "src/p/q/b.py": "from p import a\nfrom ..a import x", "tool.py": "import p.q.b\nfrom p import q"}, ".>src/p/q src/p>src/p/q src/p/q>src/p"},
		"script": {
			modules.Named{JavaScript: map[string]string{"@s/ui": "packages/ui"}},
			map[string]string{
				"app/a.ts": "import '../lib/b.js'; import {x} from '@s/ui'; import 'react'; import './c'", "app/c/index.ts": "", "lib/b.ts": "export * from '../app/a'", "packages/ui/src/i.tsx": "",
			}, "app>app/c app>lib app>packages/ui/src lib>app",
		},
		"rust":   {modules.Named{Rust: map[string]string{"my_util": "util"}}, map[string]string{"src/main.rs": "mod net;\nuse crate::net::tcp::Dial;\nuse my_util::a::B;\nuse std::io;", "src/bin/x.rs": "fn main() { my_util::run(); other::run() }", "src/net/mod.rs": "pub mod tcp;", "src/net/tcp.rs": "use super::super::x; use crate::Config;", "util/src/lib.rs": "pub mod a;", "util/src/a/mod.rs": ""}, "src>src/net src>util/src/a src/bin>util/src src/net>src util/src>util/src/a"},
		"java":   {modules.Named{}, map[string]string{"a/src/x/A.java": "package x;\nimport y.B;\nimport y.z.*;\nimport java.util.List;", "b/src/y/B.java": "package y;", "b/src/y/z/C.kt": "package y.z\nimport x.A"}, "a/src/x>b/src/y a/src/x>b/src/y/z b/src/y/z>a/src/x"},
		"csharp": {modules.Named{}, map[string]string{"A/a.cs": "using N.B;\nnamespace N.A;", "B/b.cs": "namespace N.B { }"}, "A>B"},
		"php":    {modules.Named{}, map[string]string{"src/A/a.php": "<?php namespace App\\A; use App\\B\\Thing;", "src/B/b.php": "<?php namespace App\\B;", "i.php": "<?php require 'src/B/b.php';"}, ".>src/B src/A>src/B"},
		"ruby":   {modules.Named{}, map[string]string{"bin/x.rb": "require 'g/h'\nrequire_relative '../lib/g'\nrequire 'json'", "lib/g.rb": "", "lib/g/h.rb": ""}, "bin>lib bin>lib/g"},
	} {
		if got := edges(build(test.named, test.files)); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// cycles lists the cycles with the places that prove them.
func cycles(m modules.Map) string {
	var all []string
	for _, cycle := range m.Cycles {
		one := strings.Join(cycle.Modules, " ") + ":"
		for _, link := range cycle.Proof {
			one += fmt.Sprintf(" %s:%d", link.File, link.Line)
		}
		all = append(all, one)
	}
	return strings.Join(all, "; ")
}

// TestCyclesAreReal has imports that make a circle of folders, but never of what is loaded.
func TestCyclesAreReal(t *testing.T) {
	named := modules.Named{Go: map[string]string{"x.org/m": "."}}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a generator":         {map[string]string{"a/a.go": "package a\nimport \"x.org/m/b\"", "b/b.go": "package b", "b/gen.go": "//go:build ignore\n\npackage main\nimport \"x.org/m/a\""}, ""},
		"two systems":         {map[string]string{"a/a_linux.go": "package a\nimport \"x.org/m/b\"", "b/b_windows.go": "package b\nimport \"x.org/m/a\""}, ""},
		"one system":          {map[string]string{"a/a.go": "package a\n\nimport \"x.org/m/b\"", "b/b_windows.go": "package b\nimport \"x.org/m/a\""}, "a b: a/a.go:3 b/b_windows.go:2"},
		"the proof fits":      {map[string]string{"a/a_linux.go": "package a\nimport \"x.org/m/b\"", "a/a_windows.go": "package a\nimport \"x.org/m/b\"", "b/b_windows.go": "package b\nimport \"x.org/m/a\""}, "a b: a/a_windows.go:2 b/b_windows.go:2"},
		"types of Python":     {map[string]string{"a/__init__.py": "import typing as t\nif t.TYPE_CHECKING:\n    from b import x\n", "b/__init__.py": "from a import y\n"}, ""},
		"a function's import": {map[string]string{"a/__init__.py": "def f(x,\n      y):\n    from b import x\n", "b/__init__.py": "from a import y\n"}, ""},
		"behind a function":   {map[string]string{"a/__init__.py": "def f():\n    pass\n\nfrom b import x\n", "b/__init__.py": "from a import y\n"}, "a b: a/__init__.py:4 b/__init__.py:1"},
		"types of TypeScript": {map[string]string{"a/a.ts": "import type {B} from '../b/b'", "b/b.ts": "import {a} from '../a/a'\nexport type {C} from '../a/a'"}, ""},
		"called later":        {map[string]string{"a/a.js": "const b = () => import('../b/b')", "b/b.js": "import {a} from '../a/a'"}, ""},
	} {
		if got := cycles(build(named, test.files)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestCyclesAreMarked(t *testing.T) {
	m := build(modules.Named{}, map[string]string{
		"a/x.js": "import '../b/x'", "b/x.js": "import '../c/x'", "c/x.js": "import '../a/x'; import '../d/x'", "d/x.js": "import '../d/y'", "d/y.js": "import './x'",
		"e/x.js": "import '../f/x'", "f/x.js": "import '../e/x'",
	})
	if got := cycles(m); got != "a b c: a/x.js:1 b/x.js:1 c/x.js:1; e f: e/x.js:1 f/x.js:1" {
		t.Errorf("cycles %s", got)
	}
	for _, module := range m.Modules {
		if want := map[string]int{"a": 1, "b": 1, "c": 1, "e": 2, "f": 2}[module.Path]; module.Cycle != want {
			t.Errorf("%+v, want cycle %d", module, want)
		}
	}
}

// TestALongChain has more folders in a row than a recursion would bear well.
func TestALongChain(t *testing.T) {
	files := map[string]string{}
	const length = 20_000
	for i := range length {
		files[fmt.Sprintf("m%d/x.js", i)] = fmt.Sprintf("import '../m%d/x'", (i+1)%length)
	}
	m := build(modules.Named{}, files)
	if len(m.Cycles) != 1 || len(m.Cycles[0].Modules) != length {
		t.Errorf("%d cycles", len(m.Cycles))
	}
}
