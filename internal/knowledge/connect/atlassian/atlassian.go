// Package atlassian is what the connectors for Atlassian's products in the cloud share: how a site
// is asked, how what it lists is passed on, and how accounts become people.
package atlassian

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

// Options say what to read of a site.
type Options struct {
	Source knowledge.SourceID
	URL    string // of the site or of a part of it, as the connector wants it
	// Token is an e-mail address, a colon and an API token, or a token alone, which is sent as a
	// bearer token.
	Token        string
	MaxBytes     int64 // of one document; 0: 32 MiB
	AllowPrivate bool
	TLS          *tls.Config // nil: the system's certificates
	// Audience is whom all documents are for; "": those who may read them at the site.
	Audience knowledge.Audience
	Kind     knowledge.Kind // "": documentation
	Owner    string         // of all documents; "": as the site has it
	// People are the e-mail addresses of accounts, by account id; they go before what the site says.
	People map[string]string
}

const (
	defaultMaxBytes = 32 << 20
	maxPage         = 64 << 20 // bytes of one response at most
)

// WithDefaults gives the options with what is left to the connector filled in.
func (o Options) WithDefaults() Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Kind == "" {
		o.Kind = knowledge.KindDocumentation
	}
	return o
}

// Client asks one site.
type Client struct {
	client *remote.Client
	base   string
	token  string
}

// NewClient returns a client for what is below an address: https://SITE.atlassian.net/wiki.
func NewClient(base string, options Options) *Client {
	return &Client{base: base, token: options.Token, client: remote.NewClient(remote.Options{
		MaxBytes: min(maxPage, 2*options.MaxBytes+1<<20), AllowPrivate: options.AllowPrivate, TLS: options.TLS,
	})}
}

// Close releases the connections.
func (c *Client) Close() { c.client.Close() }

// Get asks for a path below the client's address and decodes the answer. A status other than 200 is
// a *remote.StatusError.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	answer, err := c.client.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path+"?"+query.Encode(), nil)
		if err == nil {
			c.authorize(request.Header)
		}
		return request, err
	})
	if err == nil && answer.Status != http.StatusOK {
		err = &remote.StatusError{Status: answer.Status}
	}
	if err == nil {
		err = json.Unmarshal(answer.Body, into)
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}

func (c *Client) authorize(header http.Header) {
	header.Set("Accept", "application/json")
	switch {
	case strings.Contains(c.token, ":"):
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.token)))
	case c.token != "":
		header.Set("Authorization", "Bearer "+c.token)
	}
}

// RefusedStatus gives the status of a failed request; ok is that the site refused one thing: it is
// not there, or not for the account.
func RefusedStatus(err error) (status int, ok bool) {
	refused, isStatus := errors.AsType[*remote.StatusError](err)
	if !isStatus {
		return 0, false
	}
	switch refused.Status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return refused.Status, true
	}
	return refused.Status, false
}

// explainError says what helps against an error of the site as a whole.
func explainError(err error) error {
	switch status, _ := RefusedStatus(err); status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: the site does not accept the token: want EMAIL:TOKEN, with an API token of that account", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: check the address and the key in it, and that the account may read what is there", err)
	}
	return err
}

// ParseURL gives the root of a site's address, https://SITE.atlassian.net, and the segments of its
// path. ok is false for what is no address of a site.
func ParseURL(address string) (root string, segments []string, ok bool) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return "", nil, false
	}
	if path := strings.Trim(parsed.Path, "/"); path != "" {
		segments = strings.Split(path, "/")
	}
	return parsed.Scheme + "://" + parsed.Host, segments, true
}

// IsSafeName reports whether a key or an id can be part of a path, a query in quotes and a principal.
func IsSafeName(name string) bool {
	const longest = 128
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool {
		return r > '~' || r <= ' ' || strings.ContainsRune(`"'\/?#%,&=`, r)
	})
}
