package analysis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// open opens a folder.
func open(t testing.TB, folder string) *repository.Checkout {
	t.Helper()
	checkout, err := repository.NewOpener(repository.Options{Roots: []string{folder}}).Open(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checkout.Close(); err != nil {
			t.Error(err)
		}
	})
	return checkout
}

// inspect lets all four tools look at a repository.
func inspect(t testing.TB, analyst *analysis.Analyst) (analysis.Structure, analysis.Dependencies, analysis.Architecture, []analysis.CodeFile) {
	t.Helper()
	structure, err1 := analyst.Structure(t.Context(), 3)
	dependencies, err2 := analyst.Dependencies(t.Context())
	architecture, err3 := analyst.Architecture(t.Context())
	files, err4 := analyst.Sources(t.Context(), analysis.Selection{Most: 20})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return structure, dependencies, architecture, files
}

// goroot is the largest repository of real code that every machine with Go has.
func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// BenchmarkAnalysis opens repositories and lets all four tools look at them: this one, and
// the source of Go's standard library and commands. "peak-MB" is the most memory that Go
// had from the system.
func BenchmarkAnalysis(b *testing.B) {
	for name, folder := range map[string]string{"cairn": "../../..", "goroot": goroot(b)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				checkout := open(b, folder)
				structure, _, architecture, _ := inspect(b, analysis.New(checkout))
				b.ReportMetric(float64(structure.Files), "files")
				b.ReportMetric(float64(architecture.ModulesTotal), "modules")
				b.ReportMetric(float64(architecture.Imports), "imports")
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.Sys)/(1<<20), "peak-MB")
		})
	}
}

// listed is a package as go list tells it.
type listed struct {
	ImportPath, Dir                   string
	GoFiles, CgoFiles, IgnoredGoFiles []string
	Imports                           []string
}

// goList gives packages by their folders below root as the go command tells them.
func goList(t *testing.T, root string, patterns ...string) map[string]listed {
	t.Helper()
	arguments := append([]string{"list", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles,Imports"}, patterns...)
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := make(map[string]listed)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		if one.Dir == "" {
			t.Fatalf("go list knows no folder of %s", one.ImportPath)
		}
		folder, err := filepath.Rel(root, one.Dir)
		if err != nil {
			t.Fatal(err)
		}
		packages[filepath.ToSlash(folder)] = one
	}
}

// importsOf gives the imports of the files of a checkout that are Go and no tests, by
// folder and name.
func importsOf(t *testing.T, checkout *repository.Checkout) map[string]map[string][]string {
	t.Helper()
	found := make(map[string]map[string][]string)
	for _, file := range checkout.Files {
		if source.LanguageOf(file.Path) != source.Go || source.IsTest(file.Path) || strings.HasPrefix(file.Path, "cmd/") {
			continue
		}
		content, err := checkout.Read(file.Path)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(file.Path)
		if found[folder] == nil {
			found[folder] = make(map[string][]string)
		}
		var names []string
		for _, one := range source.Parse(file.Path, content).Imports {
			names = append(names, one.Path)
		}
		found[folder][path.Base(file.Path)] = names
	}
	return found
}

// TestAgainstGoList compares every package of Go's standard library and its imports with
// what the go command says.
func TestAgainstGoList(t *testing.T) {
	root := goroot(t)
	found := importsOf(t, open(t, root))
	packages, compared := 0, 0
	known := goList(t, root, "./...")
	for folder, one := range known {
		files := slices.Concat(one.GoFiles, one.CgoFiles)
		if strings.Contains("/"+folder+"/", "/vendor/") || len(files) == 0 || source.IsTest(folder+"/x") {
			continue
		}
		var imported []string
		for _, file := range files {
			imported = append(imported, found[folder][file]...)
		}
		slices.Sort(imported)
		imported = slices.Compact(imported)
		var want []string
		for _, name := range one.Imports {
			// The go command names packages of vendor folders by their places.
			want = append(want, strings.TrimPrefix(name, "vendor/"))
		}
		slices.Sort(want)
		if !slices.Equal(imported, want) {
			t.Errorf("package %s imports %v, found are %v", one.ImportPath, want, imported)
		}
		packages++
		compared += len(want)
	}
	if packages < 200 || compared < 1000 {
		t.Errorf("only %d packages and %d imports were compared", packages, compared)
	}
	// What is found beside those must be packages that are not built on this system.
	var others []string
	for folder := range found {
		// The go command does not look into this one, which is documentation.
		if _, ok := known[folder]; !ok && folder != "builtin" {
			others = append(others, "./"+folder)
		}
	}
	for folder, one := range goList(t, root, others...) {
		if len(one.IgnoredGoFiles)+len(one.GoFiles) == 0 {
			t.Errorf("there is no package in %s", folder)
		}
	}
	t.Logf("%d packages with %d imports are the same; %d folders are of other systems", packages, compared, len(others))
}
