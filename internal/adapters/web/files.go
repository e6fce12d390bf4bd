package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"

	"github.com/cairn-bot/cairn/internal/chat/markup"
)

//go:embed assets templates
var files embed.FS

// stylesheets are the page's, in order.
var stylesheets = []string{"base.css", "shell.css", "talk.css", "sources.css", "why.css", "source.css", "copy.css", "attach.css"}

// asset is a file that the page loads.
type asset struct {
	kind    string // media type
	content []byte
}

// Look is what this page, and others in its manner, are made of.
type Look struct {
	// Templates are this page's and the other's own. The function "asset" gives the address
	// of an asset by its name, "styles" the names of the stylesheets, "cleaned" a string as it
	// may stand in a text (markup.CleanLine).
	Templates *template.Template
	assets    map[string]asset // by their path below that of the assets
}

// NewLook adds a page's own files, from its folders "assets" and "templates", to those of
// this page. Assets are served below a path, "/assets/"; sheets are the stylesheets that the
// page is shown in, in order.
func NewLook(below string, sheets []string, own ...fs.FS) (*Look, error) {
	look := &Look{assets: make(map[string]asset)}
	folder, err := look.addAssets(append([]fs.FS{files}, own...))
	if err != nil {
		return nil, fmt.Errorf("read the page's files: %w", err)
	}
	look.Templates = template.New("").Funcs(template.FuncMap{
		"asset":   func(name string) string { return below + folder + name },
		"styles":  func() []string { return sheets },
		"cleaned": markup.CleanLine,
	})
	for _, from := range append([]fs.FS{files}, own...) {
		if _, err := look.Templates.ParseFS(from, "templates/*.html"); err != nil {
			return nil, fmt.Errorf("read the page's templates: %w", err)
		}
	}
	return look, nil
}

// addAssets gives the folder of the assets: a hash of them all, so that a browser may keep
// them and the scripts can import one another by name.
func (l *Look) addAssets(from []fs.FS) (folder string, err error) {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	byName := make(map[string]asset)
	hash := sha256.New()
	for _, folder := range from {
		entries, err := fs.ReadDir(folder, "assets")
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			content, err := fs.ReadFile(folder, "assets/"+entry.Name())
			if err != nil {
				return "", err
			}
			fmt.Fprintf(hash, "%s %d\n%s", entry.Name(), len(content), content)
			byName[entry.Name()] = asset{kinds[path.Ext(entry.Name())], content}
		}
	}
	folder = hex.EncodeToString(hash.Sum(nil)[:6]) + "/"
	for name, file := range byName {
		l.assets[folder+name] = file
	}
	return folder, nil
}

// ServeAsset sends the asset at a path below that of the assets; false where there is none.
func (l *Look) ServeAsset(out http.ResponseWriter, at string) (known bool, err error) {
	file, known := l.assets[at]
	if !known {
		return false, nil
	}
	out.Header().Set("Content-Type", file.kind)
	out.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, err = out.Write(file.content)
	return true, err
}

// Render answers with a template, or with nothing when that fails.
func (l *Look) Render(out http.ResponseWriter, status int, name string, view any) error {
	var page bytes.Buffer
	if err := l.Templates.ExecuteTemplate(&page, name, view); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteHeader(status)
	_, _ = out.Write(page.Bytes()) //nolint:errcheck // who asked may be gone
	return nil
}
