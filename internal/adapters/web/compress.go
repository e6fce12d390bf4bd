package web

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// compressed sends what is read in a browser compressed. Streams, of which each event counts when
// it comes, and answers to forms are sent as they are.
func compressed(next http.Handler) http.Handler {
	shrinking := gzhttp.GzipHandler(next)
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodGet || strings.HasSuffix(request.URL.Path, "/events") || strings.Contains(request.Header.Get("Accept"), "text/event-stream") {
			next.ServeHTTP(out, request)
			return
		}
		shrinking.ServeHTTP(out, request)
	})
}
