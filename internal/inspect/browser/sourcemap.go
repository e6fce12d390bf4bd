package browser

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// maxMap is the size of a source map, in bytes.
const maxMap = 32 << 20

// Place is a line of a source.
type Place struct {
	File string `json:"file"`           // "src/checkout.jsx", as the source map has it
	Line int    `json:"line"`           // 1-based
	Code string `json:"code,omitempty"` // the line, "" where the map does not have the source
	// Mapped tells that a source map led to it; else File is the script that the page loaded.
	Mapped bool `json:"mapped,omitempty"`
}

// script is a script that a page loaded.
type script struct {
	url, mapURL string
	read        *sourcemap.Consumer
	failed      bool // to read the map
}

// locate finds the source of a place in a script, counted from 0. code is that of the function that
// begins there, "" where none does.
func (l *look) locate(ctx context.Context, id string, line, column int, code string) Place {
	one := l.script(id)
	if one == nil {
		return Place{}
	}
	if one.read == nil && !one.failed && one.mapURL != "" {
		read, err := l.readMap(ctx, one)
		one.read, one.failed = read, err != nil
		if err != nil {
			l.addProblem(fmt.Sprintf("the source map of %s can't be read: %v", l.cut(path.Base(one.url)), err))
		}
	}
	if one.read != nil {
		if file, sourceLine, ok := findFunction(one.read, line+1, column, code); ok {
			place := Place{File: cleanSource(file), Line: sourceLine, Mapped: true}
			if lines := strings.Split(one.read.SourceContent(file), "\n"); sourceLine >= 1 && sourceLine <= len(lines) {
				place.Code = l.cut(lines[sourceLine-1])
			}
			return place
		}
	}
	code, _, _ = strings.Cut(code, "\n")
	return Place{File: l.cut(one.url), Line: line + 1, Code: l.cut(code)}
}

// readMap reads a script's source map, which stands in its address or is fetched from where the
// script was.
func (l *look) readMap(ctx context.Context, one *script) (*sourcemap.Consumer, error) {
	if _, data, ok := strings.Cut(one.mapURL, ";base64,"); ok && strings.HasPrefix(one.mapURL, "data:") {
		content, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, err
		}
		return sourcemap.Parse("", content)
	}
	base, err := url.Parse(one.url)
	if err != nil {
		return nil, err
	}
	target, err := base.Parse(one.mapURL)
	if err != nil {
		return nil, err
	}
	if target.Host != base.Host || target.Scheme != base.Scheme {
		return nil, errors.New("it is on another site than the script")
	}
	content, err := l.fetch(ctx, target.String())
	if err != nil {
		return nil, err
	}
	return sourcemap.Parse("", content)
}

func (l *look) fetch(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: l.proxy.client, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it is read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxMap+1))
	if err == nil && len(content) > maxMap {
		err = fmt.Errorf("larger than the %d MiB that are read", maxMap>>20)
	}
	return content, err
}

// cleanSource makes the path of a source one of the project: without the bundler's scheme, and
// without leaving the folder.
func cleanSource(file string) string {
	if _, rest, ok := strings.Cut(file, "://"); ok {
		_, file, _ = strings.Cut(rest, "/")
	}
	file = path.Clean("/" + strings.ReplaceAll(file, "\\", "/"))
	return inspect.Cut(strings.TrimPrefix(file, "/"))
}
