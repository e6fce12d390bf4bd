package report_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/modules"
	"github.com/cairn-bot/cairn/internal/repository/report"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// TestStatementsLinkToTheirLines has a repository that is on the web.
func TestStatementsLinkToTheirLines(t *testing.T) {
	const web = "https://github.com/a/b/blob/c0ffee/"
	text := report.Write(report.Facts{
		Name: "github.com/a/b", Commit: "c0ffee", Web: web,
		Structure: &analysis.Structure{
			Root:    []analysis.RootFile{{Path: "READ.ME", Bytes: 2}},
			Readme:  &analysis.Readme{Place: analysis.Place{Path: "README.md", Line: 3}, Text: "It works."},
			License: &analysis.License{Place: analysis.Place{Path: "LICENSE"}, Name: "MIT"},
			Risks:   []analysis.Risk{{Kind: analysis.Secret, Text: "A key.", Places: []analysis.Place{{Path: "x y.go", Line: 7}}, More: 4}},
		},
		Dependencies: &analysis.Dependencies{Left: 3, Manifests: []analysis.Manifest{{
			Path: "go.mod", Ecosystem: manifest.Go, Lock: "go.sum", Name: "example.com/b", Version: "7", Requires: "Go 1.26",
			Dependencies: []analysis.Dependency{{Dependency: manifest.Dependency{Name: "x|y", Version: "1", Line: 9}, Locked: "2"}},
		}}},
		Architecture: &analysis.Architecture{
			ModulesTotal: 2, Modules: []modules.Module{{Path: "p", Language: "Go", Files: 1}}, Edges: []modules.Edge{{From: "p", To: "q", Count: 3, File: "p/p.go", Line: 5}},
			Entries: []analysis.Entry{{
				Place: analysis.Place{Path: "main.go", Line: 11}, Language: "Go", Kind: analysis.ProgramEntry, Role: source.Shipped, Name: "b", Named: analysis.Place{Path: "go.mod", Line: 2},
			}, {Place: analysis.Place{Path: "gen.go", Line: 3}, Language: "Go", Role: source.Tool}},
			EntriesTotal: 5,
		},
	})
	for _, want := range []string{
		"at commit [`c0ffee`](https://github.com/a/b/tree/c0ffee)", "- Go module `example.com/b` ([`go.mod`](" + web + "go.mod)), version `7`, requires Go 1.26\n", "- And 3 more manifests", "READ.ME  2 B",
		"([`README.md:3`](" + web + "README.md#L3)): It works.", "MIT ([`LICENSE`](" + web + "LICENSE))",
		"[`x y.go:7`](" + web + "x%20y.go#L7) and 4 more", "| `x\\|y` | `1` → `2` |  | [9](" + web + "go.mod#L9) |", "locked by [`go.sum`](" + web + "go.sum)",
		"`p` imports `q`: 3, first in [`p/p.go:5`](" + web + "p/p.go#L5)", "[`main.go:11`](" + web + "main.go#L11): the program `b` (Go), by [`go.mod:2`](" + web + "go.mod#L2)", "Of tools and generators: [`gen.go:3`]", "3 more are not listed.",
		"1 more modules are not listed.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestReportSpeaksToItsReaders has readers of German.
func TestReportSpeaksToItsReaders(t *testing.T) {
	text := report.Write(report.Facts{
		Name: "a/b", Commit: "c0ffee", Language: language.German,
		Structure:    &analysis.Structure{Languages: []analysis.Language{{Name: "Go", Files: 2, Lines: 30}}},
		Dependencies: &analysis.Dependencies{Manifests: []analysis.Manifest{{Path: "go.mod", Ecosystem: manifest.Go, Dependencies: []analysis.Dependency{{Dependency: manifest.Dependency{Name: "x"}}}}}},
		Architecture: &analysis.Architecture{ModulesTotal: 1, Modules: []modules.Module{{Path: "p", Language: "Go", Files: 1}}},
	})
	for _, want := range []string{"# Bericht über `a/b`\n", "## Was es ist\n", "Gelesen bei Commit `c0ffee`.", "| Sprache | Dateien | Zeilen |\n|---|---:|---:|\n| Go | 2 | 30 |", "Es hat keine README.",
		"| Abhängigkeit | Version | Wofür | Zeile |\n", "| Modul | Sprache | Dateien | Importiert von |\n", "Keine Module importieren sich im Kreis.", "## Erkannte Risiken\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestNamesCanNotBreakOut has names that look like Markdown and HTML.
func TestNamesCanNotBreakOut(t *testing.T) {
	hostile := "`[x](https://evil.example)`\n# H | <!channel> @everyone"
	text := report.Write(report.Facts{
		Name: hostile,
		Structure: &analysis.Structure{
			Tree:    []analysis.Folder{{Path: "a/" + hostile, Depth: 1, Files: 1}, {Path: "```\n# H", Depth: 1}},
			Readme:  &analysis.Readme{Title: hostile, Text: hostile},
			Skipped: []string{hostile}, Modules: []string{hostile},
		},
		Dependencies: &analysis.Dependencies{Broken: []string{hostile}, Manifests: []analysis.Manifest{{
			Path: hostile, Name: hostile, Description: hostile, Dependencies: []analysis.Dependency{{Dependency: manifest.Dependency{Name: hostile, Version: hostile}}},
		}}},
		Architecture: &analysis.Architecture{ModulesTotal: 1, Cycles: []modules.Cycle{{Modules: []string{hostile}, Proof: []modules.Link{{From: hostile, To: hostile, File: hostile}}}}, CyclesTotal: 1, Modules: []modules.Module{{Path: hostile}}},
	})
	inCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		if strings.HasPrefix(line, "# H") {
			t.Errorf("a name became a heading: %s", line)
		}
		if inCode {
			continue
		}
		// What stands between back-quotes is code: nothing in it is a link or a mention.
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 && (strings.Contains(part, "evil.example") || strings.Contains(part, "@everyone") || strings.Contains(part, "<!channel>")) {
				t.Errorf("%q is not code in %s", part, line)
			}
		}
	}
	if inCode {
		t.Error("a name opened a block of code")
	}
}
