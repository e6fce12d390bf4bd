package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
)

//go:embed assets templates
var files embed.FS

// stylesheets are the page's, in order.
var stylesheets = []string{"base.css", "shell.css", "talk.css", "sources.css", "why.css"}

// asset is a file that the page loads.
type asset struct {
	kind    string // media type
	content []byte
}

// loadFiles gives the assets by their path below /assets/, and the page's templates.
// The path begins with a hash of all the assets, so that a browser may keep them and
// the scripts can import one another by name.
func loadFiles() (map[string]asset, *template.Template, error) {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	entries, err := files.ReadDir("assets")
	if err != nil {
		return nil, nil, fmt.Errorf("read the page's files: %w", err)
	}
	byName := make(map[string]asset)
	hash := sha256.New()
	for _, entry := range entries {
		content, err := files.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, nil, fmt.Errorf("read the page's files: %w", err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", entry.Name(), len(content), content)
		byName[entry.Name()] = asset{kinds[path.Ext(entry.Name())], content}
	}
	folder := hex.EncodeToString(hash.Sum(nil)[:6]) + "/"
	assets := make(map[string]asset, len(byName))
	for name, file := range byName {
		assets[folder+name] = file
	}
	page, err := template.New("").Funcs(template.FuncMap{
		"asset":  func(name string) string { return "/assets/" + folder + name },
		"styles": func() []string { return stylesheets },
	}).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, nil, fmt.Errorf("read the page's templates: %w", err)
	}
	return assets, page, nil
}

func (w *Web) serveAsset(out http.ResponseWriter, request *http.Request) {
	file, ok := w.assets[request.PathValue("path")]
	if !ok {
		w.fail(out, request, http.StatusNotFound, "There is no such file.")
		return
	}
	out.Header().Set("Content-Type", file.kind)
	out.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if _, err := out.Write(file.content); err != nil {
		w.options.Logger.Debug("send asset", "error", err)
	}
}
