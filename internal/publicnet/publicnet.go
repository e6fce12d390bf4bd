// Package publicnet keeps connections inside the public internet, where the address to connect to
// comes from outside: from a message, a document or a redirect.
package publicnet

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ErrPrivate is a name that leads to a machine that is not on the public internet.
var ErrPrivate = errors.New("the address is not public")

// notPublic are networks that no server of the public internet has its address in, beside those
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

// IsPublic reports whether an address is one of the public internet.
func IsPublic(address netip.Addr) bool {
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

// RefusePrivate is a net.Dialer.Control that refuses to connect to addresses that are not
// public, with ErrPrivate. It is called with the
// address that the connection is about to be made to, after the name was looked up, so
// that no answer of a name server gets around it.
func RefusePrivate(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	if !IsPublic(to.Addr()) {
		return ErrPrivate
	}
	return nil
}
