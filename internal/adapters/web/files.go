package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
)

//go:embed assets templates
var files embed.FS

// asset is a file that the page loads, under a name that changes with its content.
type asset struct {
	kind    string // media type
	content []byte
}

// loadFiles gives the assets by their name in /assets/, and the page's templates.
func loadFiles() (map[string]asset, *template.Template, error) {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	entries, err := files.ReadDir("assets")
	if err != nil {
		return nil, nil, fmt.Errorf("read the page's files: %w", err)
	}
	assets := make(map[string]asset)
	names := make(map[string]string)
	for _, entry := range entries {
		content, err := files.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, nil, fmt.Errorf("read the page's files: %w", err)
		}
		hash := sha256.Sum256(content)
		extension := path.Ext(entry.Name())
		name := strings.TrimSuffix(entry.Name(), extension) + "." + hex.EncodeToString(hash[:6]) + extension
		assets[name] = asset{kinds[extension], content}
		names[entry.Name()] = "/assets/" + name
	}
	page, err := template.New("").Funcs(template.FuncMap{
		"asset": func(name string) string { return names[name] },
	}).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, nil, fmt.Errorf("read the page's templates: %w", err)
	}
	return assets, page, nil
}

func (w *Web) serveAsset(out http.ResponseWriter, request *http.Request) {
	file, ok := w.assets[request.PathValue("name")]
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
