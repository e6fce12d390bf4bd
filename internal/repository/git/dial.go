package git

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/publicnet"
)

// Limits of a connection.
const (
	dialTime      = 10 * time.Second
	headerTime    = 60 * time.Second
	maxRedirects  = 3
	handshakeTime = 10 * time.Second
)

// newClient connects to public addresses alone, unless the options say otherwise. It uses no
// proxy: one would look names up by itself, past the check.
func (o Options) newClient(budget *int64, check func(*url.URL) error) *http.Client {
	dialer := &net.Dialer{Timeout: dialTime}
	if !o.AllowPrivate {
		dialer.Control = publicnet.RefusePrivate
	}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: o.TLS, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: handshakeTime, ResponseHeaderTimeout: headerTime, DisableKeepAlives: true,
	}
	return &http.Client{Transport: &countingTransport{next: transport, left: budget}, CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("redirected too often")
		}
		return check(request.URL)
	}}
}

// ErrTooLarge is a repository over a limit.
var ErrTooLarge = errors.New("the repository is too large")

// countingTransport bounds what is received over all responses.
type countingTransport struct {
	next http.RoundTripper
	left *int64
}

func (c *countingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // a RoundTripper stands in for another
	}
	response.Body = &countedBody{response.Body, c.left}
	return response, nil
}

type countedBody struct {
	io.ReadCloser
	left *int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	if *b.left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), *b.left)])
	*b.left -= int64(n)
	return n, err //nolint:wrapcheck // a Reader's error is compared with io.EOF
}

// hostOf returns a host as it stands in an allow list: in small letters, without the port.
func hostOf(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }
