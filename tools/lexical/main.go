// Command lexical bundles the Lexical editor, from the npm packages that package-lock.json
// pins by their hashes: as the oracle that the tests of internal/pages/tree compare with, and
// as the editor of the web page. It is run by `make lexical`, after `npm ci`.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle is one output.
type bundle struct {
	entry, output string
	format        api.Format
	target        api.Target
}

var bundles = []bundle{
	{"oracle.js", "internal/pages/tree/testdata/lexical/oracle.js", api.FormatIIFE, api.ES2020},
	{"editor.js", editorBundle, api.FormatESModule, api.ES2022},
}

// The editor of the web page, and the licences of all that is in it.
const (
	editorBundle   = "internal/adapters/web/editor/assets/lexical.js"
	editorLicences = "internal/adapters/web/editor/licences.txt"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lexical ROOT, the root of the repository")
		os.Exit(2)
	}
	for _, b := range bundles {
		if err := b.write(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "bundle", b.entry+":", err)
			os.Exit(1)
		}
	}
}

func (b bundle) write(root string) error {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{b.entry}, Bundle: true, Format: b.format, Target: b.target, Charset: api.CharsetUTF8,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
		Define: map[string]string{"process.env.NODE_ENV": `"production"`}, Conditions: []string{"production"},
		Platform: api.PlatformBrowser, LogLevel: api.LogLevelWarning, Metafile: true,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	if b.output == editorBundle {
		if err := writeLicences(filepath.Join(root, filepath.FromSlash(editorLicences)), result.Metafile); err != nil {
			return err
		}
	}
	output := filepath.Join(root, filepath.FromSlash(b.output))
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	return os.WriteFile(output, result.OutputFiles[0].Contents, 0o644)
}

// writeLicences writes the licence of each package that a bundle has a file of.
func writeLicences(path, metafile string) error {
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return fmt.Errorf("read the list of bundled files: %w", err)
	}
	used := make(map[string]bool)
	for input := range meta.Inputs {
		if folder, _, ok := strings.Cut(input, "/dist/"); ok {
			used[folder] = true
		}
	}
	var text strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(used)) {
		var about struct {
			Name, Version, License string
		}
		described, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err == nil {
			err = json.Unmarshal(described, &about)
		}
		if err != nil {
			return fmt.Errorf("describe the package in %s: %w", folder, err)
		}
		licence, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
		if err != nil {
			return fmt.Errorf("read the licence of %s: %w", about.Name, err)
		}
		fmt.Fprintf(&text, "%s %s (%s)\n\n%s\n\n", about.Name, about.Version, about.License, strings.TrimSpace(string(licence)))
	}
	return os.WriteFile(path, []byte(strings.TrimRight(text.String(), "\n")+"\n"), 0o644)
}
