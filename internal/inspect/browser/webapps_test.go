package browser_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/cairn-bot/cairn/internal/inspect/browser"
)

var (
	webApps = flag.String("webapps", "", "a node_modules folder with React, Preact, Vue and Svelte, on which TestWebApps has its apps; empty: those on no framework alone")
	node    = flag.String("webapps.node", "node", "the Node.js that compiles components of Svelte")
)

// webApp is a small app whose button Save has its handler in the line that is marked HERE.
type webApp struct{ framework, folder string }

// listApps are the six apps of each framework, and the further ones, whose folders are called by
// their framework and what is special about them. Without npm's packages it is one on no framework.
func listApps(t *testing.T) (first, further []webApp) {
	t.Helper()
	list := func(pattern string) []webApp {
		folders, err := filepath.Glob(filepath.Join("testdata", "webapps", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		var apps []webApp
		for _, folder := range folders {
			framework, _, further := strings.Cut(filepath.Base(folder), "-")
			if !further {
				framework = filepath.Base(filepath.Dir(folder))
			}
			apps = append(apps, webApp{framework, folder})
		}
		return apps
	}
	if *webApps == "" {
		return list("plain/named"), nil
	}
	for _, framework := range []string{"plain", "react", "preact", "vue", "svelte"} {
		first = append(first, list(framework+"/*")...)
	}
	further = list("more/*")
	if len(first) != 30 || len(further) != 10 {
		t.Fatalf("%d apps and %d further ones", len(first), len(further))
	}
	return first, further
}

// TestWebApps builds and minifies small apps, and counts those whose line is found. make web-apps
// has all frameworks.
func TestWebApps(t *testing.T) {
	open(t) // for Chromium
	first, further := listApps(t)
	countRight(t, "the first", first)
	if *webApps != "" {
		countRight(t, "the further", further)
	}
}

func countRight(t *testing.T, which string, apps []webApp) {
	t.Helper()
	right := 0
	var slowest time.Duration
	for _, app := range apps {
		want, got, took := lookAtApp(t, app.framework, app.folder)
		if got == want {
			right++
		}
		slowest = max(slowest, took)
		t.Logf("%-40s want %s, got %s, %d ms", app.folder, want, got, took.Milliseconds())
	}
	t.Logf("of %s apps %d of %d right, the slowest took %d ms", which, right, len(apps), slowest.Milliseconds())
	if right*100 < 95*len(apps) {
		t.Errorf("of %s apps %d of %d lines are right, want 95 %%", which, right, len(apps))
	}
}

func lookAtApp(t *testing.T, framework, folder string) (want, got string, took time.Duration) {
	t.Helper()
	site := httptest.NewServer(buildApp(t, framework, folder))
	defer site.Close()
	b, err := browser.New(browser.Options{Program: os.Getenv("CAIRN_TEST_CHROMIUM"), Pages: []string{site.URL}, NoSandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := b.Look(t.Context(), site.URL, browser.Target{}); err != nil { // starts Chromium
		t.Fatal(err)
	}
	began := time.Now()
	view, err := b.Look(t.Context(), site.URL, browser.Target{Name: "Save"})
	took = time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	got = "nothing"
	if view.Control != nil {
		for _, handler := range view.Control.Handlers {
			if handler.Event == "click" {
				got = fmt.Sprintf("%s:%d", filepath.Base(handler.File), handler.Line)
				break
			}
		}
	}
	return markedLine(t, folder), got, took
}

// markedLine is the line of an app that is marked HERE.
func markedLine(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			if strings.Contains(line, "/*HERE*/") {
				return fmt.Sprintf("%s:%d", entry.Name(), i+1)
			}
		}
	}
	t.Fatalf("%s has no mark", folder)
	return ""
}

func buildApp(t *testing.T, framework, folder string) http.Handler {
	t.Helper()
	entry := "main.js"
	source := map[string]string{"react": "react", "preact": "preact"}[framework]
	if source != "" {
		entry = "main.jsx"
	}
	compile := api.Plugin{Name: "svelte", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `\.svelte$`}, func(file api.OnLoadArgs) (api.OnLoadResult, error) {
			command := exec.CommandContext(t.Context(), *node, filepath.Join("testdata", "webapps", "svelte.cjs"), file.Path)
			command.Env, command.Stderr = append(os.Environ(), "NODE_PATH="+*webApps), os.Stderr
			compiled, err := command.Output()
			text := string(compiled)
			return api.OnLoadResult{Contents: &text, ResolveDir: filepath.Dir(file.Path), Loader: api.LoaderJS}, err
		})
	}}
	options := api.BuildOptions{
		EntryPoints: []string{filepath.Join(folder, entry)}, Bundle: true, Sourcemap: api.SourceMapLinked, Outfile: "out.js", NodePaths: []string{*webApps},
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, JSX: api.JSXAutomatic, JSXImportSource: source, Plugins: []api.Plugin{compile},
		Conditions: []string{"production", "browser"}, Define: map[string]string{
			"process.env.NODE_ENV": `"production"`, "__VUE_OPTIONS_API__": "true", "__VUE_PROD_DEVTOOLS__": "false", "__VUE_PROD_HYDRATION_MISMATCH_DETAILS__": "false",
		},
	}
	if strings.HasSuffix(folder, "-settings") { // older syntax, readable lines, and a map without the sources
		options.Target, options.MinifyWhitespace, options.SourcesContent, options.Sourcemap = api.ES2017, false, api.SourcesContentExclude, api.SourceMapInline
	}
	built := api.Build(options)
	if len(built.Errors) > 0 {
		t.Fatalf("%s: %s", folder, built.Errors[0].Text)
	}
	mux := http.NewServeMux()
	for _, file := range built.OutputFiles {
		mux.HandleFunc("GET /"+filepath.Base(file.Path), func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, filepath.Base(file.Path), time.Time{}, bytes.NewReader(file.Contents))
		})
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		page := strings.NewReader("<!doctype html><title>App</title><div id=root></div><script src=/out.js></script>")
		http.ServeContent(w, r, "index.html", time.Time{}, page)
	})
	return mux
}
