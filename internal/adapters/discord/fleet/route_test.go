package fleet

import (
	"net/http"
	"strings"
	"testing"
)

func TestRouteOf(t *testing.T) {
	for _, test := range []struct {
		path, route, major string
		exempt             bool
	}{
		{"/api/v10/channels/12/messages/34", "GET /channels/:major/messages/:id", "12", false},
		{"/channels/12/messages/34/reactions/%F0%9F%91%8D/@me", "GET /channels/:major/messages/:id/reactions/:emoji/@me", "12", false},
		{"/api/v10/guilds/12/members/34", "GET /guilds/:major/members/:id", "12", false},
		{"/api/v10/webhooks/12/aToken/messages/@original", "GET /webhooks/:major/:token/messages/@original", "12/aToken", true},
		{"/api/v10/webhooks/12", "GET /webhooks/:major", "12", false},
		{"/api/v10/interactions/12/aToken/callback", "GET /interactions/:token/:token/callback", "12/aToken", true},
		{"/api/v10/applications/12/commands", "GET /applications/:id/commands", "", false},
		{"/api/v10/gateway/bot", "GET /gateway/bot", "", false},
		{"/api/v10/users/@me", "GET /users/@me", "", false},
		{"", "GET /", "", false},
	} {
		got := routeOf("GET", test.path)
		if got.Route != test.route || got.Major != test.major || got.Exempt != test.exempt {
			t.Errorf("%s: %+v", test.path, got)
		}
	}
}

// FuzzSaidBy reads what may come from Discord, or from what stands before it.
func FuzzSaidBy(f *testing.F) {
	f.Add(200, "5", "4", "1470173023.123", "1.5", "")
	f.Add(429, "NaN", "-1", "1e400", "Inf", `{"retry_after": -1}`)
	f.Add(429, "1", "0", "0", "0", `{"retry_after": "soon"}`)
	f.Fuzz(func(t *testing.T, status int, limit, remaining, reset, after, body string) {
		response := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}
		response.Body = &readAgain{raw: []byte(body), rest: http.NoBody}
		for name, value := range map[string]string{
			"X-RateLimit-Bucket": "b", "X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining,
			"X-RateLimit-Reset": reset, "X-RateLimit-Reset-After": after, "Retry-After": after,
		} {
			response.Header.Set(name, value)
		}
		said := parseLimits(response)
		if said.Limit < 0 || said.Remaining < 0 || said.Reset < 0 || said.ResetAfter < 0 || said.RetryAfter < 0 {
			t.Errorf("got %+v", said)
		}
		if (said.Bucket == "") != (said.Limit == 0) {
			t.Errorf("a bucket without a limit, or the other way round: %+v", said)
		}
		if status == 429 && said.RetryAfter == 0 {
			t.Error("a 429 that may be repeated at once")
		}
	})
}

// FuzzRouteOf checks that no id of digits and no token gets into a route.
func FuzzRouteOf(f *testing.F) {
	f.Add("/api/v10/webhooks/12/aToken/messages/@original")
	f.Add("//channels//1")
	f.Fuzz(func(t *testing.T, path string) {
		got := routeOf("GET", path)
		for part := range strings.SplitSeq(got.Route, "/") {
			if isDigits(part) {
				t.Errorf("%q gives the route %q", path, got.Route)
			}
		}
	})
}
