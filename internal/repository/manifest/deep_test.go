package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// TestDeepNestingIsRead has files of a megabyte that are nothing but nesting: whoever reads
// them by recursion without bounds ends the process.
func TestDeepNestingIsRead(t *testing.T) {
	const size = 1 << 20
	for _, test := range []struct{ file, begin, unit string }{
		{"compose.yaml", "", "["}, {"Chart.yaml", "a: ", "{a: "}, {"pnpm-lock.yaml", "", "- "}, {"x/compose.yaml", "", "? "}, {"compose.yml", "a: ", "&a "}, {"y/compose.yml", "", "!t "},
		{"pyproject.toml", "a = ", "["}, {"Cargo.toml", "a = ", "{a="}, {"package.json", `{"bin":`, "["}, {"composer.json", "", `{"a":`},
		{"pom.xml", "<project>", "<a>"}, {"a.csproj", "<Project>", "<ItemGroup>"}, {"poetry.lock", "[", "a."},
	} {
		content := test.begin + strings.Repeat(test.unit, size/len(test.unit))
		if m, err := manifest.Parse(test.file, []byte(content)); err == nil && len(m.Dependencies) > 0 {
			t.Errorf("%s: %+v", test.file, m.Dependencies)
		}
	}
}

// TestLargeFilesAreRead has lock files as large as they come.
func TestLargeFilesAreRead(t *testing.T) {
	var pnpm, cargo strings.Builder
	pnpm.WriteString("# " + strings.Repeat("-", 200) + "\npackages:\n")
	const packages = 5000
	for i := range packages {
		fmt.Fprintf(&pnpm, "  '@scope/package-%d@1.2.3':\n    resolution: {integrity: sha512-%s==}\n    engines: {node: '>=18'}\n    dev: true\n\n", i, strings.Repeat("aB3", 28))
		fmt.Fprintf(&cargo, "[[package]]\nname = \"package-%d\"\nversion = \"1.2.3\"\ndependencies = [\n \"a\",\n]\n\n", i)
	}
	for file, content := range map[string]string{"pnpm-lock.yaml": pnpm.String(), "Cargo.lock": cargo.String()} {
		m, err := manifest.Parse(file, []byte(content))
		if err != nil || len(m.Dependencies) != packages {
			t.Errorf("%s: %d dependencies, %v", file, len(m.Dependencies), err)
		}
	}
}
