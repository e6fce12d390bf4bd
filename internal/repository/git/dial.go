package git

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Limits of a connection.
const (
	dialTime      = 10 * time.Second
	headerTime    = 60 * time.Second
	maxRedirects  = 3
	handshakeTime = 10 * time.Second
)

// ErrPrivate is a name that leads to a machine that is not on the public internet.
var ErrPrivate = errors.New("the address is not public")

// notPublic are networks that no server of repositories has its address in, beside those
// that netip tells.
var notPublic = parsePrefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
)

func parsePrefixes(written ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, one := range written {
		all = append(all, netip.MustParsePrefix(one))
	}
	return all
}

// isPublic reports whether an address is one of the public internet.
func isPublic(address netip.Addr) bool {
	address = address.Unmap()
	if !address.IsGlobalUnicast() || address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast() {
		return false
	}
	for _, prefix := range notPublic {
		if prefix.Contains(address) {
			return false
		}
	}
	return true
}

// refusePrivate refuses to connect to addresses that are not public. It is called with the
// address that the connection is about to be made to, after the name was looked up, so
// that no answer of a name server gets around it.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	if !isPublic(to.Addr()) {
		return ErrPrivate
	}
	return nil
}

// newClient connects to public addresses alone. It uses no proxy: one would look names up by
// itself, past the check.
func (f *Fetcher) newClient(budget *int64) *http.Client {
	dialer := &net.Dialer{Timeout: dialTime}
	if !f.options.AllowPrivate {
		dialer.Control = refusePrivate
	}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: f.options.TLS, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: handshakeTime, ResponseHeaderTimeout: headerTime, DisableKeepAlives: true,
	}
	return &http.Client{Transport: &countingTransport{next: transport, left: budget}, CheckRedirect: f.checkRedirect}
}

// checkRedirect follows within the allow list.
func (f *Fetcher) checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("redirected too often")
	}
	return f.Check(request.URL)
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
