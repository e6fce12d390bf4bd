// Package source reads what files of source code import. Go is read by its own parser; the
// other languages by a scanner that knows their comments, strings and regular expressions,
// so that what merely looks like an import in one of those is none, and by a small reader
// of each language's statements. Files that are broken give what stands before the break.
package source

import (
	"path"
	"strings"
)

// Language is a programming language, or another kind of text, as people call it.
type Language string

// The languages whose imports are read.
const (
	Go         Language = "Go"
	Python     Language = "Python"
	JavaScript Language = "JavaScript"
	TypeScript Language = "TypeScript"
	Rust       Language = "Rust"
	Java       Language = "Java"
	Kotlin     Language = "Kotlin"
	Ruby       Language = "Ruby"
	PHP        Language = "PHP"
	CSharp     Language = "C#"
)

// Import is one import as it is written.
type Import struct {
	// Path is what is imported, in the language's own way of writing: "github.com/cairn-bot/cairn/internal/graph",
	// "..models", "./button", "crate::net::dial", "java.util.List", "App\\Models\\User".
	Path  string
	Names []string // what is taken from Path, where the language tells: "from a import b, c"
	Line  int      // 1-based
	// Deferred is what loading the file does not need: for types alone, or inside a function.
	Deferred bool
	// Named is that code names what it takes where it uses it, without a statement: it counts only
	// where it leads somewhere.
	Named bool
}

// Facts are what a file tells.
type Facts struct {
	Package string // or namespace, as it is declared
	Imports []Import
	Main    int    // line where a program begins, 0 for none
	Builds  Builds // that it is part of
}

// Parse reads a file. One of another language has no facts but that it is part of all builds.
func Parse(file string, content []byte) Facts {
	facts := parseImports(LanguageOf(file), content)
	facts.Builds = AllBuilds
	if LanguageOf(file) == Go {
		facts.Builds = BuildsOf(file, content)
	}
	return facts
}

func parseImports(language Language, content []byte) Facts {
	switch language {
	case Go:
		return parseGo(content)
	case Python:
		return parsePython(content)
	case JavaScript, TypeScript:
		return parseScript(content)
	case Rust:
		return parseRust(content)
	case Java, Kotlin:
		return parseJava(content)
	case Ruby:
		return parseRuby(content)
	case PHP:
		return parsePHP(content)
	case CSharp:
		return parseCSharp(content)
	}
	return Facts{}
}

// Imports reports whether the imports of a language are read.
func (l Language) Imports() bool {
	switch l {
	case Go, Python, JavaScript, TypeScript, Rust, Java, Kotlin, Ruby, PHP, CSharp:
		return true
	}
	return false
}

var byExtension = map[string]Language{
	".go": Go, ".py": Python, ".pyi": Python, ".js": JavaScript, ".jsx": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript,
	".ts": TypeScript, ".tsx": TypeScript, ".mts": TypeScript, ".cts": TypeScript, ".rs": Rust, ".java": Java, ".kt": Kotlin,
	".kts": Kotlin, ".rb": Ruby, ".rake": Ruby, ".php": PHP, ".cs": CSharp,
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".swift": "Swift", ".scala": "Scala", ".m": "Objective-C",
	".s": "Assembly", ".sh": "Shell", ".bash": "Shell", ".ps1": "PowerShell", ".sql": "SQL", ".html": "HTML", ".css": "CSS",
	".scss": "CSS", ".vue": "Vue", ".svelte": "Svelte", ".lua": "Lua", ".pl": "Perl", ".r": "R", ".ex": "Elixir", ".exs": "Elixir",
	".erl": "Erlang", ".hs": "Haskell", ".dart": "Dart", ".zig": "Zig", ".proto": "Protocol Buffers", ".tf": "Terraform",
	".md": "Markdown", ".rst": "reStructuredText", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON", ".toml": "TOML", ".xml": "XML",
	".tmpl": "Template", ".gotmpl": "Template",
}

var byName = map[string]Language{
	"Dockerfile": "Dockerfile", "Containerfile": "Dockerfile", "Makefile": "Make", "Rakefile": Ruby, "Gemfile": Ruby,
}

// LanguageOf returns the language of a file by its name, "" for one that is not known.
func LanguageOf(file string) Language {
	name := path.Base(file)
	if language, ok := byName[name]; ok {
		return language
	}
	return byExtension[strings.ToLower(path.Ext(name))]
}

// documents are the languages of text that is no program.
var documents = map[Language]bool{
	"Markdown": true, "reStructuredText": true, "YAML": true, "JSON": true, "TOML": true, "XML": true,
}

// Program reports whether a language is one of programs, rather than of text and data.
func (l Language) Program() bool { return l != "" && !documents[l] }

// IsTest tells by its path whether a file is a test, or data of tests.
func IsTest(file string) bool {
	name := strings.ToLower(path.Base(file))
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, ending := range []string{"_test", ".test", ".spec", "_spec"} {
		if strings.HasSuffix(stem, ending) {
			return true
		}
	}
	if strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") {
		return true
	}
	if base := strings.TrimSuffix(path.Base(file), path.Ext(file)); LanguageOf(file).Imports() &&
		(strings.HasSuffix(base, "Test") || strings.HasSuffix(base, "Tests") || strings.HasSuffix(base, "IT")) {
		return true
	}
	for i, folder := range strings.Split(path.Dir(file), "/") {
		switch strings.ToLower(folder) {
		case "__tests__", "testdata", "fixtures", "e2e":
			return true
		case "test", "tests", "spec":
			// In Go these are packages like any other, but for those of the root.
			if i == 0 || LanguageOf(file) != Go {
				return true
			}
		}
	}
	return false
}
