package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guideCommand is a call of cairn in a guide.
type guideCommand struct {
	guide string
	args  []string
}

var (
	indented = regexp.MustCompile("(?m)^    (cairn .*)$")
	fence    = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	inline   = regexp.MustCompile("`cairn ([^`]+)`")
	// called is cairn at the beginning of a line, or behind what sets its environment.
	called = regexp.MustCompile(`^(?:\$ )?(?:[A-Z_]+=\S+ |sudo -u cairn )*(?:bin/)?cairn(?: (.*))?$`)
	word   = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)
	// ends is what ends the arguments of a call: a comment, a pipe, a redirection, another call.
	ends = regexp.MustCompile(`^(#.*|\||[<>].*|&&|;|&)$`)
	// alternatives is a word that names several values, of which a reader takes one.
	alternatives = regexp.MustCompile(`\w\|\w`)
	// placeholder is a word that a reader puts something else for.
	placeholder = regexp.MustCompile(`[…\[\]|$]|^<|\.\.\.`)
)

// readGuides gives every call of cairn in the README and the guides.
func readGuides(t *testing.T) []guideCommand {
	t.Helper()
	guides, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []guideCommand
	for _, guide := range append(guides, "../../README.md") {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		blocks := append(fence.FindAllStringSubmatch(string(text), -1), indented.FindAllStringSubmatch(string(text), -1)...)
		for _, block := range blocks {
			for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
				for part := range strings.SplitSeq(strings.TrimSpace(line), " && ") {
					if call := called.FindStringSubmatch(strings.TrimSpace(part)); call != nil && !alternatives.MatchString(part) {
						found = append(found, guideCommand{filepath.Base(guide), splitWords(call[1])})
					}
				}
			}
		}
		for _, call := range inline.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			if line := call[1]; !placeholder.MatchString(line) && strings.ToLower(line) == line {
				found = append(found, guideCommand{filepath.Base(guide), splitWords(strings.ReplaceAll(line, "\n", " "))})
			}
		}
	}
	return found
}

// splitWords splits a line as a shell does, up to a comment or a pipe.
func splitWords(line string) []string {
	var words []string
	for _, found := range word.FindAllString(line, -1) {
		if ends.MatchString(found) {
			break
		}
		words = append(words, strings.Trim(found, `"'`))
	}
	return words
}

// TestTheProgramTakesWhatGuidesSay has every command in every guide understood: a flag that was
// renamed, or a command that is gone, is found here.
func TestTheProgramTakesWhatGuidesSay(t *testing.T) {
	t.Parallel()
	found := readGuides(t)
	if len(found) < 150 {
		t.Fatalf("%d commands were found in the guides", len(found))
	}
	groups := []string{"sources", "slack", "discord", "config", "page"}
	for _, command := range found {
		if len(command.args) == 1 && slices.Contains(groups, command.args[0]) {
			continue // the name of a group, not a call
		}
		if _, err := parseArguments(command.args); err != nil && !isIncomplete(err) {
			t.Errorf("%s says `cairn %s`: %v", command.guide, strings.Join(command.args, " "), err)
		}
	}
}

// isIncomplete tells that a command was named without its arguments, as sentences do.
func isIncomplete(err error) bool {
	return strings.Contains(err.Error(), "expected \"<") || strings.Contains(err.Error(), "missing ")
}

// runnable are the commands of guides that need no server, no network and no person.
var runnable = []string{"ingest", "ask", "flows", "slack", "config", "completion", "man", "version", "status", "runs", "help", "page", "analyze", "context", "sources"}

// TestWhatGuidesSayIsDone runs the commands of the guides that need nothing else, each in a clean
// folder with a small handbook that was read.
func TestWhatGuidesSayIsDone(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, command := range readGuides(t) {
		line := strings.Join(command.args, " ")
		if len(command.args) == 0 || seen[line] || !slices.Contains(runnable, command.args[0]) || !runsAlone(command.args) {
			continue
		}
		seen[line] = true
		t.Run(command.guide+" "+line, func(t *testing.T) {
			t.Parallel()
			runGuideCommand(t, command)
		})
	}
	if len(seen) < 20 {
		t.Errorf("%d commands were run: %v", len(seen), seen)
	}
}

// runsAlone tells that a command names nothing that a clean folder lacks.
func runsAlone(args []string) bool {
	line := strings.Join(args, " ")
	for _, lacks := range []string{"…", "://", "git@", "/etc/", "--resolve", "--models", "--postgres", "--drop-old-vectors", "page edit", "page undo", "argo", "runs show", "runs cancel", "runs replay", "runs discard", "<", "FOLDER", "$", "slack:T", "discord:3", "npx "} {
		if strings.Contains(line, lacks) {
			return false
		}
	}
	request, err := parseArguments(args)
	return err == nil && request.command != nil
}

func runGuideCommand(t *testing.T, command guideCommand) {
	t.Helper()
	home := t.TempDir()
	for _, folder := range []string{"handbook", "contracts", "docs", "sales/handbook"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range handbook {
			if err := os.WriteFile(filepath.Join(home, folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cairn := &program{t: t, env: append(os.Environ(), "HOME="+home, "CAIRN_DATA_DIR="+filepath.Join(home, "data"))}
	run := func(args ...string) (string, error) {
		call := cairn.command(args...)
		call.Dir = home
		out, err := call.CombinedOutput()
		return string(out), err
	}
	if out, err := run("sources", "add", "team", "handbook"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := run(command.args...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
