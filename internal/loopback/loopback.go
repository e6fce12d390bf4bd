// Package loopback tells requests for this machine from those that a foreign site sends by
// a name of its own, which it made to mean this machine (DNS rebinding).
package loopback

import (
	"net"
	"net/http"
	"strings"
)

// Host gives the host of "host:port" or "host", without the brackets of an IPv6 address.
func Host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
}

// IsHost tells whether a Host header, with or without a port, names the loopback interface.
func IsHost(header string) bool {
	host := Host(header)
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// IsAddress tells whether a listener's address is one of the loopback interface.
func IsAddress(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// RefuseOtherHosts answers requests whose Host header does not name the loopback interface
// with status 421.
func RefuseOtherHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if !IsHost(request.Host) {
			http.Error(w, "This address is not served under that name: use localhost.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, request)
	})
}
