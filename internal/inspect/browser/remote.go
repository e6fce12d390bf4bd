package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// remoteFlags are what a Chromium that was started by somebody else has to be started with, so that
// pages reach nothing beside the proxy; the last one has it tell its flags.
var remoteFlags = []string{"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--enable-automation"}

// Limits of asking a remote Chromium for its address.
const (
	versionLimit = 5 * time.Second
	maxVersion   = 64 << 10
)

// checkRemote tells whether an address may be that of a remote Chromium. It shares the loopback
// interface with this process, since the proxy listens nowhere else.
func checkRemote(address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" || parsed.Port() == "" || strings.Trim(parsed.Path, "/") != "" || parsed.User != nil {
		return fmt.Errorf("%q is no address of a Chromium such as http://127.0.0.1:9222", address)
	}
	if ip, err := netip.ParseAddr(parsed.Hostname()); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("%q is not on this machine: Chromium has to share the loopback interface with Cairn, as in the same pod, such as http://127.0.0.1:9222", address)
	}
	return nil
}

// allocateRemote gives a chromedp allocator of the Chromium at Options.Remote.
func (b *Browser) allocateRemote(ctx context.Context) (context.Context, context.CancelFunc, error) {
	asking, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(asking, http.MethodGet, strings.TrimSuffix(b.options.Remote, "/")+"/json/version", nil)
	if err != nil {
		return nil, nil, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	var version struct {
		Address string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxVersion)).Decode(&version); err != nil {
		return nil, nil, fmt.Errorf("read its version: %w", err)
	}
	told, err := url.Parse(version.Address)
	if err != nil || !strings.HasPrefix(told.Path, "/devtools/browser/") {
		return nil, nil, errors.New("it told no address of its debugging protocol")
	}
	address := url.URL{Scheme: "ws", Host: request.URL.Host, Path: told.Path}
	allocator, end := chromedp.NewRemoteAllocator(context.WithoutCancel(ctx), address.String(), chromedp.NoModifyURL)
	return allocator, end, nil
}

// connect connects a session to a remote Chromium, without the window that chromedp would open in it.
func connect(session context.Context) error {
	c := chromedp.FromContext(session)
	connected, err := c.Allocator.Allocate(session, chromedp.WithBrowserErrorf(discard))
	c.Browser = connected
	return err
}

// checkFlags tells whether Chromium was started with remoteFlags.
func (c *chromium) checkFlags() error {
	flags, err := cdpbrowser.GetBrowserCommandLine().Do(c.executor())
	if err != nil {
		flags = nil // without the flag that has it tell them
	}
	for _, needed := range remoteFlags {
		if !slices.Contains(flags, needed) && !slices.Contains(flags, needed+"=") {
			return fmt.Errorf("the Chromium at inspect.chromium_url was not started with %s", strings.Join(remoteFlags, " "))
		}
	}
	return nil
}
