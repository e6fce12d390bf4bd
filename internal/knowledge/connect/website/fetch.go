package website

import (
	"context"
	"net/http"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	agentName = "cairn"          // in robots.txt
	requests  = 8                // at once, where the site asks for no pause between them
	maxCrawl  = 10 * time.Second // the longest pause of robots.txt that is kept to
)

// fetcher asks one host for pages.
type fetcher struct {
	*remote.Client
	scope scope
	token string
}

func newFetcher(options Options, within scope) *fetcher {
	client := remote.NewClient(remote.Options{MaxBytes: options.MaxBytes, AllowPrivate: options.AllowPrivate, TLS: options.TLS})
	return &fetcher{Client: client, scope: within, token: options.Token}
}

// get asks for an address on the site's host, again where that is of use. What a server says by its
// status is no error; *connect.UnavailableError is that it wants to be left alone.
func (f *fetcher) get(ctx context.Context, address string, known knownPage) (*remote.Response, error) {
	return f.Do(ctx, f.newRequest(address, known))
}

func (f *fetcher) newRequest(address string, known knownPage) func(context.Context) (*http.Request, error) {
	return func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5")
		if f.token != "" && f.scope.isHost(request.URL) {
			request.Header.Set("Authorization", "Bearer "+f.token)
		}
		if known.etag != "" {
			request.Header.Set("If-None-Match", known.etag)
		}
		if known.modified != "" {
			request.Header.Set("If-Modified-Since", known.modified)
		}
		return request, nil
	}
}
