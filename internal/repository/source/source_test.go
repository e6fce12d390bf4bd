package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/source"
)

// written shows facts on one line: package, imports with their lines and names, main.
func written(facts source.Facts) string {
	parts := []string{facts.Package}
	for _, found := range facts.Imports {
		one := fmt.Sprintf("%d:%s", found.Line, found.Path)
		if len(found.Names) > 0 {
			one += "(" + strings.Join(found.Names, ",") + ")"
		}
		parts = append(parts, one)
	}
	if facts.Main > 0 {
		parts = append(parts, fmt.Sprintf("main:%d", facts.Main))
	}
	return strings.Join(parts, " ")
}

var examples = []struct {
	language source.Language
	code     string
	want     string
}{
	{source.Go, "package main\n\nimport (\n\tf \"fmt\"\n\t_ \"a/b\" // \"c\"\n)\n\nfunc main() {}\n", "main 4:fmt 5:a/b main:8"},
	{source.Go, "package x\nimport \"ok\"\nimport broken", "x 2:ok"},
	{source.Go, "no go at all", ""},
	{source.Python, "\"\"\"import no\n\"\"\"\nimport os, a.b as c\nfrom . import x\nfrom ..m.n import (y as z,\n  w)\n# import no\ns = 'import no'\nif __name__ == '__main__':\n    import late; import later\n", " 3:os 3:a.b 4:.(x) 5:..m.n(y,w) 10:late 10:later main:9"},
	{source.Python, "from a import \\\n  b\nfrom c import *\nx.import_y\nyield from gen\n", " 1:a(b) 3:c"},
	{source.TypeScript, "import a from './a'\nimport type {B, default as C} from \"b\";\nimport * as d from 'd'\nimport 'e'\nexport * from './f'\nexport { g } from './g'\nexport const x = 'no'\nconst h = require('h'), i = await import(`i`)\nx.require('no'); obj.import('no')\n// import 'no'\n/* import 'no' */\nconst r = /import 'no'/; const s = `import 'no' ${`${\"}\"}`}`\nimport k = require('k')\n", " 1:./a 2:b 3:d 4:e 5:./f 6:./g 8:h 8:i 13:k"},
	{source.JavaScript, "const a = b / c; import 'x' // d / e\nlet t = <p>Don't</p>\nimport y from 'y'\n", " 1:x 3:y"},
	{source.Rust, "use std::{io::{self, Read}, fmt as f};\nuse crate::a::*;\npub mod b;\nmod inline { use super::c; }\nextern crate d;\nuse ::e::g;\nfn l<'a>(x: &'a str) { let c = '\"'; let s = r#\"use no::no;\"#; }\n/* /* use no; */ use no; */\nfn main() {}\n", " 1:std::io::self 1:std::io::Read 1:std::fmt 2:crate::a 3:mod::b 4:super::c 5:d 6:e::g main:9"},
	{source.Rust, "const CODE: &'static str = \"\\\nextern crate no;\nfn main() {}\n\";\nfn f() { std::mem::drop(a_b::C::new()); a_b::D; self::x::y(); }\n", " 5:a_b"},
	{source.Java, "/* package no; */\npackage a.b;\nimport java.util.*;\nimport static c.D.e;\nclass X { String s = \"import no.no;\"; public static void main(String[] a) {} }\n", "a.b 3:java.util.* 4:c.D.e main:5"},
	{source.Kotlin, "package a.b\n\nimport c.D\nimport e.F as G\nfun main(args: Array<String>) {}\n", "a.b 3:c.D 4:e.F main:5"},
	{source.CSharp, "global using A;\nusing static B.C;\nusing D = E.F;\nnamespace G.H;\nclass P { static async Task Main(string[] a) { using (var x = y) {} using var z = w; var s = @\"using No;\"; } }\n", "G.H 1:A 2:B.C 3:E.F main:5"},
	{source.PHP, "<html>\n<?php\nnamespace A\\B;\nuse C\\D as E, F\\G;\nuse function H\\i;\nuse J\\{K, L\\M as N};\nrequire_once __DIR__ . '/lib/x.php';\n$f = function() use ($y) {};\n// use No\\No;\n", "A\\B 4:C\\D 4:F\\G 5:H\\i 6:J\\K 6:J\\L\\M 7:./lib/x.php"},
	{source.Ruby, "require 'json'\nrequire_relative \"a/b\"\nrequire_relative '../c'\n# require 'no'\n=begin\nrequire 'no'\n=end\nrequire(\"d\")\nputs 'require \"no\"'\n", " 1:json 2:./a/b 3:../c 8:d"},
	{"Markdown", "import x", ""},
}

