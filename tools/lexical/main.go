// Command lexical bundles the Lexical editor, from the npm packages that package-lock.json
// pins by their hashes: as the oracle that the tests of internal/pages/tree compare with, and
// as the editor of the web page. It is run by `make lexical`, after `npm ci`.
package main

import (
	"fmt"
	"os"
	"path/filepath"

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
}

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
		Platform: api.PlatformBrowser, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	output := filepath.Join(root, filepath.FromSlash(b.output))
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	return os.WriteFile(output, result.OutputFiles[0].Contents, 0o644)
}
