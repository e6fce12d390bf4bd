package listen

import (
	"net"
	"net/http"
	"strings"
)

// HostOf gives the host of "host:port" or "host", without the brackets of an IPv6 address.
func HostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
}

// IsLoopbackHost tells whether a Host header, with or without a port, names the loopback interface.
func IsLoopbackHost(header string) bool {
	host := HostOf(header)
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// IsLoopback tells whether a listener's address is one of the loopback interface.
func IsLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// RefuseOtherHosts answers requests whose Host header does not name the loopback interface
// with status 421.
func RefuseOtherHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if !IsLoopbackHost(request.Host) {
			http.Error(w, "This address is not served under that name: use localhost.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, request)
	})
}