// files are names of files by their languages.
var files = map[source.Language]string{
	source.Go: "a.go", source.Python: "a.py", source.TypeScript: "a.ts", source.JavaScript: "a.js", source.Rust: "a.rs", source.Java: "a.java",
	source.Kotlin: "a.kt", source.CSharp: "a.cs", source.PHP: "a.php", source.Ruby: "a.rb", "Markdown": "a.md",
}

func TestParse(t *testing.T) {
	for _, test := range examples {
		if got := written(source.Parse(files[test.language], []byte(test.code))); got != test.want {
			t.Errorf("%s %q:\n got %s\nwant %s", test.language, test.code, got, test.want)
		}
	}
}

func TestLanguageOf(t *testing.T) {
	for file, want := range map[string]source.Language{
		"a/b.go": source.Go, "x.TSX": source.TypeScript, "Dockerfile": "Dockerfile", "Gemfile": source.Ruby, "x": "", "a.unknown": "",
	} {
		if got := source.LanguageOf(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if source.Language("YAML").Program() || source.Language("").Program() || !source.Go.Program() || !source.Language("C").Program() {
		t.Error("programs and other text are not told apart")
	}
}

func TestIsTest(t *testing.T) {
	for file, want := range map[string]bool{
		"a/b_test.go": true, "a/b.go": false, "test_x.py": true, "x/latest.py": false, "a.spec.ts": true, "src/test/java/A.java": true,
		"src/CartTest.java": true, "Contest.md": false, "greatest/x.rb": false, "pkg/testdata/a.json": true, "spec/a.rb": true,
		"cmd/go/internal/test/test.go": false, "test/run.go": true, "web/test/a.js": true,
	} {
		if got := source.IsTest(file); got != want {
			t.Errorf("IsTest(%s) = %v", file, got)
		}
	}
}

func TestRoleOf(t *testing.T) {
	for file, want := range map[string]source.Role{
		"a.go": source.Shipped, "src/go/doc/a.go": source.Shipped, "docs/conf.py": source.Tool, "doc/a.go": source.Tool, "x/examples/a/main.go": source.Example,
		"a_test.go": source.Test, "x/_gen/a.go": source.Tool, "x/_private/a.py": source.Shipped, ".github/a.js": source.Tool, "vite.config.ts": source.Tool,
		"x/e2e/cmd/main.go": source.Test, "tools/a.go": source.Tool, "cmd/a/main.go": source.Shipped,
	} {
		if got := source.RoleOf(file); got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
}

// FuzzParse checks that any bytes are read in bounded time, and that imports stand where
// they are said to.
func FuzzParse(f *testing.F) {
	languages := []source.Language{
		source.Go, source.Python, source.TypeScript, source.Rust, source.Java, source.CSharp, source.PHP, source.Ruby,
	}
	for _, test := range examples {
		for i, language := range languages {
			if language == test.language {
				f.Add(uint8(i), test.code)
			}
		}
	}
	f.Add(uint8(3), "use a::{{{{{{b::{c")
	f.Add(uint8(2), "import `${`${")
	f.Add(uint8(1), "\\\n\"\"\"\xff")
	f.Fuzz(func(t *testing.T, which uint8, code string) {
		language := languages[int(which)%len(languages)]
		facts := source.Parse(files[language], []byte(code))
		lines := strings.Count(code, "\n") + 1
		for _, found := range facts.Imports {
			if found.Line < 1 || found.Line > lines || found.Path == "" {
				t.Errorf("%s: import %+v of %d lines", language, found, lines)
			}
		}
		if facts.Main < 0 || facts.Main > lines {
			t.Errorf("%s: main on line %d of %d", language, facts.Main, lines)
		}
	})
}
