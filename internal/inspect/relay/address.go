package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/cairn-bot/cairn/internal/publicnet"
)

// RefusedError says why a relay or a channel may not be used, in words for people.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// allowList is the relays that may be connected to.
type allowList []*url.URL

func parseAllowList(addresses []string) (allowList, error) {
	var list allowList
	for _, address := range addresses {
		parsed, err := url.Parse(strings.TrimSuffix(address, "/"))
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
			return nil, fmt.Errorf("the relay %q is no address such as https://relay.example", address)
		}
		list = append(list, parsed)
	}
	return list, nil
}

// find returns the relay of a host, the first for "".
func (l allowList) find(host string) (*url.URL, error) {
	if len(l) == 0 {
		return nil, &RefusedError{"No relay may be used here: the setting `inspect.relays` lists those that may."}
	}
	if host == "" {
		return l[0], nil
	}
	for _, relay := range l {
		if strings.EqualFold(relay.Host, host) || strings.EqualFold(relay.Hostname(), host) {
			return relay, nil
		}
	}
	var hosts []string
	for _, relay := range l {
		hosts = append(hosts, "`"+relay.Host+"`")
	}
	return nil, &RefusedError{fmt.Sprintf("That relay may not be used here. Those of `inspect.relays` are: %s.", strings.Join(hosts, ", "))}
}

// dial connects to a relay. A name that leads to a private address is refused, unless that very
// address, or localhost, is on the list.
func (l allowList) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(network, to string, raw syscall.RawConn) error {
		err := publicnet.RefusePrivate(network, to, raw)
		if errors.Is(err, publicnet.ErrPrivate) && l.hasAddress(to) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: list it in inspect.relays by its IP address if it is the relay's", err)
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, address)
}

func (l allowList) hasAddress(to string) bool {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(l, func(relay *url.URL) bool {
		if relay.Hostname() == "localhost" {
			return at.Addr().Unmap().IsLoopback()
		}
		listed, err := netip.ParseAddr(relay.Hostname())
		return err == nil && listed.Unmap() == at.Addr().Unmap()
	})
}
