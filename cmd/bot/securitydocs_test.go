package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`(Test\\w+)(?:/(\\w+))?`")
	testFunc  = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
)

// TestThreatsHaveTheirTests keeps docs/security.md true: each threat of its table names a
// test, and each test that it names is there.
func TestThreatsHaveTheirTests(t *testing.T) {
	known := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunc.FindAllSubmatch(text, -1) {
			known[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	threats := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| threat") || strings.HasPrefix(line, "| ---") {
			continue
		}
		threats++
		named := namedTest.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test is named: %s", line)
		}
		for _, test := range named {
			if !known[test[1]] {
				t.Errorf("there is no %s", test[1])
			}
			if test[1] == "TestScripts" {
				if _, err := os.Stat("testdata/script/" + test[2] + ".txtar"); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if threats < 15 {
		t.Errorf("%d threats were found on the page", threats)
	}
}
