package web

import (
	"net/http"
	"strings"
	"testing"
)

// TestPagesAreCompressedAndStreamsAreNot asks as browsers do, which take compressed content.
func TestPagesAreCompressedAndStreamsAreNot(t *testing.T) {
	v := newVisitor(t, serve(t, sampleBot()))
	v.Say(t, "How do I roll back a release?")
	for path, want := range map[string]string{"": "gzip", "/events": ""} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.page+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "gzip, br")
		response, err := v.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if got := response.Header.Get("Content-Encoding"); got != want || !strings.Contains(response.Header.Get("Content-Type"), "text/") {
			t.Errorf("%q is encoded %q as %s, want %q", path, got, response.Header.Get("Content-Type"), want)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
