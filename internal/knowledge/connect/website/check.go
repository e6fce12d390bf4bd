package website

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

// Check asks the site for a page on the condition that it changed.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	address, ok := strings.CutPrefix(string(document.ID), string(c.options.Source)+":")
	base, err := url.Parse(c.options.URL)
	at, atErr := url.Parse(address)
	if !ok || err != nil || atErr != nil {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, c.options.Source)
	}
	within := newScope(base, c.options)
	if !within.isHost(at) {
		return "", fmt.Errorf("check document %s: the site has moved", document.ID)
	}
	fetcher := newFetcher(c.options, within)
	defer fetcher.Close()
	known := parseHash(document.Hash)
	answer, err := fetcher.DoOnce(ctx, fetcher.newRequest(address, known))
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	switch answer.Status {
	case http.StatusNotModified:
		return knowledge.StateLive, nil
	case http.StatusNotFound, http.StatusGone:
		return knowledge.StateGone, nil
	case http.StatusOK:
		if contentHash(answer.Body) == known.content {
			return knowledge.StateLive, nil
		}
		return knowledge.StateChanged, nil
	}
	return "", fmt.Errorf("check document %s: %w", document.ID, &remote.StatusError{Status: answer.Status})
}
