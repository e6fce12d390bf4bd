package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

func TestRepository(t *testing.T) {
	files, err := scanImports("../..")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f file) bool { return f.path == "internal/archtest/archtest_test.go" }) {
		t.Fatalf("%d files scanned, this one not among them", len(files))
	}
	for _, v := range checkImports(files) {
		t.Error(v)
	}
}

// want is at the end of the line that breaks a rule.
var want = regexp.MustCompile(`// want "(.*)"$`)

// The tree in testdata breaks every rule at least once, and holds what looks like a
// break and is none.
func TestRulesCatchViolations(t *testing.T) {
	const root = "testdata/broken"
	files, err := scanImports(root)
	if err != nil {
		t.Fatal(err)
	}
	var expected []violation
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if m := want.FindStringSubmatch(line); m != nil {
				expected = append(expected, violation{file: f.path, line: i + 1, rule: m[1]})
			}
		}
	}
	var found []violation
	caught := make(map[string]bool)
	for _, v := range checkImports(files) {
		caught[v.rule] = true
		v.what = ""
		found = append(found, v)
	}
	for _, v := range found {
		if !slices.Contains(expected, v) {
			t.Errorf("not a break, but reported: %s", v)
		}
	}
	for _, v := range expected {
		if !slices.Contains(found, v) {
			t.Errorf("a break, but not reported: %s", v)
		}
	}
	for _, r := range rules {
		if !caught[r.name] {
			t.Errorf("no file in %s breaks the rule: %s", root, r.name)
		}
	}
	for _, name := range []string{strangersName, vagueName} {
		if !caught[name] {
			t.Errorf("no file in %s breaks the rule: %s", root, name)
		}
	}
}

func TestPatternsAreValid(t *testing.T) {
	for _, r := range rules {
		for _, pattern := range slices.Concat(r.in, r.notIn, r.forbid, r.allow) {
			if pattern != standard && !doublestar.ValidatePattern(pattern) {
				t.Errorf("%s: invalid pattern %q", r.name, pattern)
			}
		}
	}
}

func TestScanReportsWhatDoesNotParse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("packag x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := scanImports(dir); err == nil || !strings.Contains(err.Error(), "x.go:1") {
		t.Errorf("error %v", err)
	}
}
