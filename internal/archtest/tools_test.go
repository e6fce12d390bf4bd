package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestToolsAreFound looks at the tools that modules name in go.mod: one without a host is taken for
// a package of the standard library, and one of the module itself has to be a folder in it.
func TestToolsAreFound(t *testing.T) {
	modules, err := filepath.Glob("../../scripts/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatalf("there are no modules of scripts: %v", err)
	}
	for _, file := range modules {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own := strings.TrimPrefix(strings.SplitN(string(content), "\n", 2)[0], "module ")
		_, block, _ := strings.Cut(string(content), "tool (")
		block, _, _ = strings.Cut(block, ")")
		for tool := range strings.FieldsSeq(block) {
			host, _, _ := strings.Cut(tool, "/")
			if !strings.Contains(host, ".") {
				t.Errorf("%s names the tool %s, which is not in the standard library", file, tool)
			}
			if folder, ok := strings.CutPrefix(tool, own+"/"); ok {
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), folder)); err != nil {
					t.Errorf("%s names the tool %s: %v", file, tool, err)
				}
			}
		}
	}
}
